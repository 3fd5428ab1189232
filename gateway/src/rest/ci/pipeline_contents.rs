//! Jobs, bridges, variables and test reports of a pipeline.

use ci::{
    job::{JobFilter, JobKind, actions},
    pipeline::control,
    policy::ReadPipelines,
};
use db::Tx;
use entities::ci::{
    job::{BridgeEntity, JobEntity},
    job_records::present_list,
    pipeline::PipelineVariableEntity,
    test_report::{TestReportEntity, TestSummaryEntity},
};
use forge::{
    ports::ci::{Projects, Refs},
    runner::reports,
};
use kernel::ids::PipelineId;

use super::{job_params::Statuses, pipelines::OnePipeline};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Json, PagedList},
    routes,
};

routes! { "Contents of pipelines" at "/projects/{id}/pipelines/{pipeline_id}";
    GET "/jobs"                => jobs      : ReadPipelines,
    GET "/bridges"             => bridges   : ReadPipelines,
    GET "/variables"           => variables : ReadPipelines,
    GET "/test_report"         => report    : ReadPipelines,
    GET "/test_report_summary" => summary   : ReadPipelines,
}

params! {
    pub struct ListPipelineJobs: paged {
        pipeline_id: PipelineId,
        /// Statuses of which any must match.
        scope: Option<Statuses>,
        /// Whether to include retried jobs.
        include_retried: bool = false,
    }
}

async fn jobs(
    app: App,
    call: Call<ReadPipelines, ListPipelineJobs>,
) -> ApiResult<PagedList<JobEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let filter = JobFilter {
        kind: JobKind::Build,
        statuses: params.scope.map(|scope| scope.0).unwrap_or_default(),
        retried: params.include_retried,
        before: None,
        after: None,
        oldest_first: false,
    };
    let (facts, actor, id) = (grant.facts().clone(), grant.actor(), params.pipeline_id);
    let list =
        move |tx: &mut Tx<'_>| actions::list_of_pipeline(tx, &grant, &Projects, id, &filter, page);
    Ok(PagedList(present_list(&app, &facts, actor, JobEntity::new, list).await?))
}

params! {
    pub struct ListBridges: paged {
        pipeline_id: PipelineId,
        /// Statuses of which any must match.
        scope: Option<Statuses>,
    }
}

async fn bridges(
    app: App,
    call: Call<ReadPipelines, ListBridges>,
) -> ApiResult<PagedList<BridgeEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let filter = JobFilter {
        kind: JobKind::Bridge,
        statuses: params.scope.map(|scope| scope.0).unwrap_or_default(),
        retried: false,
        before: None,
        after: None,
        oldest_first: false,
    };
    let (facts, actor, id) = (grant.facts().clone(), grant.actor(), params.pipeline_id);
    let list =
        move |tx: &mut Tx<'_>| actions::list_of_pipeline(tx, &grant, &Projects, id, &filter, page);
    Ok(PagedList(present_list(&app, &facts, actor, BridgeEntity::new, list).await?))
}

params! {
    pub struct ListPipelineVariables: paged {
        pipeline_id: PipelineId,
    }
}

async fn variables(
    app: App,
    call: Call<ReadPipelines, ListPipelineVariables>,
) -> ApiResult<PagedList<PipelineVariableEntity>> {
    let (grant, page, id) = (call.grant, call.page, call.params.pipeline_id);
    let vault = app.vault.clone();
    let found =
        app.db.read(move |tx| control::variables(tx, &grant, (&Projects, &Refs), &vault, id));
    Ok(PagedList(page.slice(found.await?).map(PipelineVariableEntity::from)))
}

async fn report(
    app: App,
    call: Call<ReadPipelines, OnePipeline>,
) -> ApiResult<Json<TestReportEntity>> {
    Ok(Json(reports::test_report(&app, call.grant, call.params.pipeline_id).await?.into()))
}

async fn summary(
    app: App,
    call: Call<ReadPipelines, OnePipeline>,
) -> ApiResult<Json<TestSummaryEntity>> {
    let (grant, id) = (call.grant, call.params.pipeline_id);
    let suites = app.db.read(move |tx| reports::test_suites(tx, &grant, id)).await?;
    Ok(Json(suites.into()))
}
