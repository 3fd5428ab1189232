//! From reports to vulnerabilities.

use std::collections::BTreeSet;

use db::Tx;
use kernel::{
    Result,
    ids::{PipelineId, ProjectId},
};

use super::{NewScan, ScanStatus, ScanStore as _};
use crate::vulnerability::{Finding, ReportType, VulnerabilityStore as _};

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
    some.iter().try_for_each(|finding| tx.save_finding(project, pipeline, finding))?;
    Ok(true)
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
