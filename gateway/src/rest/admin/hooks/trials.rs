//! Trying webhooks out, what was sent to them, and sending it once more.

use admin::{
    hook::actions,
    owner::HookKeeper,
    policy::{AdminGroupHooks, AdminHooks},
};
use entities::admin::{
    hook::DoneEntity,
    hook_log::{HookLogEntity, ResentEntity},
};
use forge::webhook::actions as sending;
use kernel::{
    Ability, Error, Grant,
    ids::{HookId, HookLogId},
    page::PageRequest,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv},
    params,
    present::{Created, PagedList},
    rest::admin::hook_params::{Status, Trigger},
    routes,
};

routes! { "Webhook deliveries" at "";
    POST "/projects/{id}/hooks/{hook_id}/test/{trigger}"              => test   : AdminHooks,
    GET  "/projects/{id}/hooks/{hook_id}/events"                      => logs   : AdminHooks,
    POST "/projects/{id}/hooks/{hook_id}/events/{hook_log_id}/resend" => resend : AdminHooks,
    POST "/groups/{id}/hooks/{hook_id}/test/{trigger}"                => test   : AdminGroupHooks,
    GET  "/groups/{id}/hooks/{hook_id}/events"                        => logs   : AdminGroupHooks,
    POST "/groups/{id}/hooks/{hook_id}/events/{hook_log_id}/resend"   => resend : AdminGroupHooks,
}

/// The most that a page of deliveries holds.
const MOST: i64 = 20;

params! {
    pub struct OneTrigger {
        hook_id: HookId,
        /// Flag of the event.
        trigger: Trigger,
    }
}

async fn test<A: Ability>(app: App, call: Call<A, OneTrigger>) -> ApiResult<Created<DoneEntity>>
where
    Grant<A>: HookKeeper,
{
    let OneTrigger { hook_id, trigger } = call.params;
    let result = sending::test(&app, call.grant, hook_id, trigger.0).await?;
    match result.is_success() {
        true => Ok(Created(DoneEntity { message: "201 Created" })),
        false => Err(Error::unprocessable().whole(result.text).into()),
    }
}

params! {
    pub struct ListLogs: paged {
        hook_id: HookId,
        /// Status codes, or `successful`, `client_failure`, `server_failure`.
        status: Option<Csv<Status>>,
    }
}

async fn logs<A: Ability>(app: App, call: Call<A, ListLogs>) -> ApiResult<PagedList<HookLogEntity>>
where
    Grant<A>: HookKeeper,
{
    let (grant, ListLogs { hook_id, status }) = (call.grant, call.params);
    let page = PageRequest { per_page: call.page.per_page.min(MOST), ..call.page };
    let filters: Vec<_> =
        status.map(|all| all.0.into_iter().map(|one| one.0).collect()).unwrap_or_default();
    let listed = app.db.read(move |tx| {
        let found = actions::logs(tx, &grant, hook_id, &filters, page)?;
        found.try_map_all(|all| all.iter().map(HookLogEntity::new).collect())
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct OneLog {
        hook_id: HookId,
        hook_log_id: HookLogId,
    }
}

async fn resend<A: Ability>(app: App, call: Call<A, OneLog>) -> ApiResult<Created<ResentEntity>>
where
    Grant<A>: HookKeeper,
{
    let OneLog { hook_id, hook_log_id } = call.params;
    let result = sending::resend(&app, call.grant, hook_id, hook_log_id).await?;
    match result.status {
        Some(status) => Ok(Created(ResentEntity { response_status: Some(status) })),
        None => Err(Error::unprocessable().whole(result.text).into()),
    }
}
