//! Commit statuses that external checks report.

use ci::{
    commit_status::{ExternalState, actions},
    job::{StatusFilter, StatusOrder},
    policy::{ReadCommitStatuses, ReportCommitStatus},
};
use entities::ci::commit_status::CommitStatusEntity;
use forge::{
    commit::status::{self, NewStatus},
    ports::ci::Projects,
};
use kernel::ids::PipelineId;
use repo::commit::read::commit_named;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Sort},
    param_enums, params,
    present::{Created, PagedList},
    routes,
};

routes! { "Commit statuses" at "/projects/{id}";
    GET  "/repository/commits/{sha}/statuses" => list   : ReadCommitStatuses,
    POST "/statuses/{sha}"                    => report : ReportCommitStatus,
}

param_enums! { ExternalState, StatusOrder }

params! {
    pub struct ListStatuses: paged {
        sha: String,
        r#ref: Option<String>,
        stage: Option<String>,
        name: Option<String>,
        /// Whether to include statuses replaced by newer ones of the same name.
        all: bool = false,
        pipeline_id: Option<PipelineId>,
        order_by: StatusOrder = StatusOrder::Id,
        sort: Sort = Sort::Asc,
    }
}

/// A blank is as good as nothing.
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

async fn list(
    app: App,
    call: Call<ReadCommitStatuses, ListStatuses>,
) -> ApiResult<PagedList<CommitStatusEntity>> {
    let (grant, page, params, urls) = (call.grant, call.page, call.params, app.urls.clone());
    let sha = params.sha;
    let commit = app.git_read(grant.project(), move |reader| commit_named(reader, &sha)).await?;
    let filter = StatusFilter {
        sha: commit.to_string(),
        ref_name: filled(params.r#ref),
        stage: filled(params.stage),
        name: filled(params.name),
        pipeline: params.pipeline_id,
        retried: params.all,
        order: params.order_by,
        descending: params.sort == Sort::Desc,
    };
    let listed = app.db.read(move |tx| {
        let jobs = actions::list(tx, &grant, &Projects, &filter, page)?;
        jobs.try_map_all(|jobs| CommitStatusEntity::all(tx, &urls, jobs))
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct ReportStatus {
        /// Commit SHA, branch or tag.
        sha: String,
        state: ExternalState,
        /// A branch or tag.
        r#ref: Option<String>,
        /// Name of the status; same as `context`.
        name: Option<String>,
        context: Option<String>,
        target_url: Option<String>,
        description: Option<String>,
        coverage: Option<f64>,
        pipeline_id: Option<PipelineId>,
    }
}

async fn report(
    app: App,
    call: Call<ReportCommitStatus, ReportStatus>,
) -> ApiResult<Created<CommitStatusEntity>> {
    let (params, urls) = (call.params, app.urls.clone());
    let status = NewStatus {
        commit: params.sha,
        ref_name: filled(params.r#ref),
        state: params.state,
        name: params.name.or(params.context).unwrap_or_else(|| "default".to_owned()),
        target_url: filled(params.target_url),
        description: filled(params.description),
        coverage: params.coverage,
        pipeline: params.pipeline_id,
    };
    let job = status::report(&app, &call.grant, status).await?;
    Ok(Created(app.db.read(move |tx| CommitStatusEntity::one(tx, &urls, job)).await?))
}
