//! Security report summaries of single pipelines.

use std::sync::Arc;

use graphql::{Failure, Registry, Value};
use kernel::ids::PipelineId;
use security::{policy::ReadVulnerabilities, scan::Scan, vulnerability::ReportType};

use super::loaders::SecurityLoaders;
use crate::{
    context::Context,
    pipelines::{PipelineRecord, analytics::FigureLoaders, loaders::CiLoaders},
    review::merge_request::MergeRequestRecord,
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.object::<PipelineRecord>("Pipeline").lookup(
        "securityReportSummary",
        |record: Arc<PipelineRecord>, _, context| async move {
            if !record.home.may::<ReadVulnerabilities>() {
                return Ok(Value::Null);
            }
            Ok(summary(&scans(&context, record.row.id).await?))
        },
    );
    registry
        .object::<MergeRequestRecord>("MergeRequest")
        .lookup("hasSecurityReports", |record: Arc<MergeRequestRecord>, _, context| async move {
            let source = record.row.source_project_id.zip(record.row.head_sha.clone());
            let Some(head) = source else { return Ok(false.into()) };
            let found = CiLoaders::of(&context).newest.load(head).await?;
            let Some(pipeline) = found else { return Ok(false.into()) };
            Ok((!scans(&context, pipeline.id).await?.is_empty()).into())
        })
        .lookup(
            "securityReportsUpToDateOnTargetBranch",
            |record: Arc<MergeRequestRecord>, _, context| async move {
                Ok(is_target_reported(&record, &context).await?.into())
            },
        );
}

/// Whether the newest pipeline of the branch that a merge request goes into brought reports of scanners.
async fn is_target_reported(
    record: &MergeRequestRecord,
    context: &Context,
) -> Result<bool, Failure> {
    let project = record.row.project_id;
    if CiLoaders::of(context).shown_homes.load(project).await?.is_none() {
        return Ok(false);
    }
    let target = (project, record.row.target_branch.clone());
    match FigureLoaders::of(context).newest_of_branch.load(target).await? {
        Some(pipeline) => Ok(!scans(context, pipeline.id).await?.is_empty()),
        None => Ok(false),
    }
}

async fn scans(context: &Context, pipeline: PipelineId) -> Result<Arc<Vec<Scan>>, Failure> {
    Ok(SecurityLoaders::of(context).scans.load(pipeline).await?.unwrap_or_default())
}

/// The findings by the kind of scanner; nothing for kinds that reported nothing.
fn summary(scans: &[Scan]) -> Value {
    let section = |kind: ReportType| -> Value {
        let of_kind = || scans.iter().filter(|scan| scan.report_type == kind);
        let found: i64 = of_kind().map(|scan| scan.findings).sum();
        let section = [("vulnerabilitiesCount", found.into())];
        of_kind().next().map(|_| Value::fields("SecurityReportSummarySection", section)).into()
    };
    Value::fields(
        "SecurityReportSummary",
        [
            ("apiFuzzing", section(ReportType::ApiFuzzing)),
            ("clusterImageScanning", section(ReportType::ClusterImageScanning)),
            ("containerScanning", section(ReportType::ContainerScanning)),
            ("coverageFuzzing", section(ReportType::CoverageFuzzing)),
            ("dast", section(ReportType::Dast)),
            ("dependencyScanning", section(ReportType::DependencyScanning)),
            ("sast", section(ReportType::Sast)),
            ("secretDetection", section(ReportType::SecretDetection)),
        ],
    )
}
