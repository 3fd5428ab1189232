//! Time tracking of issues and merge requests.

use entities::review::item::TimeStatsEntity;
use kernel::Grant;
use review::{
    item::{ManageItemsGrant, ReadItemsGrant, time::actions},
    policy::{ManageIssues, ManageMergeRequests, ReadIssues, ReadMergeRequests},
};

use super::item_params::{NamesItem as _, OnItems};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, Json},
    routes,
};

routes! { "Time tracking" at "/projects/{id}";
    GET  "/issues/{issue_iid}/time_stats"                          => stats          : ReadIssues,
    POST "/issues/{issue_iid}/time_estimate"                       => estimate       : ManageIssues,
    POST "/issues/{issue_iid}/reset_time_estimate"                 => reset_estimate : ManageIssues,
    POST "/issues/{issue_iid}/add_spent_time"                      => spend          : ManageIssues,
    POST "/issues/{issue_iid}/reset_spent_time"                    => reset_spent    : ManageIssues,
    GET  "/merge_requests/{merge_request_iid}/time_stats"          => stats          : ReadMergeRequests,
    POST "/merge_requests/{merge_request_iid}/time_estimate"       => estimate       : ManageMergeRequests,
    POST "/merge_requests/{merge_request_iid}/reset_time_estimate" => reset_estimate : ManageMergeRequests,
    POST "/merge_requests/{merge_request_iid}/add_spent_time"      => spend          : ManageMergeRequests,
    POST "/merge_requests/{merge_request_iid}/reset_spent_time"    => reset_spent    : ManageMergeRequests,
}

params! {
    pub struct Estimate {
        /// Duration such as `3h 30m`. A month has 4 weeks, a week 5 days, a day 8 hours.
        duration: String,
    }
}

params! {
    pub struct Spend {
        /// Duration as in `3h 30m`. A leading minus subtracts it.
        duration: String,
        /// Summary of how the time was spent.
        summary: Option<String>,
    }
}

type Stats = ApiResult<Json<TimeStatsEntity>>;

async fn stats<A: OnItems>(app: App, call: Call<A, A::Path>) -> Stats
where
    Grant<A>: ReadItemsGrant,
{
    let (grant, iid) = (call.grant, call.params.iid());
    let read = app.db.read(move |tx| actions::stats(tx, &grant, iid));
    Ok(Json(TimeStatsEntity::of(&app.urls, read.await?)))
}

async fn estimate<A: OnItems>(app: App, call: Call<A, (A::Path, Estimate)>) -> Stats
where
    Grant<A>: ManageItemsGrant,
{
    let (grant, (path, params)) = (call.grant, call.params);
    let kept =
        app.db.write(move |tx| actions::estimate(tx, &grant, path.iid(), Some(&params.duration)));
    Ok(Json(TimeStatsEntity::of(&app.urls, kept.await?)))
}

async fn reset_estimate<A: OnItems>(app: App, call: Call<A, A::Path>) -> Stats
where
    Grant<A>: ManageItemsGrant,
{
    let (grant, iid) = (call.grant, call.params.iid());
    let kept = app.db.write(move |tx| actions::estimate(tx, &grant, iid, None));
    Ok(Json(TimeStatsEntity::of(&app.urls, kept.await?)))
}

async fn spend<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, Spend)>,
) -> ApiResult<Created<TimeStatsEntity>>
where
    Grant<A>: ManageItemsGrant,
{
    let (grant, (path, Spend { duration, summary })) = (call.grant, call.params);
    let kept = app.db.write(move |tx| actions::spend(tx, &grant, path.iid(), &duration, summary));
    Ok(Created(TimeStatsEntity::of(&app.urls, kept.await?)))
}

async fn reset_spent<A: OnItems>(app: App, call: Call<A, A::Path>) -> Stats
where
    Grant<A>: ManageItemsGrant,
{
    let (grant, iid) = (call.grant, call.params.iid());
    let kept = app.db.write(move |tx| actions::reset_spent(tx, &grant, iid));
    Ok(Json(TimeStatsEntity::of(&app.urls, kept.await?)))
}
