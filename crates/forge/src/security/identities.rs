//! Identities of findings in the copy of a project. Where a scanner keeps track of a finding by more than its place, its
//! report alone tells the identity.

use std::cmp::Reverse;

use ci::artifact::Artifact;
use db::Tx;
use kernel::{Result, ids::ProjectId};
use security::{
    report::{REPORT_SIZE_LIMIT, provisional_uuid},
    vulnerability::{KnownFindingStore as _, ReportType},
};

use super::imports::{read, report_type, reports};
use crate::Forge;

/// Pipelines whose reports are read, the newest of those that were the last to report something.
const PIPELINES: i64 = 20;
/// Some hundred reports are read in some seconds.
const LIMITS: ReportLimits = ReportLimits { reports: 300, bytes: 256 << 20 };

/// The reports that are read of a copy.
#[derive(Clone, Copy)]
struct ReportLimits {
    reports: usize,
    /// Of all of them.
    bytes: u64,
}

/// The reports of a copy that tell the identities of its findings, the newest first.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn telling_reports(tx: &mut Tx<'_>, copy: ProjectId) -> Result<Vec<Artifact>> {
    let mut all = Vec::new();
    for pipeline in tx.reporting_pipelines(copy, PIPELINES)? {
        all.extend(reports(tx, copy, pipeline)?);
    }
    let now = tx.now;
    all.retain(|report| report.is_there(now));
    Ok(newest(all, LIMITS))
}

fn newest(mut all: Vec<Artifact>, limits: ReportLimits) -> Vec<Artifact> {
    // Others are not read at all.
    all.retain(|report| size(report) <= REPORT_SIZE_LIMIT);
    all.sort_unstable_by_key(|report| Reverse(report.id));
    let mut bytes = 0_u64;
    let fits = |report: &Artifact| {
        bytes = bytes.saturating_add(size(report));
        bytes <= limits.bytes
    };
    all.into_iter().take(limits.reports).take_while(fits).collect()
}

fn size(report: &Artifact) -> u64 {
    u64::try_from(report.size).unwrap_or(u64::MAX)
}

/// The names that findings of a report have in a copy while nothing tells their identities, each with the one that
/// reports of the copy give it.
///
/// # Errors
/// When the report cannot be fetched.
pub(crate) async fn report_identities(
    forge: &Forge,
    source: ProjectId,
    copy: ProjectId,
    report: &Artifact,
) -> Result<Vec<(String, String)>> {
    let Some(kind) = report_type(report.file_type) else { return Ok(Vec::new()) };
    let in_source = uuids(forge, source, kind, report).await?;
    let in_copy = uuids(forge, copy, kind, report).await?;
    let pairs = in_source.into_iter().zip(in_copy);
    Ok(pairs.map(|(old, new)| (provisional_uuid(&old, copy), new)).collect())
}

/// The UUIDs that a report gives its findings in a project; none where it cannot be used.
async fn uuids(
    forge: &Forge,
    project: ProjectId,
    kind: ReportType,
    report: &Artifact,
) -> Result<Vec<String>> {
    let read = read(forge, project, kind, report).await?;
    let findings = read.map(|report| report.findings).unwrap_or_default();
    Ok(findings.into_iter().map(|found| found.uuid).collect())
}

#[cfg(test)]
mod tests {
    use ci::artifact::{Artifact, ArtifactFormat, ArtifactKind};
    use kernel::{
        Ts,
        ids::{JobId, PipelineId, ProjectId},
    };

    use super::{ReportLimits, newest};

    fn report(id: i64, size: i64) -> Artifact {
        Artifact {
            id,
            job_id: JobId(id),
            project_id: ProjectId(1),
            pipeline_id: PipelineId(1),
            file_type: ArtifactKind::Sast,
            file_format: ArtifactFormat::Raw,
            filename: "report.json".to_owned(),
            size,
            sha256: String::new(),
            location: String::new(),
            expires_at: None,
            locked: false,
            created_at: Ts(0),
        }
    }

    #[test]
    fn of_very_many_reports_the_newest_are_read() {
        let all = [(1, 5), (4, 5), (2, 5), (3, 65 << 20)].map(|(id, size)| report(id, size));
        for (reports, bytes, told) in
            [(9, 99, &[4, 2, 1][..]), (2, 99, &[4, 2][..]), (9, 10, &[4, 2][..]), (9, 4, &[][..])]
        {
            let found = newest(all.to_vec(), ReportLimits { reports, bytes });
            let found: Vec<i64> = found.iter().map(|report| report.id).collect();
            assert_eq!(found, told, "{reports} {bytes}");
        }
    }
}
