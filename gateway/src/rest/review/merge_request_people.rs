//! People around a merge request: who takes part, who is asked to look at it, and who hears of it.

use entities::{
    org::brief_user::BriefUser,
    review::{
        merge_request_detail::MergeRequestDetail, merge_request_records as records,
        reviewer::ReviewerEntity,
    },
};
use kernel::ids::UserId;
use org::user::store::UserStore;
use review::{
    item::subscriptions::{participants, set_subscription},
    merge_request::{ReviewerStore, actions},
    policy::{ReadMergeRequests, TakePartInMergeRequests},
};

use super::merge_request_params::OneMergeRequest;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::{Created, PagedList},
    routes,
};

routes! { "People of merge requests" at "/projects/{id}/merge_requests/{merge_request_iid}";
    GET  "/participants" => who_takes_part : ReadMergeRequests,
    GET  "/reviewers"    => reviewers      : ReadMergeRequests,
    POST "/subscribe"    => subscribe      : TakePartInMergeRequests,
    POST "/unsubscribe"  => unsubscribe    : TakePartInMergeRequests,
}

async fn who_takes_part(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, OnlyPage)>,
) -> ApiResult<PagedList<BriefUser>> {
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let row = actions::find(tx, &grant, one.merge_request_iid)?;
        let mut people = participants(tx, &row.item())?;
        for reviewer in tx.reviewers_of(&[row.id])?.into_values().flatten() {
            if !people.contains(&reviewer.user_id) {
                people.push(reviewer.user_id);
            }
        }
        let people = page.slice(people);
        people.try_map_all(|people| BriefUser::in_order(tx, &urls, &people))
    });
    Ok(PagedList(found.await?))
}

async fn reviewers(
    app: App,
    call: Call<ReadMergeRequests, (OneMergeRequest, OnlyPage)>,
) -> ApiResult<PagedList<ReviewerEntity>> {
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let row = actions::find(tx, &grant, one.merge_request_iid)?;
        let all: Vec<_> = tx.reviewers_of(&[row.id])?.into_values().flatten().collect();
        page.slice(all).try_map_all(|some| {
            let ids: Vec<UserId> = some.iter().map(|reviewer| reviewer.user_id).collect();
            let users = tx.users_by_id(&ids)?;
            let shown = some.iter().filter_map(|one| ReviewerEntity::new(&urls, one, &users));
            Ok::<_, kernel::Error>(shown.collect())
        })
    });
    Ok(PagedList(found.await?))
}

async fn subscribe(
    app: App,
    call: Call<TakePartInMergeRequests, OneMergeRequest>,
) -> ApiResult<Created<MergeRequestDetail>> {
    subscription(app, call, true).await
}

async fn unsubscribe(
    app: App,
    call: Call<TakePartInMergeRequests, OneMergeRequest>,
) -> ApiResult<Created<MergeRequestDetail>> {
    subscription(app, call, false).await
}

async fn subscription(
    app: App,
    call: Call<TakePartInMergeRequests, OneMergeRequest>,
    wanted: bool,
) -> ApiResult<Created<MergeRequestDetail>> {
    let (grant, iid, urls) = (call.grant, call.params.merge_request_iid, app.urls.clone());
    let set = app.db.write(move |tx| {
        let row = actions::find(tx, &grant, iid)?;
        set_subscription(tx, &row.item(), grant.user()?, wanted)?;
        records::written(tx, &urls, &grant, &row)
    });
    Ok(Created(set.await?))
}
