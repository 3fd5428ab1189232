//! Merge requests: proposing, reading, changing and removing one.

use entities::review::{
    merge_request_detail::MergeRequestDetail,
    merge_request_records::{self as records, DetailOptions},
};
use forge::merge_request::{
    create::{MergeRequestDraft, create_merge_request},
    merge::checked,
    update::update_merge_request,
};
use kernel::{Ability, Grant, Result, access::Project};
use review::{
    item::details::ItemDetails,
    merge_request::{MergeRequest, actions, merge::rebase},
    policy::{
        DeleteMergeRequests, ProposeMergeRequests, ReadMergeRequests, TakePartInMergeRequests,
    },
};

use super::merge_request_params::{
    CreateMergeRequest, OneMergeRequest, ReadMergeRequest, UpdateMergeRequest,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::{Created, Json, NoContent},
    routes,
};

routes! { "Merge requests" at "/projects/{id}/merge_requests";
    POST   ""                     => create : ProposeMergeRequests,
    GET    "/{merge_request_iid}" => show   : ReadMergeRequests also JobToken,
    PUT    "/{merge_request_iid}" => update : TakePartInMergeRequests,
    DELETE "/{merge_request_iid}" => remove : DeleteMergeRequests,
}

async fn create(
    app: App,
    call: Call<ProposeMergeRequests, CreateMergeRequest>,
) -> ApiResult<Created<MergeRequestDetail>> {
    let (source, params, urls) = (call.grant, call.params, app.urls.clone());
    let draft = MergeRequestDraft {
        source_branch: params.source_branch.clone(),
        target: params.target_project_id.unwrap_or(source.project()),
        target_branch: params.target_branch.clone(),
        attributes: params.into(),
    };
    let made = create_merge_request(&app, &source, call.caller.user()?, draft).await?;
    let shown = app.db.read(move |tx| records::written(tx, &urls, &made.target, &made.row));
    Ok(Created(shown.await?))
}

async fn show(
    app: App,
    call: Call<ReadMergeRequests, ReadMergeRequest>,
) -> ApiResult<Json<MergeRequestDetail>> {
    let (grant, params, urls) = (call.grant, call.params, app.urls.clone());
    let (row, beside) = find_with_details(&app, &grant, params.merge_request_iid).await?;
    let row = checked(&app, row).await?;
    let diverged = match params.include_diverged_commits_count {
        true => Some(records::diverged_commits(&app, &row).await?),
        false => None,
    };
    let asked = params.include_rebase_in_progress;
    let shown = app.db.read(move |tx| {
        let rebasing = asked.then(|| rebase::is_under_way(tx, row.id)).transpose()?;
        let extras = DetailOptions {
            render_html: params.render_html,
            rebase_in_progress: rebasing,
            diverged_commits: diverged,
        };
        records::read(tx, &urls, &grant, (&row, &beside), extras)
    });
    Ok(Json(shown.await?))
}

async fn update(
    app: App,
    call: Call<TakePartInMergeRequests, (OneMergeRequest, UpdateMergeRequest)>,
) -> ApiResult<Json<MergeRequestDetail>> {
    let (grant, (one, params), urls) = (call.grant, call.params, app.urls.clone());
    let caller = call.caller.user()?;
    let updated = update_merge_request(&app, &grant, caller, one.merge_request_iid, params.into());
    let row = updated.await?;
    let shown = app.db.read(move |tx| records::written(tx, &urls, &grant, &row));
    Ok(Json(shown.await?))
}

async fn find_with_details<A: Ability<Scope = Project> + Clone + Send>(
    app: &App,
    grant: &Grant<A>,
    iid: i64,
) -> Result<(MergeRequest, ItemDetails)> {
    let grant = grant.clone();
    app.db.read(move |tx| actions::find_with(tx, &grant, iid)).await
}

async fn remove(
    app: App,
    call: Call<DeleteMergeRequests, OneMergeRequest>,
) -> ApiResult<NoContent> {
    let (since, iid) = (call.unmodified_since(), call.params.merge_request_iid);
    app.db.write(move |tx| actions::remove(tx, &call.grant, iid, since)).await?;
    Ok(NoContent)
}
