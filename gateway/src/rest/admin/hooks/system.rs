//! System hooks, which hear what happens anywhere.

use admin::hook::actions;
use entities::admin::hook::{ExampleEntity, SystemHookEntity};
use forge::webhook::actions as sending;
use kernel::{access::Administrate, ids::HookId};

use super::{create_as, ensure_given, list_as, show_as, update_as};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::{Created, Json, NoContent, PagedList},
    rest::admin::hook_params::{HookFields, HookUrl, NewUrl, OneHook},
    routes,
};

routes! { "System hooks" at "/hooks";
    GET    ""           => list   : Administrate,
    POST   ""           => create : Administrate,
    GET    "/{hook_id}" => show   : Administrate,
    PUT    "/{hook_id}" => update : Administrate,
    POST   "/{hook_id}" => test   : Administrate,
    DELETE "/{hook_id}" => remove : Administrate,
}

async fn list(
    app: App,
    call: Call<Administrate, OnlyPage>,
) -> ApiResult<PagedList<SystemHookEntity>> {
    list_as(app, call.grant, call.page, SystemHookEntity::new).await
}

async fn show(app: App, call: Call<Administrate, OneHook>) -> ApiResult<Json<SystemHookEntity>> {
    show_as(app, call.grant, call.params.hook_id, SystemHookEntity::new).await
}

async fn create(
    app: App,
    call: Call<Administrate, (HookUrl, HookFields)>,
) -> ApiResult<Created<SystemHookEntity>> {
    let (url, fields) = call.params;
    let with = (fields.into_change(Some(url.url)), app.courier.rules.system());
    create_as(app, call.grant, with, SystemHookEntity::new).await
}

async fn update(
    app: App,
    call: Call<Administrate, (OneHook, (NewUrl, HookFields))>,
) -> ApiResult<Json<SystemHookEntity>> {
    let (one, (url, fields)) = call.params;
    ensure_given(&call.raw)?;
    let with = (fields.into_change(url.url), app.courier.rules.system());
    update_as(app, call.grant, one.hook_id, with, SystemHookEntity::new).await
}

async fn test(app: App, call: Call<Administrate, OneHook>) -> ApiResult<Created<ExampleEntity>> {
    let id: HookId = call.params.hook_id;
    let sent = sending::test_system(&app, call.grant, id).await?;
    Ok(Created(ExampleEntity::new(&sent)))
}

async fn remove(app: App, call: Call<Administrate, OneHook>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.hook_id);
    app.db.write(move |tx| actions::remove(tx, &grant, id, since)).await?;
    Ok(NoContent)
}
