//! Reports of security scanners among the artifacts of pipelines: read once the pipeline of a default branch has ended.

use ci::{
    Status,
    artifact::{Artifact, ArtifactKind, ArtifactStore as _},
};
use db::Tx;
use kernel::{Error, Result, ids::PipelineId, ids::ProjectId, task::spawn_blocking};
use org::project::store::ProjectStore as _;
use security::{
    report::{self, REPORT_SIZE_LIMIT, Report, ReportFault},
    scan::{ImportReports, NewScan, ScanStore as _, finish, keep_findings},
    vulnerability::{Finding, ReportType},
};
use tokio::sync::Semaphore;
use worker::Queue as _;

use crate::Forge;

/// So many reports are read at once.
static READING: Semaphore = Semaphore::const_new(1);
/// Findings that are kept in one transaction.
const AT_ONCE: usize = 200;

/// Kinds of artifacts with the reports that they are.
const REPORTS: [(ArtifactKind, ReportType); 8] = [
    (ArtifactKind::Sast, ReportType::Sast),
    (ArtifactKind::SecretDetection, ReportType::SecretDetection),
    (ArtifactKind::DependencyScanning, ReportType::DependencyScanning),
    (ArtifactKind::ContainerScanning, ReportType::ContainerScanning),
    (ArtifactKind::ClusterImageScanning, ReportType::ClusterImageScanning),
    (ArtifactKind::Dast, ReportType::Dast),
    (ArtifactKind::CoverageFuzzing, ReportType::CoverageFuzzing),
    (ArtifactKind::ApiFuzzing, ReportType::ApiFuzzing),
];

pub(super) fn report_type(kind: ArtifactKind) -> Option<ReportType> {
    REPORTS.iter().find(|(own, _)| *own == kind).map(|(_, report)| *report)
}

/// Asks for the import of a pipeline's reports, where it has ended, or waits for a person.
pub(crate) fn enqueue_for_pipeline(tx: &mut Tx<'_>, fact: &ci::Event) -> Result<()> {
    let ci::Event::PipelineChanged { project, pipeline, ref_name, tag, status, .. } = fact else {
        return Ok(());
    };
    let is_over = status.is_complete() || *status == Status::Manual;
    if !is_over || reports(tx, *project, *pipeline)?.is_empty() {
        return Ok(());
    }
    let branch = tx.find_project(*project)?.and_then(|project| project.default_branch);
    let on_default_branch = !tag && branch.as_deref() == Some(ref_name);
    tx.enqueue(&ImportReports { project: *project, pipeline: *pipeline, on_default_branch })
}

/// The reports that the newest jobs of a pipeline brought.
pub(super) fn reports(
    tx: &mut Tx<'_>,
    project: ProjectId,
    pipeline: PipelineId,
) -> Result<Vec<Artifact>> {
    tx.artifacts_of_kinds(project, pipeline, &REPORTS.map(|(kind, _)| kind))
}

/// Reads the reports of a pipeline, but on the default branch for kinds of which a newer pipeline has told already.
pub(crate) async fn import(forge: Forge, job: ImportReports) -> Result<()> {
    let ImportReports { project, pipeline, on_default_branch } = job;
    let found = forge.db.read(move |tx| {
        let mut found = Vec::new();
        for artifact in reports(tx, project, pipeline)? {
            let Some(kind) = report_type(artifact.file_type) else { continue };
            let is_old = on_default_branch && tx.has_newer_scan(project, kind, pipeline)?;
            if artifact.is_there(tx.now) && !is_old {
                found.push((kind, artifact));
            }
        }
        Ok(found)
    });
    let mut scans = Vec::new();
    for (kind, artifact) in found.await? {
        scans.push(import_one(&forge, job, kind, &artifact).await?);
    }
    forge.db.write(move |tx| finish(tx, project, pipeline, &scans)).await
}

/// Nothing is kept before the whole report was read, and of what other branches tell nothing but how much it is.
async fn import_one(
    forge: &Forge,
    job: ImportReports,
    kind: ReportType,
    artifact: &Artifact,
) -> Result<NewScan> {
    let project = job.project;
    let scan = NewScan {
        job: artifact.job_id,
        on_default_branch: job.on_default_branch,
        report_type: kind,
        scanners: Vec::new(),
        findings: 0,
        errors: Vec::new(),
        warnings: Vec::new(),
    };
    let Report { scanners, findings, warnings } = match read(forge, project, kind, artifact).await?
    {
        Ok(report) => report,
        Err(ReportFault(errors)) => return Ok(NewScan { errors, ..scan }),
    };
    let (pipeline, count) = (artifact.pipeline_id, findings.len());
    let kept = if job.on_default_branch { findings } else { Vec::new() };
    for some in kept.chunks(AT_ONCE) {
        let some: Vec<Finding> = some.to_vec();
        let keep = forge.db.write(move |tx| keep_findings(tx, (project, pipeline), kind, &some));
        if !keep.await? {
            break;
        }
    }
    Ok(NewScan { scanners, findings: count, warnings, ..scan })
}

/// What a report tells, or why it cannot be used.
pub(super) async fn read(
    forge: &Forge,
    project: ProjectId,
    kind: ReportType,
    artifact: &Artifact,
) -> Result<Result<Report, ReportFault>> {
    let size = u64::try_from(artifact.size).unwrap_or(u64::MAX);
    if size > REPORT_SIZE_LIMIT {
        return Ok(Err(ReportFault::one("Report is too large")));
    }
    let _place = READING.acquire().await.map_err(Error::internal)?;
    let source = forge.artifacts.reader(&artifact.location, size);
    spawn_blocking(move || report::read(kind, project, source)).await.map_err(Error::internal)
}
