//! Protected environments of projects and groups.

use deployments::{
    policy::{ProtectEnvironments, ProtectGroupEnvironments},
    protection::{
        NewProtection, ProtectionChange,
        actions::{self, ProtectionScope},
    },
};
use entities::deployments::protected_environment::ProtectedEnvironmentEntity;
use forge::ports::deployments::Members;
use kernel::{Ability, Error, Grant};

use super::protection_params::{AccessChangeParams, AccessParams};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, NonEmpty, params::OnlyPage},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Protected environments" at "";
    GET    "/projects/{id}/protected_environments"        => list      : ProtectEnvironments,
    GET    "/projects/{id}/protected_environments/{name}" => show      : ProtectEnvironments,
    POST   "/projects/{id}/protected_environments"        => protect   : ProtectEnvironments,
    PUT    "/projects/{id}/protected_environments/{name}" => update    : ProtectEnvironments,
    DELETE "/projects/{id}/protected_environments/{name}" => unprotect : ProtectEnvironments,
    GET    "/groups/{id}/protected_environments"          => list      : ProtectGroupEnvironments,
    GET    "/groups/{id}/protected_environments/{name}"   => show      : ProtectGroupEnvironments,
    POST   "/groups/{id}/protected_environments"          => protect   : ProtectGroupEnvironments,
    PUT    "/groups/{id}/protected_environments/{name}"   => update    : ProtectGroupEnvironments,
    DELETE "/groups/{id}/protected_environments/{name}"   => unprotect : ProtectGroupEnvironments,
}

/// What parameters are called.
const DEPLOYERS: &str = "deploy_access_levels";
const APPROVERS: &str = "approval_rules";

async fn list<A: Ability + Send + Sync>(
    app: App,
    call: Call<A, OnlyPage>,
) -> ApiResult<PagedList<ProtectedEnvironmentEntity>>
where
    Grant<A>: ProtectionScope + Send,
{
    let (grant, page) = (call.grant, call.page);
    let listed = app.db.read(move |tx| {
        let found = actions::list(tx, &grant, page)?;
        found.try_map_all(|found| ProtectedEnvironmentEntity::all(tx, found))
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct OneProtectedEnvironment {
        /// Name of the environment; for groups, the deployment tier.
        name: String,
    }
}

async fn show<A: Ability + Send + Sync>(
    app: App,
    call: Call<A, OneProtectedEnvironment>,
) -> ApiResult<Json<ProtectedEnvironmentEntity>>
where
    Grant<A>: ProtectionScope + Send,
{
    let (grant, name) = (call.grant, call.params.name);
    let shown = app.db.read(move |tx| {
        let found = actions::read(tx, &grant, &name)?;
        ProtectedEnvironmentEntity::one(tx, found)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct ProtectEnvironment {
        /// Name of an environment, which need not exist; for groups, a deployment tier.
        name: NonEmpty,
        /// Users, groups and roles that may deploy.
        deploy_access_levels: Vec<AccessParams>,
        /// Number of approvals required to deploy if there are no approval rules, at most 5.
        required_approval_count: i64 = 0,
        /// Approval rule for deployments.
        approval_rules: Option<Vec<AccessParams>>,
    }
}

async fn protect<A: Ability + Send + Sync>(
    app: App,
    call: Call<A, ProtectEnvironment>,
) -> ApiResult<Created<ProtectedEnvironmentEntity>>
where
    Grant<A>: ProtectionScope + Send,
{
    let (grant, params) = (call.grant, call.params);
    if params.deploy_access_levels.is_empty() {
        return Err(Error::bad_request().parameters(format!("{DEPLOYERS} is empty")).into());
    }
    let new = NewProtection {
        name: params.name.0,
        deployers: AccessParams::all(Some(params.deploy_access_levels), DEPLOYERS)?,
        required_approval_count: params.required_approval_count,
        approvers: AccessParams::all(params.approval_rules, APPROVERS)?,
    };
    let made = app.db.write(move |tx| {
        let made = actions::protect(tx, &grant, &Members, &new)?;
        ProtectedEnvironmentEntity::one(tx, made)
    });
    Ok(Created(made.await?))
}

params! {
    pub struct UpdateProtectedEnvironment {
        name: String,
        deploy_access_levels: Option<Vec<AccessChangeParams>>,
        required_approval_count: Option<i64>,
        approval_rules: Option<Vec<AccessChangeParams>>,
    }
}

async fn update<A: Ability + Send + Sync>(
    app: App,
    call: Call<A, UpdateProtectedEnvironment>,
) -> ApiResult<Json<ProtectedEnvironmentEntity>>
where
    Grant<A>: ProtectionScope + Send,
{
    let (grant, params) = (call.grant, call.params);
    let name = params.name;
    let change = ProtectionChange {
        deployers: AccessChangeParams::all(params.deploy_access_levels, DEPLOYERS)?,
        required_approval_count: params.required_approval_count,
        approvers: AccessChangeParams::all(params.approval_rules, APPROVERS)?,
    };
    let changed = app.db.write(move |tx| {
        let after = actions::update(tx, &grant, &Members, &name, &change)?;
        ProtectedEnvironmentEntity::one(tx, after)
    });
    Ok(Json(changed.await?))
}

async fn unprotect<A: Ability + Send + Sync>(
    app: App,
    call: Call<A, OneProtectedEnvironment>,
) -> ApiResult<NoContent>
where
    Grant<A>: ProtectionScope + Send,
{
    let since = call.unmodified_since();
    let (grant, name) = (call.grant, call.params.name);
    let removed = app.db.write(move |tx| {
        let protection = actions::read(tx, &grant, &name)?;
        protection.environment.updated_at.ensure_unchanged_since(since)?;
        actions::unprotect(tx, &grant, &name)
    });
    removed.await?;
    Ok(NoContent)
}
