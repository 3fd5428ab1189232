//! Integrations of projects, groups and the whole installation; `services` is their older name. The handlers are generic over the kind of grant.

use admin::{
    integration::actions,
    owner::{IntegrationKeeper, Owner},
    policy::{AdminGroupIntegrations, AdminIntegrations},
};
use db::Tx;
use entities::admin::integration::{IntegrationEntity, IntegrationSettingsEntity};
use kernel::{Ability, Grant, Result, access::Administrate, ids::NamespaceId};
use org::hierarchy::{above_group, above_project};

use super::integration_params::{OneIntegration, SetIntegration};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::{Json, NoContent},
    routes,
};

pub mod commands;

routes! { "Integrations" at "";
    GET    "/projects/{id}/integrations"        => list    : AdminIntegrations,
    GET    "/projects/{id}/integrations/{slug}" => show    : AdminIntegrations,
    PUT    "/projects/{id}/integrations/{slug}" => set     : AdminIntegrations,
    DELETE "/projects/{id}/integrations/{slug}" => disable : AdminIntegrations,
    GET    "/projects/{id}/services"            => list    : AdminIntegrations,
    GET    "/projects/{id}/services/{slug}"     => show    : AdminIntegrations,
    PUT    "/projects/{id}/services/{slug}"     => set     : AdminIntegrations,
    DELETE "/projects/{id}/services/{slug}"     => disable : AdminIntegrations,
    GET    "/admin/integrations"                => list    : Administrate,
    GET    "/admin/integrations/{slug}"         => show    : Administrate,
    PUT    "/admin/integrations/{slug}"         => set     : Administrate,
    DELETE "/admin/integrations/{slug}"         => disable : Administrate,
    GET    "/groups/{id}/integrations"          => list    : AdminGroupIntegrations,
    GET    "/groups/{id}/integrations/{slug}"   => show    : AdminGroupIntegrations,
    PUT    "/groups/{id}/integrations/{slug}"   => set     : AdminGroupIntegrations,
    DELETE "/groups/{id}/integrations/{slug}"   => disable : AdminGroupIntegrations,
}

/// The groups from which a home inherits, nearest first.
fn groups_above(tx: &mut Tx<'_>, home: Owner) -> Result<Vec<NamespaceId>> {
    match home {
        Owner::Project(project) => above_project(tx, project),
        Owner::Group(group) => above_group(tx, group),
        Owner::Instance => Ok(Vec::new()),
    }
}

async fn list<A: Ability>(app: App, call: Call<A>) -> ApiResult<Json<Vec<IntegrationEntity>>>
where
    Grant<A>: IntegrationKeeper,
{
    let grant = call.grant;
    let listed = app.db.read(move |tx| {
        let groups = groups_above(tx, grant.home())?;
        let found = actions::list(tx, &grant, &groups)?;
        Ok(found.iter().map(IntegrationEntity::new).collect())
    });
    Ok(Json(listed.await?))
}

async fn show<A: Ability>(
    app: App,
    call: Call<A, OneIntegration>,
) -> ApiResult<Json<IntegrationSettingsEntity>>
where
    Grant<A>: IntegrationKeeper,
{
    let (grant, kind) = (call.grant, call.params.slug.0);
    let shown = app.db.read(move |tx| {
        let groups = groups_above(tx, grant.home())?;
        IntegrationSettingsEntity::new(&actions::read(tx, &grant, &groups, kind)?)
    });
    Ok(Json(shown.await?))
}

async fn set<A: Ability>(
    app: App,
    call: Call<A, SetIntegration>,
) -> ApiResult<Json<IntegrationSettingsEntity>>
where
    Grant<A>: IntegrationKeeper,
{
    let (grant, SetIntegration { kind, change }) = (call.grant, call.params);
    let (vault, rule) = (app.vault.clone(), app.courier.rules.web());
    let done = app.db.write(move |tx| {
        let groups = groups_above(tx, grant.home())?;
        let set = actions::set(tx, &grant, (&*vault, &rule), &groups, kind, &change)?;
        IntegrationSettingsEntity::new(&set)
    });
    Ok(Json(done.await?))
}

async fn disable<A: Ability>(app: App, call: Call<A, OneIntegration>) -> ApiResult<NoContent>
where
    Grant<A>: IntegrationKeeper,
{
    let since = call.unmodified_since();
    let (grant, kind, vault) = (call.grant, call.params.slug.0, app.vault.clone());
    let done = app.db.write(move |tx| {
        let groups = groups_above(tx, grant.home())?;
        actions::disable(tx, &grant, (&*vault, groups.as_slice()), kind, since)
    });
    done.await?;
    Ok(NoContent)
}
