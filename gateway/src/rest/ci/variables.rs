//! CI/CD variables of projects, groups and the instance. The handlers are generic over the kind of grant.

use ci::{
    policy::{AdminGroupVariables, AdminVariables, ReadVariables},
    variable::{ManageVariables, NewVariable, Reader, Variable, VariableChange, actions},
};
use entities::ci::variable::{InstanceVariableEntity, VariableEntity};
use forge::ports::ci::PlanLimits;
use kernel::{Ability, Grant, Result, access::Administrate};
use secrets::Vault;

use super::variable_params::{
    ChangeInstanceVariable, ChangeVariable, CreateInstanceVariable, CreateVariable,
    OneInstanceVariable, OneVariable,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "CI variables" at "";
    GET    "/projects/{id}/variables"       => list            : ReadVariables,
    GET    "/projects/{id}/variables/{key}" => show            : ReadVariables,
    POST   "/projects/{id}/variables"       => create          : AdminVariables,
    PUT    "/projects/{id}/variables/{key}" => update          : AdminVariables,
    DELETE "/projects/{id}/variables/{key}" => remove          : AdminVariables,
    GET    "/groups/{id}/variables"         => list            : AdminGroupVariables,
    GET    "/groups/{id}/variables/{key}"   => show            : AdminGroupVariables,
    POST   "/groups/{id}/variables"         => create          : AdminGroupVariables,
    PUT    "/groups/{id}/variables/{key}"   => update          : AdminGroupVariables,
    DELETE "/groups/{id}/variables/{key}"   => remove          : AdminGroupVariables,
    GET    "/admin/ci/variables"            => list_instance   : Administrate,
    GET    "/admin/ci/variables/{key}"      => show_instance   : Administrate,
    POST   "/admin/ci/variables"            => create_instance : Administrate,
    PUT    "/admin/ci/variables/{key}"      => update_instance : Administrate,
    DELETE "/admin/ci/variables/{key}"      => remove_instance : Administrate,
}

/// Converts a stored variable to the JSON of its level.
type ToEntity<E> = fn(Variable, &Vault) -> Result<E>;

async fn list_as<E: Send + 'static>(
    app: App,
    reader: impl Reader + Clone + Send + 'static,
    page: kernel::page::PageRequest,
    to_entity: ToEntity<E>,
) -> ApiResult<PagedList<E>> {
    let vault = app.vault.clone();
    let listed = app.db.read(move |tx| {
        actions::list(tx, &reader, page)?
            .try_map_all(|all| all.into_iter().map(|one| to_entity(one, &vault)).collect())
    });
    Ok(PagedList(listed.await?))
}

async fn show_as<E: Send + 'static>(
    app: App,
    reader: impl Reader + Clone + Send + 'static,
    key: String,
    scope: Option<String>,
    to_entity: ToEntity<E>,
) -> ApiResult<Json<E>> {
    let vault = app.vault.clone();
    let read = app.db.read(move |tx| {
        let found = actions::read(tx, &reader, &key, scope.as_deref())?;
        to_entity(found, &vault)
    });
    Ok(Json(read.await?))
}

async fn create_as<E: Send + 'static>(
    app: App,
    keeper: impl ManageVariables + Clone + Send + 'static,
    new: NewVariable,
    to_entity: ToEntity<E>,
) -> ApiResult<Created<E>> {
    let vault = app.vault.clone();
    let made = app.db.write(move |tx| {
        let made = actions::create(tx, &keeper, (&PlanLimits, &*vault), new)?;
        to_entity(made, &vault)
    });
    Ok(Created(made.await?))
}

async fn update_as<E: Send + 'static>(
    app: App,
    keeper: impl ManageVariables + Clone + Send + 'static,
    key: String,
    scope: Option<String>,
    change: VariableChange,
    to_entity: ToEntity<E>,
) -> ApiResult<Json<E>> {
    let vault = app.vault.clone();
    let changed = app.db.write(move |tx| {
        let with = (&PlanLimits, &*vault);
        let after = actions::update(tx, &keeper, with, &key, scope.as_deref(), change)?;
        to_entity(after, &vault)
    });
    Ok(Json(changed.await?))
}

async fn list<A: Ability>(app: App, call: Call<A, OnlyPage>) -> ApiResult<PagedList<VariableEntity>>
where
    Grant<A>: Reader,
{
    list_as(app, call.grant, call.page, VariableEntity::new).await
}

async fn show<A: Ability>(app: App, call: Call<A, OneVariable>) -> ApiResult<Json<VariableEntity>>
where
    Grant<A>: Reader,
{
    let scope = call.params.scope();
    show_as(app, call.grant, call.params.key, scope, VariableEntity::new).await
}

async fn create<A: Ability>(
    app: App,
    call: Call<A, CreateVariable>,
) -> ApiResult<Created<VariableEntity>>
where
    Grant<A>: ManageVariables,
{
    create_as(app, call.grant, call.params.into(), VariableEntity::new).await
}

async fn update<A: Ability>(
    app: App,
    call: Call<A, ChangeVariable>,
) -> ApiResult<Json<VariableEntity>>
where
    Grant<A>: ManageVariables,
{
    let (key, scope, change) = call.params.into_change();
    update_as(app, call.grant, key, scope, change, VariableEntity::new).await
}

async fn remove<A: Ability>(app: App, call: Call<A, OneVariable>) -> ApiResult<NoContent>
where
    Grant<A>: ManageVariables,
{
    let (since, scope) = (call.unmodified_since(), call.params.scope());
    let (grant, key) = (call.grant, call.params.key);
    app.db.write(move |tx| actions::remove(tx, &grant, &key, scope.as_deref(), since)).await?;
    Ok(NoContent)
}

async fn list_instance(
    app: App,
    call: Call<Administrate, OnlyPage>,
) -> ApiResult<PagedList<InstanceVariableEntity>> {
    list_as(app, call.grant, call.page, InstanceVariableEntity::new).await
}

async fn show_instance(
    app: App,
    call: Call<Administrate, OneInstanceVariable>,
) -> ApiResult<Json<InstanceVariableEntity>> {
    show_as(app, call.grant, call.params.key, None, InstanceVariableEntity::new).await
}

async fn create_instance(
    app: App,
    call: Call<Administrate, CreateInstanceVariable>,
) -> ApiResult<Created<InstanceVariableEntity>> {
    create_as(app, call.grant, call.params.into(), InstanceVariableEntity::new).await
}

async fn update_instance(
    app: App,
    call: Call<Administrate, ChangeInstanceVariable>,
) -> ApiResult<Json<InstanceVariableEntity>> {
    let (key, change) = call.params.into_change();
    update_as(app, call.grant, key, None, change, InstanceVariableEntity::new).await
}

async fn remove_instance(
    app: App,
    call: Call<Administrate, OneInstanceVariable>,
) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, key) = (call.grant, call.params.key);
    app.db.write(move |tx| actions::remove(tx, &grant, &key, None, since)).await?;
    Ok(NoContent)
}
