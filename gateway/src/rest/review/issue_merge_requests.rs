//! The merge requests that close an issue, or have to do with it.

use entities::review::{
    merge_request::{MergeRequestEntity, MergeRequestView},
    merge_request_detail::MergeRequestDetail,
    merge_request_records,
};
use forge::ports::directory::Directory;
use review::{
    issue::{actions, merge_requests},
    policy::ReadIssues,
};

use super::item_params::OneIssue;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::PagedList,
    routes,
};

routes! { "Merge requests of issues" at "/projects/{id}/issues/{issue_iid}";
    GET "/closed_by"              => closing : ReadIssues,
    GET "/related_merge_requests" => related : ReadIssues,
}

async fn closing(
    app: App,
    call: Call<ReadIssues, (OneIssue, OnlyPage)>,
) -> ApiResult<PagedList<MergeRequestEntity>> {
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let issue = actions::find(tx, &grant, one.issue_iid)?;
        let rows = merge_requests::closing(tx, &Directory::new(&urls), grant.actor(), &issue)?;
        let view = MergeRequestView::in_project(&grant.facts().full_path);
        page.slice(rows).try_map_all(|rows| MergeRequestEntity::all(tx, &urls, rows, &view))
    });
    Ok(PagedList(found.await?))
}

async fn related(
    app: App,
    call: Call<ReadIssues, (OneIssue, OnlyPage)>,
) -> ApiResult<PagedList<MergeRequestDetail>> {
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let issue = actions::find(tx, &grant, one.issue_iid)?;
        let directory = Directory::new(&urls);
        let rows = merge_requests::related(tx, &directory, grant.actor(), &issue)?;
        let view = MergeRequestView::in_project(&grant.facts().full_path);
        let (page, actor) = (page.slice(rows), grant.actor());
        page.try_map_all(|rows| merge_request_records::listed(tx, &urls, actor, &rows, &view))
    });
    Ok(PagedList(found.await?))
}
