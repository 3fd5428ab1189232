//! Security findings of one pipeline, from its reports, also on branches without vulnerabilities.

use std::collections::{HashMap, HashSet};

use ci::{
    artifact::Artifact,
    pipeline::{Pipeline, PipelineStore as _},
};
use db::Tx;
use kernel::{
    Grant, Result,
    ids::{PipelineId, ProjectId},
};
use security::{
    policy::ReadVulnerabilities,
    scan::ScanStore as _,
    vulnerability::{
        Confidence, Finding, KnownFinding, KnownFindingStore as _, ReportType, Severity, State,
    },
};

use super::imports::{read, report_type, reports};
use crate::Forge;

/// Which findings are wanted; an empty list of values leaves all.
#[derive(Clone, Debug, Default)]
pub struct FindingFilter {
    pub report_types: Vec<ReportType>,
    pub severities: Vec<Severity>,
    pub confidences: Vec<Confidence>,
    /// Whether findings are listed that people dismissed.
    pub with_dismissed: bool,
}

impl FindingFilter {
    fn wants_type(&self, kind: ReportType) -> bool {
        self.report_types.is_empty() || self.report_types.contains(&kind)
    }

    fn wants(&self, finding: &Finding) -> bool {
        let is_severe = self.severities.is_empty() || self.severities.contains(&finding.severity);
        is_severe && (self.confidences.is_empty() || self.confidences.contains(&finding.confidence))
    }
}

/// A finding, and what is known of its vulnerability, where there is one.
#[derive(Clone, Debug)]
pub struct PipelineFinding {
    pub finding: Finding,
    pub known: Option<KnownFinding>,
}

/// Findings of a pipeline, most severe first.
#[derive(Clone, Debug, Default)]
pub struct PipelineFindings {
    /// `None` where there is no such pipeline, or none that brought reports.
    pub pipeline: Option<Pipeline>,
    pub all: Vec<PipelineFinding>,
}

/// What was found in a pipeline of a project, or in the newest of its default branch that brought reports. Reports that
/// cannot be used, or are gone, tell nothing.
pub async fn of_pipeline(
    forge: &Forge,
    grant: &Grant<ReadVulnerabilities>,
    pipeline: Option<PipelineId>,
    filter: &FindingFilter,
) -> Result<PipelineFindings> {
    let project = grant.project();
    let found = forge.db.read(move |tx| with_reports(tx, project, pipeline)).await?;
    let Some((pipeline, artifacts)) = found else { return Ok(PipelineFindings::default()) };
    let mut findings = told(forge, project, &artifacts, filter).await?;
    findings.sort_by_key(|one| std::cmp::Reverse(one.severity));
    let uuids: Vec<String> = findings.iter().map(|one| one.uuid.clone()).collect();
    let known = forge.db.read(move |tx| tx.known_findings(project, &uuids)).await?;
    let all = with_known(findings, &known, filter);
    Ok(PipelineFindings { pipeline: Some(pipeline), all })
}

/// The pipeline, and the reports of it that are still there.
fn with_reports(
    tx: &mut Tx<'_>,
    project: ProjectId,
    pipeline: Option<PipelineId>,
) -> Result<Option<(Pipeline, Vec<Artifact>)>> {
    let id = match pipeline {
        Some(id) => Some(id),
        None => tx.newest_scans(project)?.first().map(|scan| scan.pipeline_id),
    };
    let Some(id) = id else { return Ok(None) };
    let Some(pipeline) = tx.find_pipeline(project, id)? else { return Ok(None) };
    let mut artifacts = reports(tx, project, id)?;
    let now = tx.now;
    artifacts.retain(|artifact| artifact.is_there(now));
    Ok(Some((pipeline, artifacts)))
}

/// What the reports tell, each finding once.
async fn told(
    forge: &Forge,
    project: ProjectId,
    artifacts: &[Artifact],
    filter: &FindingFilter,
) -> Result<Vec<Finding>> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for artifact in artifacts {
        let kind = report_type(artifact.file_type).filter(|kind| filter.wants_type(*kind));
        let Some(kind) = kind else { continue };
        let Ok(report) = read(forge, project, kind, artifact).await? else { continue };
        let new = report
            .findings
            .into_iter()
            .filter(|finding| filter.wants(finding) && seen.insert(finding.uuid.clone()));
        all.extend(new);
    }
    Ok(all)
}

fn with_known(
    findings: Vec<Finding>,
    known: &HashMap<String, KnownFinding>,
    filter: &FindingFilter,
) -> Vec<PipelineFinding> {
    let is_dismissed =
        |known: &KnownFinding| !filter.with_dismissed && known.state == State::Dismissed;
    findings
        .into_iter()
        .map(|finding| PipelineFinding { known: known.get(&finding.uuid).copied(), finding })
        .filter(|one| !one.known.as_ref().is_some_and(is_dismissed))
        .collect()
}
