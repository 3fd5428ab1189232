//! Webhooks of projects and groups, and system hooks. The handlers are generic over the kind of grant.

use admin::{
    hook::{
        Hook,
        actions::{self, HookChange, Pairs},
    },
    owner::HookKeeper,
    policy::{AdminGroupHooks, AdminHooks},
};
use entities::admin::hook::{Detail, HookEntity};
use forge::webhook::OutgoingRule;
use kernel::{Ability, Error, Grant, Result, Ts, ids::HookId, page::PageRequest};
use secrets::Vault;

use super::hook_params::{CHANGEABLE, HookFields, HookUrl, NewUrl, OneHook};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, RawMap, params::OnlyPage},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

pub mod system;
pub mod trials;

routes! { "Webhooks" at "";
    GET    "/projects/{id}/hooks"                                    => list          : AdminHooks,
    POST   "/projects/{id}/hooks"                                    => create        : AdminHooks,
    GET    "/projects/{id}/hooks/{hook_id}"                          => show          : AdminHooks,
    PUT    "/projects/{id}/hooks/{hook_id}"                          => update        : AdminHooks,
    DELETE "/projects/{id}/hooks/{hook_id}"                          => remove        : AdminHooks,
    PUT    "/projects/{id}/hooks/{hook_id}/url_variables/{key}"      => set_variable  : AdminHooks,
    DELETE "/projects/{id}/hooks/{hook_id}/url_variables/{key}"      => drop_variable : AdminHooks,
    PUT    "/projects/{id}/hooks/{hook_id}/custom_headers/{key}"     => set_header    : AdminHooks,
    DELETE "/projects/{id}/hooks/{hook_id}/custom_headers/{key}"     => drop_header   : AdminHooks,
    GET    "/groups/{id}/hooks"                                      => list          : AdminGroupHooks,
    POST   "/groups/{id}/hooks"                                      => create        : AdminGroupHooks,
    GET    "/groups/{id}/hooks/{hook_id}"                            => show          : AdminGroupHooks,
    PUT    "/groups/{id}/hooks/{hook_id}"                            => update        : AdminGroupHooks,
    DELETE "/groups/{id}/hooks/{hook_id}"                            => remove        : AdminGroupHooks,
    PUT    "/groups/{id}/hooks/{hook_id}/url_variables/{key}"        => set_variable  : AdminGroupHooks,
    DELETE "/groups/{id}/hooks/{hook_id}/url_variables/{key}"        => drop_variable : AdminGroupHooks,
    PUT    "/groups/{id}/hooks/{hook_id}/custom_headers/{key}"       => set_header    : AdminGroupHooks,
    DELETE "/groups/{id}/hooks/{hook_id}/custom_headers/{key}"       => drop_header   : AdminGroupHooks,
}

/// Converts a stored hook to the JSON of its level.
type ToEntity<E> = fn(&Vault, &Hook, Detail, Ts) -> Result<E>;

async fn list_as<E: Send + 'static>(
    app: App,
    keeper: impl HookKeeper + Clone + Send + 'static,
    page: PageRequest,
    to_entity: ToEntity<E>,
) -> ApiResult<PagedList<E>> {
    let vault = app.vault.clone();
    let listed = app.db.read(move |tx| {
        let now = tx.now;
        let found = actions::list(tx, &keeper, page)?;
        found.try_map_all(|all| {
            all.iter().map(|row| to_entity(&vault, row, Detail::Short, now)).collect()
        })
    });
    Ok(PagedList(listed.await?))
}

async fn show_as<E: Send + 'static>(
    app: App,
    keeper: impl HookKeeper + Clone + Send + 'static,
    id: HookId,
    to_entity: ToEntity<E>,
) -> ApiResult<Json<E>> {
    let vault = app.vault.clone();
    let shown = app.db.read(move |tx| {
        let now = tx.now;
        to_entity(&vault, &actions::read(tx, &keeper, id)?, Detail::Full, now)
    });
    Ok(Json(shown.await?))
}

async fn create_as<E: Send + 'static>(
    app: App,
    keeper: impl HookKeeper + Clone + Send + 'static,
    (change, rule): (HookChange, OutgoingRule),
    to_entity: ToEntity<E>,
) -> ApiResult<Created<E>> {
    let vault = app.vault.clone();
    let made = app.db.write(move |tx| {
        let now = tx.now;
        let made = actions::create(tx, &keeper, (&*vault, &rule), change)?;
        to_entity(&vault, &made, Detail::Full, now)
    });
    Ok(Created(made.await?))
}

