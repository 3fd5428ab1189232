//! Runners, as the people see and set them who look after them.

use entities::runners::runner::{
    RegisteredRunnerEntity, ResetTokenEntity, RunnerDetailEntity, RunnerEntity, RunnerManagerEntity,
};
use forge::{
    ports::runners::{Roles, TokenLifetimes},
    runner::registration,
};
use kernel::{
    AccessLevel::{Maintainer, Owner as GroupOwner},
    Error, Result,
    access::Administrate,
    ids::{NamespaceId, ProjectId, RunnerId},
};
use org::{
    access::{IdOrPath, locate_group, locate_project},
    token::Scope,
};
use runners::{
    policy::UseRunners,
    runner::{Owner, Runner, RunnerAccess, RunnerToken, RunnerType, actions},
};

use super::runner_params::{ListRunners, RunnerFields};
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{Call, Change, Csv},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Runners" at "";
    GET    "/runners"                                        => list         : UseRunners,
    GET    "/runners/all"                                    => list_all     : Administrate,
    GET    "/runners/{runner_id}"                            => show         : UseRunners,
    PUT    "/runners/{runner_id}"                            => update       : UseRunners,
    DELETE "/runners/{runner_id}"                            => remove       : UseRunners,
    GET    "/runners/{runner_id}/managers"                   => managers     : UseRunners,
    POST   "/runners/{runner_id}/reset_authentication_token" => reset_token  : UseRunners,
    POST   "/runners/reset_registration_token"               => reset        : Administrate,
}

/// Calls that a token may make which can do nothing else.
pub(crate) mod creation {
    use super::{UseRunners, create};

    crate::routes! { "Runners" at "", any scope;
        POST "/user/runners" => create : UseRunners,
    }
}

async fn list(app: App, call: Call<UseRunners, ListRunners>) -> ApiResult<PagedList<RunnerEntity>> {
    let (grant, page, filter) = (call.grant, call.page, call.params.into_filter(false)?);
    let listed = app.db.read(move |tx| {
        let found = actions::list_own(tx, &grant, &Roles, &filter, page)?;
        Ok(found.map(|runner| RunnerEntity::new(&runner, tx.now)))
    });
    Ok(PagedList(listed.await?))
}

