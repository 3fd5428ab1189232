//! How far checks of a commit are that run elsewhere.

use ci::{
    commit_status::{Report, Reported, actions},
    job::{StatusFilter, StatusOrder},
    pipeline::{PipelineStore as _, Place},
    policy::{ReadCommitStatuses, ReportCommitStatus},
};
use forge::{
    merge_request::merge::merge_waiting_for,
    pipeline::lookup::{branch_with, named},
    ports::ci::{Projects, Refs},
};
use kernel::{
    Result,
    ids::{PipelineId, ProjectId},
};
use repo::{commit::read::commit_named, git::Oid};

use crate::{
    app::App,
    entities::ci::commit_status::CommitStatusEntity,
    error::ApiResult,
    extract::{Call, Sort},
    param_enums, params,
    present::{Created, Listed},
    routes,
};

routes! { "Commit statuses" at "/projects/{id}";
    GET  "/repository/commits/{sha}/statuses" => list   : ReadCommitStatuses,
    POST "/statuses/{sha}"                    => report : ReportCommitStatus,
}

param_enums! { Reported, StatusOrder }

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
) -> ApiResult<Listed<CommitStatusEntity>> {
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
    Ok(Listed(listed.await?))
}

params! {
    pub struct ReportStatus {
        /// The commit, or a branch or tag.
        sha: String,
        state: Reported,
        /// A branch or tag.
        r#ref: Option<String>,
        /// What is checked; `context` is another word for it.
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
    let (grant, params, urls) = (call.grant, call.params, app.urls.clone());
    let (sha, place) = (params.sha, filled(params.r#ref));
    let read = app.git_read(grant.project(), move |reader| named(reader, &sha, place.as_deref()));
    let (commit, place) = read.await?;
    let fallback = match &place {
        Some(_) => None,
        None => fallback(&app, grant.project(), commit, params.pipeline_id).await?,
    };
    let report = Report {
        sha: commit.to_string(),
        place,
        fallback,
        state: params.state,
        name: params.name.or(params.context).unwrap_or_else(|| "default".to_owned()),
        target_url: filled(params.target_url),
        description: filled(params.description),
        coverage: params.coverage,
        pipeline: params.pipeline_id,
    };
    let (project, sha) = (grant.project(), commit.to_string());
    let success = report.state == Reported::Success;
    let kept = app.db.write(move |tx| {
        let job = actions::report(tx, &grant, &Refs, report)?;
        CommitStatusEntity::one(tx, &urls, job)
    });
    let kept = kept.await?;
    if success {
        merge_waiting_for(&app, project, sha).await?;
    }
    Ok(Created(kept))
}

/// A branch with the commit, which is looked for only where no pipeline is sure to say one.
async fn fallback(
    app: &App,
    project: ProjectId,
    commit: Oid,
    pinned: Option<PipelineId>,
) -> Result<Option<Place>> {
    let sha = commit.to_string();
    if pinned.is_none() && app.db.peek(move |tx| tx.newest_pipeline(project, &sha)).await?.is_some()
    {
        return Ok(None);
    }
    app.git_read(project, move |reader| branch_with(reader, commit)).await
}
