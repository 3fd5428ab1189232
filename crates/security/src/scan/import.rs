//! From reports to vulnerabilities.

use std::collections::BTreeSet;

use db::Tx;
use kernel::{
    Result,
    ids::{PipelineId, ProjectId, VulnerabilityId},
};

use super::{NewScan, ScanStatus, ScanStore as _};
use crate::{
    Event,
    vulnerability::{Finding, KnownFindingStore as _, ReportType, VulnerabilityStore as _},
};

/// Stores findings of a report of the default branch's pipeline. Idempotent. Keeps nothing and returns false where a newer
/// pipeline's report has been imported meanwhile: what that one no longer reports would come back.
pub fn keep_findings(
    tx: &mut Tx<'_>,
    (project, pipeline): (ProjectId, PipelineId),
    report_type: ReportType,
    some: &[Finding],
) -> Result<bool> {
    if tx.has_newer_scan(project, report_type, pipeline)? {
        return Ok(false);
    }
    let uuids: Vec<String> = some.iter().map(|finding| finding.uuid.clone()).collect();
    let known = tx.known_findings(project, &uuids)?;
    some.iter().try_for_each(|finding| tx.save_finding(project, pipeline, finding))?;
    let new: Vec<String> = uuids.into_iter().filter(|uuid| !known.contains_key(uuid)).collect();
    mention_new(tx, project, &new)?;
    Ok(true)
}

fn mention_new(tx: &mut Tx<'_>, project: ProjectId, uuids: &[String]) -> Result<()> {
    if uuids.is_empty() {
        return Ok(());
    }
    let made = tx.known_findings(project, uuids)?;
    let mut vulnerabilities: Vec<VulnerabilityId> = made.values().map(|one| one.id).collect();
    vulnerabilities.sort_unstable();
    tx.mention(Event::VulnerabilitiesDetected { project, vulnerabilities });
    Ok(())
}

/// Finishes the import of a pipeline: marks what its scanners no longer report as resolved on the default branch. Report
/// types with a failed report are left out.
pub fn finish(
    tx: &mut Tx<'_>,
    project: ProjectId,
    pipeline: PipelineId,
    scans: &[NewScan],
) -> Result<()> {
    for scan in scans {
        tx.save_scan(project, pipeline, scan)?;
    }
    let failed: BTreeSet<ReportType> = scans
        .iter()
        .filter(|scan| scan.status() == ScanStatus::Failed)
        .map(|scan| scan.report_type)
        .collect();
    let told: BTreeSet<(ReportType, &str)> = scans
        .iter()
        .filter(|scan| scan.on_default_branch && !failed.contains(&scan.report_type))
        .flat_map(|scan| scan.scanners.iter().map(|scanner| (scan.report_type, scanner.as_str())))
        .collect();
    for (report_type, scanner) in told {
        tx.resolve_unreported(project, pipeline, report_type, scanner)?;
    }
    Ok(())
}