async fn list_all(
    app: App,
    call: Call<Administrate, ListRunners>,
) -> ApiResult<PagedList<RunnerEntity>> {
    let (grant, page, filter) = (call.grant, call.page, call.params.into_filter(true)?);
    let listed = app.db.read(move |tx| {
        let found = actions::list_all(tx, &grant, &filter, page)?;
        Ok(found.map(|runner| RunnerEntity::new(&runner, tx.now)))
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct OneRunner {
        runner_id: RunnerId,
    }
}

async fn show(app: App, call: Call<UseRunners, OneRunner>) -> ApiResult<Json<RunnerDetailEntity>> {
    let (grant, id, urls) = (call.grant, call.params.runner_id, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let runner = actions::read(tx, &grant, &Roles, id)?;
        RunnerDetailEntity::load(tx, &urls, grant.actor(), &runner)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct ChangeRunner {
        runner_id: RunnerId,
        description: Option<String>,
        /// Deprecated: the opposite of `paused`.
        active: Option<bool>,
        /// Whether the runner is paused.
        paused: Option<bool>,
        tag_list: Option<Csv<String>>,
        /// Whether the runner also picks untagged jobs.
        run_untagged: Option<bool>,
        /// Whether the runner is locked to its current projects.
        locked: Option<bool>,
        access_level: Option<RunnerAccess>,
        /// Maximum duration of a job in seconds.
        maximum_timeout: Change<i64>,
        /// Note visible to those who may change the runner.
        maintenance_note: Option<String>,
    } with at_least_one(
        "description", "active", "paused", "tag_list", "run_untagged", "locked", "access_level",
        "maximum_timeout", "maintenance_note"
    ), exclusive("active", "paused");
}

async fn update(
    app: App,
    call: Call<UseRunners, ChangeRunner>,
) -> ApiResult<Json<RunnerDetailEntity>> {
    let (grant, params, urls) = (call.grant, call.params, app.urls.clone());
    let given = RunnerFields {
        description: params.description,
        maintenance_note: params.maintenance_note,
        active: params.active,
        paused: params.paused,
        locked: params.locked,
        run_untagged: params.run_untagged,
        access_level: params.access_level,
        tag_list: params.tag_list,
        maximum_timeout: params.maximum_timeout,
    };
    let changed = app.db.write(move |tx| {
        let after = actions::update(tx, &grant, &Roles, params.runner_id, given.into())?;
        RunnerDetailEntity::load(tx, &urls, grant.actor(), &after)
    });
    Ok(Json(changed.await?))
}

async fn remove(app: App, call: Call<UseRunners, OneRunner>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.runner_id);
    app.db.write(move |tx| actions::remove(tx, &grant, &Roles, id, since)).await?;
    Ok(NoContent)
}

params! {
    pub struct ListManagers: paged {
        runner_id: RunnerId,
    }
}

async fn managers(
    app: App,
    call: Call<UseRunners, ListManagers>,
) -> ApiResult<PagedList<RunnerManagerEntity>> {
    let (grant, page, id) = (call.grant, call.page, call.params.runner_id);
    let listed = app.db.read(move |tx| {
        let found = actions::managers(tx, &grant, &Roles, id, page)?;
        Ok(found.map(|manager| RunnerManagerEntity::new(manager, tx.now)))
    });
    Ok(PagedList(listed.await?))
}

async fn reset_token(
    app: App,
    call: Call<UseRunners, OneRunner>,
) -> ApiResult<Created<ResetTokenEntity>> {
    let (grant, id) = (call.grant, call.params.runner_id);
    let reset =
        app.db.write(move |tx| actions::reset_token(tx, &grant, &Roles, &TokenLifetimes, id));
    Ok(Created(reset.await?.into()))
}

async fn reset(app: App, call: Call<Administrate>) -> ApiResult<Created<ResetTokenEntity>> {
    let grant = call.grant;
    let token = app.db.write(move |tx| registration::reset_of_instance(tx, &grant)).await?;
    Ok(Created(token.into()))
}

params! {
    pub struct CreateRunner {
        runner_type: RunnerType,
        /// Group of a runner of `group_type`.
        group_id: Option<NamespaceId>,
        /// Project of a runner of `project_type`.
        project_id: Option<ProjectId>,
        description: Option<String>,
        maintenance_note: Option<String>,
        paused: Option<bool>,
        locked: Option<bool>,
        access_level: Option<RunnerAccess>,
        run_untagged: Option<bool>,
        tag_list: Option<Csv<String>>,
        /// Maximum duration of a job in seconds.
        maximum_timeout: Change<i64>,
    }
}

async fn create(
    app: App,
    call: Call<UseRunners, CreateRunner>,
) -> ApiResult<Created<RegisteredRunnerEntity>> {
    let scopes = call.caller.scopes();
    let enough = [Scope::Api, Scope::CreateRunner];
    if scopes.is_some_and(|scopes| !enough.iter().any(|scope| scopes.has(*scope))) {
        return Err(ApiError::Scope("create_runner api".to_owned()));
    }
    let (grant, params) = (call.grant, call.params);
    let given = RunnerFields {
        description: params.description,
        maintenance_note: params.maintenance_note,
        paused: params.paused,
        locked: params.locked,
        run_untagged: params.run_untagged,
        access_level: params.access_level,
        tag_list: params.tag_list,
        maximum_timeout: params.maximum_timeout,
        ..RunnerFields::default()
    };
    let (kind, group, project) = (params.runner_type, params.group_id, params.project_id);
    let token = RunnerToken::created();
    let own = token.clone();
    let made = app.db.write(move |tx| -> Result<Runner> {
        let actor = grant.actor();
        let owner = owner(tx, actor, kind, group, project)?;
        registration::create(tx, owner, Some(actor.user()?), given.into(), &own)
    });
    Ok(Created(RegisteredRunnerEntity::new(&made.await?, &token)))
}

/// Whose runner somebody may make.
fn owner(
    tx: &mut db::Tx<'_>,
    actor: kernel::Actor,
    kind: RunnerType,
    group: Option<NamespaceId>,
    project: Option<ProjectId>,
) -> Result<Owner> {
    let missing = |name: &str| Error::bad_request().parameters(format!("{name} is missing"));
    let refused = || Error::forbidden().because("Insufficient permissions");
    match kind {
        RunnerType::Instance if actor.admin => Ok(Owner::Instance),
        RunnerType::Instance => Err(refused()),
        RunnerType::Group => {
            let id = group.ok_or_else(|| missing("group_id"))?;
            let (_, who) = locate_group(tx, actor, &IdOrPath::Id(id.0))?;
            match (who.visible, who.is(GroupOwner)) {
                (false, _) => Err(Error::not_found("Group")),
                (true, false) => Err(refused()),
                (true, true) => Ok(Owner::Group(id)),
            }
        }
        RunnerType::Project => {
            let id = project.ok_or_else(|| missing("project_id"))?;
            let (_, who) = locate_project(tx, actor, &IdOrPath::Id(id.0))?;
            match (who.visible, who.writes(Maintainer)) {
                (false, _) => Err(Error::not_found("Project")),
                (true, false) => Err(refused()),
                (true, true) => Ok(Owner::Project(id)),
            }
        }
    }
}
