//! Label, milestone, state, weight and iteration events of issues and merge requests.

use entities::review::resource_event::ResourceEventEntity;
use kernel::{Error, Grant, Result};
use review::{
    activity::{ResourceEventStore as _, ResourceKind},
    item::{ReadItemsGrant, reading},
    policy::{ReadIssues, ReadMergeRequests},
};

use super::item_params::{NamesItem, OnItems};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Json, PagedList},
    routes,
};

routes! { "Resource events" at "/projects/{id}";
    GET "/issues/{issue_iid}/resource_label_events"                          => list : ReadIssues,
    GET "/issues/{issue_iid}/resource_label_events/{event_id}"               => show : ReadIssues,
    GET "/issues/{issue_iid}/resource_milestone_events"                      => list : ReadIssues,
    GET "/issues/{issue_iid}/resource_milestone_events/{event_id}"           => show : ReadIssues,
    GET "/issues/{issue_iid}/resource_state_events"                          => list : ReadIssues,
    GET "/issues/{issue_iid}/resource_state_events/{event_id}"               => show : ReadIssues,
    GET "/issues/{issue_iid}/resource_weight_events"                         => list : ReadIssues,
    GET "/issues/{issue_iid}/resource_weight_events/{event_id}"              => show : ReadIssues,
    GET "/issues/{issue_iid}/resource_iteration_events"                      => list : ReadIssues,
    GET "/issues/{issue_iid}/resource_iteration_events/{event_id}"           => show : ReadIssues,
    GET "/merge_requests/{merge_request_iid}/resource_label_events"                => list : ReadMergeRequests,
    GET "/merge_requests/{merge_request_iid}/resource_label_events/{event_id}"     => show : ReadMergeRequests,
    GET "/merge_requests/{merge_request_iid}/resource_milestone_events"            => list : ReadMergeRequests,
    GET "/merge_requests/{merge_request_iid}/resource_milestone_events/{event_id}" => show : ReadMergeRequests,
    GET "/merge_requests/{merge_request_iid}/resource_state_events"                => list : ReadMergeRequests,
    GET "/merge_requests/{merge_request_iid}/resource_state_events/{event_id}"     => show : ReadMergeRequests,
}

params! {
    pub struct OneEvent {
        event_id: i64,
    }
}

/// Which side of an item a path speaks of.
fn kind(path: &str) -> Result<ResourceKind> {
    let named = |kind: &&ResourceKind| path.contains(&format!("/resource_{kind}_events"));
    let all = <ResourceKind as kernel::TextEnum>::ALL;
    all.iter().find(named).copied().ok_or_else(Error::missing)
}

async fn list<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, OnlyPage)>,
) -> ApiResult<PagedList<ResourceEventEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let kind = kind(call.path())?;
    let (grant, page, (path, _)) = (call.grant, call.page, call.params);
    let urls = app.urls.clone();
    let found = app.db.read(move |tx| {
        let item = reading::read(tx, &grant, path.iid())?;
        let events = tx.resource_events(item.id, kind, page)?;
        events.try_map_all(|events| {
            ResourceEventEntity::all(tx, &urls, (kind, grant.actor()), events)
        })
    });
    Ok(PagedList(found.await?))
}

async fn show<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, OneEvent)>,
) -> ApiResult<Json<ResourceEventEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let kind = kind(call.path())?;
    let (grant, (path, one)) = (call.grant, call.params);
    let urls = app.urls.clone();
    let found = app.db.read(move |tx| {
        let item = reading::read(tx, &grant, path.iid())?;
        let event = tx.find_resource_event(item.id, kind, one.event_id)?;
        ResourceEventEntity::one(
            tx,
            &urls,
            (kind, grant.actor()),
            event.ok_or_else(Error::missing)?,
        )
    });
    Ok(Json(found.await?))
}
