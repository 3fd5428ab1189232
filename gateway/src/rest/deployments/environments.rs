//! Environments of a project.

use deployments::{
    deployment::DeploymentStore as _,
    environment::{Environment, EnvironmentFilter, EnvironmentState, Tier, actions},
    policy::{ChangeEnvironments, ReadEnvironments, RemoveEnvironments, StopEnvironments},
};
use entities::{
    deployments::{
        deployment_records::{DeploymentReader, present_one},
        environment::EnvironmentEntity,
    },
    org::project::BasicProject,
};
use forge::{
    deployment::stop as stop_environment, pipeline, ports::deployments::Members, urls::Urls,
};
use kernel::{Ability, Error, Grant, Result, access::Project, ids::EnvironmentId};
use org::project::{Detail, record, view::ProjectView};
use review::issue::open_count::BESIDE_PROJECTS;
use serde_json::json;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Change, OrNull, Param, ParamErrors, Raw},
    param_enums, params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Environments" at "/projects/{id}/environments";
    GET    ""                       => list   : ReadEnvironments,
    GET    "/{environment_id}"      => show   : ReadEnvironments,
    POST   ""                       => create : ChangeEnvironments,
    PUT    "/{environment_id}"      => update : ChangeEnvironments,
    DELETE "/{environment_id}"      => remove : RemoveEnvironments,
    POST   "/{environment_id}/stop" => stop   : StopEnvironments,
}

param_enums! { EnvironmentState, Tier }

params! {
    pub struct ListEnvironments: paged {
        /// Exact name.
        name: Option<String>,
        /// Part of the name, at least three characters.
        search: Option<String>,
        states: Option<EnvironmentState>,
    }
}

async fn list(
    app: App,
    call: Call<ReadEnvironments, ListEnvironments>,
) -> ApiResult<PagedList<EnvironmentEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let filter = EnvironmentFilter {
        name: params.name.filter(|name| !name.is_empty()),
        search: params.search.filter(|search| !search.is_empty()),
        states: params.states.into_iter().collect(),
        folder: None,
    };
    if filter.name.is_some() && filter.search.is_some() {
        let text = "name, search cannot be used together";
        return Err(Error::bad_request().parameters(text.to_owned()).into());
    }
    let urls = app.urls.clone();
    let listed = app.db.read(move |tx| {
        let found = actions::list(tx, &grant, &filter, page)?;
        let project = project(tx, &grant)?;
        let shown = || BasicProject::new(&urls, &project);
        Ok(found.map(|one| EnvironmentEntity::new(&one, Some(shown()))))
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct OneEnvironment {
        environment_id: EnvironmentId,
    }
}

async fn show(
    app: App,
    call: Call<ReadEnvironments, OneEnvironment>,
) -> ApiResult<Json<EnvironmentEntity>> {
    let (grant, id) = (call.grant, call.params.environment_id);
    let (facts, reader) = (grant.facts().clone(), DeploymentReader::from(&grant));
    let found = app.db.read(move |tx| {
        let environment = actions::read(tx, &grant, id)?;
        Ok((tx.last_deployment(environment.id)?, environment))
    });
    let (last, environment) = found.await?;
    let last = match last {
        Some(last) => {
            let shown = present_one(&app, &facts, reader, last).await?;
            Some(shown.without_environment())
        }
        None => None,
    };
    Ok(Json(EnvironmentEntity::new(&environment, None).with_last_deployment(last)))
}

fn project<A: Ability<Scope = Project>>(
    tx: &mut db::Tx<'_>,
    grant: &Grant<A>,
) -> Result<ProjectView> {
    let (id, want) = (grant.project(), Detail::Basic);
    record::one(tx, grant.actor(), id, want, BESIDE_PROJECTS).map(|(shown, _)| shown)
}

/// The record with its project.
fn environment_entity<A: Ability<Scope = Project>>(
    tx: &mut db::Tx<'_>,
    urls: &Urls,
    grant: &Grant<A>,
    environment: &Environment,
) -> Result<EnvironmentEntity> {
    let project = BasicProject::new(urls, &project(tx, grant)?);
    Ok(EnvironmentEntity::new(environment, Some(project)))
}

/// A parameter that nobody may give.
#[derive(Clone, Copy, Debug)]
pub struct Automatic;

impl Param for Automatic {
    const OPTIONAL: bool = true;

    fn read(_: &Raw) -> Result<Option<Self>, ParamErrors> {
        Err(ParamErrors::one("is automatically generated and cannot be changed"))
    }

    fn absent() -> Option<Self> {
        Some(Self)
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "string", "readOnly": true })
    }
}

params! {
    pub struct CreateEnvironment {
        name: String,
        external_url: Option<String>,
        /// Default: derived from the name.
        tier: Option<Tier>,
        /// Refused: the slug is derived from the name.
        slug: Automatic,
    }
}

async fn create(
    app: App,
    call: Call<ChangeEnvironments, CreateEnvironment>,
) -> ApiResult<Created<EnvironmentEntity>> {
    let (grant, params) = (call.grant, call.params);
    let url = params.external_url.filter(|url| !url.is_empty());
    let urls = app.urls.clone();
    let made = app.db.write(move |tx| {
        let made = actions::create(tx, &grant, params.name.clone(), url.clone(), params.tier)?;
        environment_entity(tx, &urls, &grant, &made)
    });
    Ok(Created(made.await?))
}

params! {
    pub struct UpdateEnvironment {
        environment_id: EnvironmentId,
        /// New name. The slug does not change.
        name: Option<String>,
        external_url: Change<String>,
        tier: Option<OrNull<Tier>>,
        /// Refused: the slug is derived from the name.
        slug: Automatic,
    }
}

async fn update(
    app: App,
    call: Call<ChangeEnvironments, UpdateEnvironment>,
) -> ApiResult<Json<EnvironmentEntity>> {
    let (grant, params) = (call.grant, call.params);
    let change = actions::EnvironmentChange {
        name: params.name,
        external_url: params.external_url.into_update(),
        tier: params.tier.map(|tier| tier.0),
    };
    let urls = app.urls.clone();
    let changed = app.db.write(move |tx| {
        let after = actions::update(tx, &grant, &Members, params.environment_id, change.clone())?;
        environment_entity(tx, &urls, &grant, &after)
    });
    Ok(Json(changed.await?))
}

async fn remove(app: App, call: Call<RemoveEnvironments, OneEnvironment>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.environment_id);
    let reader = grant.also::<ReadEnvironments>()?;
    let removed = app.db.write(move |tx| {
        actions::read(tx, &reader, id)?.updated_at.ensure_unchanged_since(since)?;
        actions::remove(tx, &grant, &Members, id)
    });
    removed.await?;
    Ok(NoContent)
}

params! {
    pub struct StopEnvironment {
        environment_id: EnvironmentId,
        /// Whether to stop the environment without waiting for its job.
        force: bool = false,
    }
}

async fn stop(
    app: App,
    call: Call<StopEnvironments, StopEnvironment>,
) -> ApiResult<Json<EnvironmentEntity>> {
    let (grant, params, vault) = (call.grant, call.params, app.vault.clone());
    let urls = app.urls.clone();
    let stopped = app.db.write(move |tx| {
        let stopped = stop_environment(tx, &vault, &grant, params.environment_id, params.force)?;
        Ok((environment_entity(tx, &urls, &grant, &stopped.environment)?, stopped.pipeline))
    });
    let (environment, pipeline) = stopped.await?;
    if let Some(pipeline) = pipeline {
        pipeline::run_now(&app, pipeline).await;
    }
    Ok(Json(environment))
}
