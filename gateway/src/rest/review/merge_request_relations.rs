//! Issues that merge requests close, and pipelines of their commits.

use ci::{pipeline::PipelineListStore, policy::ReadPipelines};
use db::Tx;
use entities::{
    ci::pipeline::{FullPipelineEntity, PipelineEntity},
    review::issue::{IssueEntity, IssueView},
};
use forge::{
    merge_request::{contents::commit_ids_or_head, heads::grant_in_project},
    pipeline,
};
use kernel::{Actor, Result, page::Page};
use org::access::{IdOrPath, locate_project};
use review::{
    issue::Issue,
    item::is_readable_by,
    merge_request::{MergeRequest, actions, merge::ClosesStore},
    policy::{ReadMergeRequests, TakePartInMergeRequests},
};

use super::merge_request_params::OneMergeRequest;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::{Json, PagedList},
    routes,
};

routes! { "Relations of merge requests" at "/projects/{id}/merge_requests/{merge_request_iid}";
    GET  "/closes_issues"  => closes    : ReadMergeRequests,
    GET  "/related_issues" => related   : ReadMergeRequests,
    GET  "/pipelines"      => list_pipelines : ReadMergeRequests,
    POST "/pipelines"      => run       : TakePartInMergeRequests,
}

async fn closes(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, OnlyPage)>,
) -> ApiResult<PagedList<IssueEntity>> {
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let row = actions::find(tx, &grant, one.merge_request_iid)?;
        let issues = tx.closed_issues(row.id)?;
        let issues = page.slice(readable(tx, grant.actor(), issues)?);
        let view = IssueView::in_project(grant.actor(), &grant.facts().full_path);
        issues.try_map_all(|rows| IssueEntity::all(tx, &urls, rows, &view))
    });
    Ok(PagedList(found.await?))
}

async fn related(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, OnlyPage)>,
) -> ApiResult<PagedList<IssueEntity>> {
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let row = actions::find(tx, &grant, one.merge_request_iid)?;
        let issues = tx.related_issues(row.id)?;
        let issues = page.slice(readable(tx, grant.actor(), issues)?);
        let view = IssueView::in_project(grant.actor(), &grant.facts().full_path);
        issues.try_map_all(|rows| IssueEntity::all(tx, &urls, rows, &view))
    });
    Ok(PagedList(found.await?))
}

/// Those that somebody may read, wherever they are.
fn readable(tx: &mut Tx<'_>, actor: Actor, issues: Vec<Issue>) -> Result<Vec<Issue>> {
    let mut shown = Vec::new();
    for issue in issues {
        let Ok((_, who)) = locate_project(tx, actor, &IdOrPath::Id(issue.project_id.0)) else {
            continue;
        };
        if is_readable_by(tx, &who, &issue.item())? {
            shown.push(issue);
        }
    }
    Ok(shown)
}

async fn list_pipelines(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, OnlyPage)>,
) -> ApiResult<PagedList<PipelineEntity>> {
    let (grant, page, urls) = (call.grant, call.page, app.urls.clone());
    let iid = call.params.0.merge_request_iid;
    let (reader, known) = (grant.actor(), grant.clone());
    let row: MergeRequest = app.db.peek(move |tx| actions::find(tx, &known, iid)).await?;
    let shas = commit_ids_or_head(&app, &row).await?;
    let found = app.db.read(move |tx| {
        let nothing: Page<PipelineEntity> = page.slice(Vec::new());
        let Some(source) = row.source_project_id else { return Ok(nothing) };
        // Who may not read them there is shown none.
        let shown = pipeline::with_shown_pipelines(tx, reader, &[source])?;
        let Some(there) = shown.get(&source) else { return Ok(nothing) };
        let url = urls.at(&there.0.full_path);
        let found = tx.pipelines_of_commits(source, &row.source_branch, &shas, row.id, page)?;
        Ok(found.map(|pipeline| PipelineEntity::new(&pipeline, &url)))
    });
    Ok(PagedList(found.await?))
}

/// Runs what is to run for its newest commits, in the project from which they come.
async fn run(
    app: App,
    call: Call<TakePartInMergeRequests, OneMergeRequest>,
) -> ApiResult<Json<FullPipelineEntity>> {
    let (grant, iid) = (call.grant, call.params.merge_request_iid);
    let (user, who) = (grant.user()?, *grant.who());
    let row =
        app.db.peek(move |tx| actions::find(tx, &grant.also::<ReadMergeRequests>()?, iid)).await?;
    let made = pipeline::run_for(&app, row, user).await?;
    pipeline::run_now(&app, made.id).await;
    let urls = app.urls.clone();
    let shown = app.db.read(move |tx| {
        let there = grant_in_project::<ReadPipelines>(tx, &who, made.project_id)?;
        FullPipelineEntity::load(tx, &urls, there.facts(), &made)
    });
    Ok(Json(shown.await?))
}
