//! Commits, files and versions of merge requests.

use actix_web::HttpResponse;
use entities::{
    repo::{commit::CommitEntity, diff::DiffEntity},
    review::{
        merge_request_records::{self as records, DetailOptions},
        merge_request_version::{ChangesEntity, VersionEntity, WholeVersionEntity},
    },
};
use forge::merge_request::contents::{self as contents, CommitSpan};
use kernel::{Error, Grant, Result, ids::MergeRequestVersionId, page::PageRequest};
use repo::git::FileDiff;
use review::{
    merge_request::{MergeRequest, VersionStore, actions},
    policy::ReadMergeRequests,
};

use super::merge_request_params::OneMergeRequest;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Custom, Json, PagedList},
    routes,
};

routes! { "Contents of merge requests" at "/projects/{id}/merge_requests/{merge_request_iid}";
    GET "/commits"               => commits  : ReadMergeRequests,
    GET "/changes"               => changes  : ReadMergeRequests,
    GET "/diffs"                 => diffs    : ReadMergeRequests,
    GET "/raw_diffs"             => raw      : ReadMergeRequests,
    GET "/versions"              => versions : ReadMergeRequests,
    GET "/versions/{version_id}" => version  : ReadMergeRequests,
}

/// The most commits and files that a version's own record shows.
const MOST_SHOWN: i64 = 10_000;

async fn merge_request_of_iid(
    app: &App,
    grant: &Grant<ReadMergeRequests>,
    iid: i64,
) -> Result<MergeRequest> {
    let grant = grant.clone();
    app.db.peek(move |tx| actions::find(tx, &grant, iid)).await
}

async fn commits(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, OnlyPage)>,
) -> ApiResult<PagedList<CommitEntity>> {
    let row = merge_request_of_iid(&app, &call.grant, call.params.0.merge_request_iid).await?;
    let url = app.urls.at(&call.grant.facts().full_path);
    let page = contents::commits(&app, &row, CommitSpan::of(&row), call.page).await?;
    Ok(PagedList(page.map(|commit| CommitEntity::new(&commit, &url))))
}

params! {
    struct ReadChanges {
        merge_request_iid: i64,
        /// Whether to read diffs from git without the limits of stored diffs.
        access_raw_diffs: bool = false,
        /// Whether diffs start with `---` and `+++` lines (unified diff format).
        unidiff: bool = false,
    }
}

async fn changes(
    app: App,
    call: Call<ReadMergeRequests, ReadChanges>,
) -> ApiResult<Json<ChangesEntity>> {
    let (grant, params, urls) = (call.grant, call.params, app.urls.clone());
    let (asked, iid) = (grant.clone(), params.merge_request_iid);
    let (row, beside) = app.db.read(move |tx| actions::find_with(tx, &asked, iid)).await?;
    let span = CommitSpan::of(&row);
    let files = match params.access_raw_diffs {
        true => contents::whole_files(&app, &row, span).await?,
        false => contents::files(&app, &row, span).await?,
    };
    let extras = DetailOptions::default();
    let shown = app.db.read(move |tx| records::read(tx, &urls, &grant, (&row, &beside), extras));
    let overflow = files.iter().any(|file| file.collapsed || file.too_large);
    let changes = files.iter().map(shown_file(params.unidiff)).collect();
    Ok(Json(ChangesEntity { merge_request: shown.await?, changes, overflow }))
}

/// How a file is shown.
fn shown_file(unified: bool) -> fn(&FileDiff) -> DiffEntity {
    if unified { DiffEntity::unified } else { |file| DiffEntity::from(file) }
}

params! {
    struct ListDiffs: paged {
        merge_request_iid: i64,
        unidiff: bool = false,
    }
}

async fn diffs(
    app: App,
    call: Call<ReadMergeRequests, ListDiffs>,
) -> ApiResult<PagedList<DiffEntity>> {
    let (page, params) = (call.page, call.params);
    let row = merge_request_of_iid(&app, &call.grant, params.merge_request_iid).await?;
    let files = contents::files(&app, &row, CommitSpan::of(&row)).await?;
    let all: Vec<usize> = (0..files.len()).collect();
    let shown = shown_file(params.unidiff);
    Ok(PagedList(page.slice(all).map(|place| shown(&files[place]))))
}

async fn raw(app: App, call: Call<ReadMergeRequests, OneMergeRequest>) -> ApiResult<Custom> {
    let row = merge_request_of_iid(&app, &call.grant, call.params.merge_request_iid).await?;
    let mut response = HttpResponse::Ok();
    response.content_type("text/plain; charset=utf-8");
    if call.is_method("HEAD") {
        return Ok(Custom(response.finish()));
    }
    Ok(Custom(match contents::raw(&app, &row).await? {
        Some(pieces) => response.streaming(pieces),
        None => response.finish(),
    }))
}

async fn versions(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, OnlyPage)>,
) -> ApiResult<PagedList<VersionEntity>> {
    let (grant, (one, _), page) = (call.grant, call.params, call.page);
    let found = app.db.read(move |tx| {
        let row = actions::find(tx, &grant, one.merge_request_iid)?;
        tx.versions(row.id, page)
    });
    Ok(PagedList(found.await?.map(VersionEntity::from)))
}

params! {
    struct OneVersion {
        merge_request_iid: i64,
        version_id: MergeRequestVersionId,
        unidiff: bool = false,
    }
}

async fn version(
    app: App,
    call: Call<ReadMergeRequests, OneVersion>,
) -> ApiResult<Json<WholeVersionEntity>> {
    let (grant, params) = (call.grant, call.params);
    let url = app.urls.at(&grant.facts().full_path);
    let known = app.db.read(move |tx| {
        let row = actions::find(tx, &grant, params.merge_request_iid)?;
        let version = tx.find_version(row.id, params.version_id)?.ok_or_else(Error::missing)?;
        Ok((row, version))
    });
    let (row, version) = known.await?;
    let span = CommitSpan::of_version(&version);
    let all = PageRequest { page: 1, per_page: MOST_SHOWN };
    let commits = contents::commits(&app, &row, span, all).await?;
    let files = contents::files(&app, &row, span).await?;
    Ok(Json(WholeVersionEntity {
        version: version.into(),
        commits: commits.items.iter().map(|commit| CommitEntity::new(commit, &url)).collect(),
        diffs: files.iter().map(shown_file(params.unidiff)).collect(),
    }))
}