async fn update_as<E: Send + 'static>(
    app: App,
    keeper: impl HookKeeper + Clone + Send + 'static,
    id: HookId,
    (change, rule): (HookChange, OutgoingRule),
    to_entity: ToEntity<E>,
) -> ApiResult<Json<E>> {
    let vault = app.vault.clone();
    let changed = app.db.write(move |tx| {
        let now = tx.now;
        let after = actions::update(tx, &keeper, (&*vault, &rule), id, change)?;
        to_entity(&vault, &after, Detail::Full, now)
    });
    Ok(Json(changed.await?))
}

/// Refuses a change that changes nothing.
fn ensure_given(raw: &RawMap) -> Result<()> {
    match CHANGEABLE.iter().any(|name| raw.has(name)) {
        true => Ok(()),
        false => Err(Error::bad_request().parameters("No parameters provided")),
    }
}

async fn list<A: Ability>(app: App, call: Call<A, OnlyPage>) -> ApiResult<PagedList<HookEntity>>
where
    Grant<A>: HookKeeper,
{
    list_as(app, call.grant, call.page, HookEntity::new).await
}

async fn show<A: Ability>(app: App, call: Call<A, OneHook>) -> ApiResult<Json<HookEntity>>
where
    Grant<A>: HookKeeper,
{
    show_as(app, call.grant, call.params.hook_id, HookEntity::new).await
}

async fn create<A: Ability>(
    app: App,
    call: Call<A, (HookUrl, HookFields)>,
) -> ApiResult<Created<HookEntity>>
where
    Grant<A>: HookKeeper,
{
    let (url, fields) = call.params;
    let with = (fields.into_change(Some(url.url)), app.courier.rules.web());
    create_as(app, call.grant, with, HookEntity::new).await
}

async fn update<A: Ability>(
    app: App,
    call: Call<A, (OneHook, (NewUrl, HookFields))>,
) -> ApiResult<Json<HookEntity>>
where
    Grant<A>: HookKeeper,
{
    let (one, (url, fields)) = call.params;
    ensure_given(&call.raw)?;
    let with = (fields.into_change(url.url), app.courier.rules.web());
    update_as(app, call.grant, one.hook_id, with, HookEntity::new).await
}

async fn remove<A: Ability>(app: App, call: Call<A, OneHook>) -> ApiResult<NoContent>
where
    Grant<A>: HookKeeper,
{
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.hook_id);
    app.db.write(move |tx| actions::remove(tx, &grant, id, since)).await?;
    Ok(NoContent)
}

params! {
    pub struct SetPair {
        hook_id: HookId,
        key: String,
        value: String,
    }
}

params! {
    pub struct OnePair {
        hook_id: HookId,
        key: String,
    }
}

async fn set_pair(
    app: App,
    keeper: impl HookKeeper + Clone + Send + 'static,
    (id, pairs): (HookId, Pairs),
    (key, value): (String, Option<String>),
) -> ApiResult<NoContent> {
    let (vault, rule) = (app.vault.clone(), app.courier.rules.web());
    let done = app.db.write(move |tx| {
        let pair = (key.as_str(), value.as_deref());
        actions::set_pair(tx, &keeper, (&*vault, &rule), (id, pairs), pair)
    });
    done.await?;
    Ok(NoContent)
}

async fn set_variable<A: Ability>(app: App, call: Call<A, SetPair>) -> ApiResult<NoContent>
where
    Grant<A>: HookKeeper,
{
    let SetPair { hook_id, key, value } = call.params;
    set_pair(app, call.grant, (hook_id, Pairs::UrlVariables), (key, Some(value))).await
}

async fn drop_variable<A: Ability>(app: App, call: Call<A, OnePair>) -> ApiResult<NoContent>
where
    Grant<A>: HookKeeper,
{
    let OnePair { hook_id, key } = call.params;
    set_pair(app, call.grant, (hook_id, Pairs::UrlVariables), (key, None)).await
}

async fn set_header<A: Ability>(app: App, call: Call<A, SetPair>) -> ApiResult<NoContent>
where
    Grant<A>: HookKeeper,
{
    let SetPair { hook_id, key, value } = call.params;
    set_pair(app, call.grant, (hook_id, Pairs::CustomHeaders), (key, Some(value))).await
}

async fn drop_header<A: Ability>(app: App, call: Call<A, OnePair>) -> ApiResult<NoContent>
where
    Grant<A>: HookKeeper,
{
    let OnePair { hook_id, key } = call.params;
    set_pair(app, call.grant, (hook_id, Pairs::CustomHeaders), (key, None)).await
}
