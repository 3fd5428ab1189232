//! Where commits and merge requests meet: commits that are shown beside those of a merge request, and the merge
//! requests that brought a commit.

use entities::{
    repo::commit::CommitEntity,
    review::merge_request::{MergeRequestEntity, MergeRequestView},
};
use forge::merge_request::contents;
use repo::policy::ReadCode;
use review::{
    merge_request::{MergeRequestCommitStore, actions, context},
    policy::{ListMergeRequests, ReadMergeRequests, TakePartInMergeRequests},
};

use super::merge_request_params::OneMergeRequest;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv, params::OnlyPage},
    params,
    present::{Created, NoContent, PagedList},
    routes,
};

routes! { "Commits and merge requests" at "/projects/{id}";
    GET    "/merge_requests/{merge_request_iid}/context_commits" => list   : ReadMergeRequests,
    POST   "/merge_requests/{merge_request_iid}/context_commits" => add    : TakePartInMergeRequests,
    DELETE "/merge_requests/{merge_request_iid}/context_commits" => remove : TakePartInMergeRequests,
    GET    "/repository/commits/{sha}/merge_requests"            => brought_by : ReadCode,
}

async fn list(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, OnlyPage)>,
) -> ApiResult<PagedList<CommitEntity>> {
    let (grant, (one, _), page) = (call.grant, call.params, call.page);
    let (project, url) = (grant.project(), app.urls.at(&grant.facts().full_path));
    let shas = app.db.read(move |tx| {
        let row = actions::find(tx, &grant, one.merge_request_iid)?;
        tx.context_commits(row.id)
    });
    let found = contents::commits_by_id(&app, project, shas.await?).await?;
    Ok(PagedList(page.slice(found).map(|commit| CommitEntity::new(&commit, &url))))
}

params! {
    struct ContextCommits {
        merge_request_iid: i64,
        /// Commit SHAs.
        commits: Csv<String>,
    }
}

async fn add(
    app: App,
    call: Call<TakePartInMergeRequests, ContextCommits>,
) -> ApiResult<Created<Vec<CommitEntity>>> {
    let (grant, params) = (call.grant, call.params);
    let (project, url) = (grant.project(), app.urls.at(&grant.facts().full_path));
    let (iid, asked) = (params.merge_request_iid, params.commits.0);
    context::ensure_few(&asked)?;
    let known = contents::known_commits(&app, project, asked.clone()).await?;
    let shown = known.clone();
    app.db.write(move |tx| context::add(tx, &grant, iid, &asked, &known)).await?;
    let found = contents::commits_by_id(&app, project, shown).await?;
    Ok(Created(found.iter().map(|commit| CommitEntity::new(commit, &url)).collect()))
}

async fn remove(
    app: App,
    call: Call<TakePartInMergeRequests, ContextCommits>,
) -> ApiResult<NoContent> {
    let (grant, params) = (call.grant, call.params);
    let (iid, shas) = (params.merge_request_iid, params.commits.0);
    app.db.write(move |tx| context::remove(tx, &grant, iid, &shas)).await?;
    Ok(NoContent)
}

params! {
    struct OneSha: paged {
        /// Full or abbreviated commit SHA, or name of a branch or tag.
        sha: String,
    }
}

async fn brought_by(
    app: App,
    call: Call<ReadCode, OneSha>,
) -> ApiResult<PagedList<MergeRequestEntity>> {
    let grant = call.grant.also::<ListMergeRequests>()?;
    let (page, sha, urls) = (call.page, call.params.sha, app.urls.clone());
    let project = grant.project();
    let read = app.git_read(project, move |reader| {
        repo::commit::read::commit_named(reader, &sha).map(|id| id.to_string())
    });
    let sha = read.await?;
    let found = app.db.read(move |tx| {
        let rows = tx.merge_requests_with(project, &sha, page)?;
        let view = MergeRequestView::default();
        rows.try_map_all(|rows| MergeRequestEntity::all(tx, &urls, rows, &view))
    });
    Ok(PagedList(found.await?))
}
