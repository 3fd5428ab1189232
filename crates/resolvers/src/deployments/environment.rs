//! Environments.

use std::sync::Arc;

use db::keyset::RowPosition;
use deployments::{
    deployment::{
        Deployment, DeploymentFilter, DeploymentListStore as _, DeploymentOrder, DeploymentStatus,
    },
    environment::{Environment, EnvironmentFilter, EnvironmentFolder, EnvironmentState, actions},
    policy::{
        ChangeEnvironments, ProtectEnvironments, ReadDeployments, ReadEnvironments,
        RemoveEnvironments, StopEnvironments,
    },
    protection::Protection,
};
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{TextEnum as _, ids::EnvironmentId};
use security::policy::ReadAlerts;

use super::{deployment::deployment, loaders::DeploymentLoaders};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    numbered_list::NumberedList,
    pipelines::{
        LocatedProject, loaders::CiLoaders, located_project, name_of, value_of, values_of,
    },
    projects::ProjectRecord,
    security::alert,
    values::{maybe_time, time},
    windowed_page::{CursorOrder, WindowedPage},
};

/// An environment of a project whose environments the caller may see.
#[derive(Debug)]
pub struct EnvironmentRecord {
    pub home: Arc<LocatedProject>,
    pub row: Environment,
}

pub(super) fn environment(home: Arc<LocatedProject>, row: Environment) -> Value {
    Value::object("Environment", Arc::new(EnvironmentRecord { home, row }))
}

/// An environment by its id; null where the caller may not see it.
///
/// # Errors
/// When the database failed.
pub async fn environment_of_id(context: &Context, id: EnvironmentId) -> Result<Value, Failure> {
    let Some(row) = DeploymentLoaders::of(context).environments.load(id).await? else {
        return Ok(Value::Null);
    };
    let home = CiLoaders::of(context).homes.load(row.project_id).await?;
    let home = home.filter(|home| home.may::<ReadEnvironments>());
    Ok(home.map_or(Value::Null, |home| environment(home, row)))
}

/// The environment that a mutation names, and where it is.
pub(super) async fn named(
    input: &Arguments,
    context: &Context,
) -> Result<(Arc<LocatedProject>, EnvironmentId), Failure> {
    let id = EnvironmentId(input.gid("id", &["Environment"])?);
    let row = DeploymentLoaders::of(context).environments.load(id).await?;
    let row = row.ok_or(Failure::NotFoundOrForbidden)?;
    Ok((located_project::expect(context, row.project_id).await?, id))
}

type Record = Arc<EnvironmentRecord>;

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup("environment", |record: Arc<ProjectRecord>, arguments, context| async move {
            one(&LocatedProject::of(&record), &arguments, &context).await
        })
        .lookup("environments", |record: Arc<ProjectRecord>, arguments, context| async move {
            list(&LocatedProject::of(&record), &arguments, &context).await
        })
        .once("environments")
        .lookup("nestedEnvironments", |record: Arc<ProjectRecord>, arguments, context| async move {
            folders(&LocatedProject::of(&record), &arguments, &context).await
        })
        .once("nestedEnvironments");
    let _ = registry
        .object::<EnvironmentRecord>("Environment")
        .plain("autoDeleteAt", |record| maybe_time(record.row.auto_delete_at))
        .plain("autoStopAt", |record| maybe_time(record.row.auto_stop_at))
        .plain("createdAt", |record| time(record.row.created_at))
        .plain("environmentType", |record| record.row.folder().into())
        .plain("externalUrl", |record| record.row.external_url.clone().into())
        .plain("id", |record| Value::gid("Environment", record.row.id))
        .plain("name", |record| record.row.name.as_str().into())
        .plain("slug", |record| record.row.slug.as_str().into())
        .plain("state", |record| record.row.state.as_str().into())
        .plain("tier", |record| name_of(record.row.tier))
        .plain("updatedAt", |record| time(record.row.updated_at))
        .lookup("path", |record: Record, _, context| async move {
            Ok(record.home.page(&context, &format!("-/environments/{}", record.row.id)).into())
        })
        .lookup("deployments", |record: Record, arguments, context| async move {
            deployments_of(&record, &arguments, &context).await
        })
        .once("deployments")
        .lookup("lastDeployment", |record: Record, arguments, context| async move {
            let status = value_of::<DeploymentStatus>(arguments.maybe_enum("status"));
            let Some(status) = status.filter(|_| record.home.may::<ReadDeployments>()) else {
                return Ok(Value::Null);
            };
            let found = DeploymentLoaders::of(&context).last.load((record.row.id, status)).await?;
            Ok(found.map_or(Value::Null, |row| deployment(record.home.clone(), row)))
        })
        .lookup("latestOpenedMostSevereAlert", |record: Record, _, context| async move {
            if !record.home.may::<ReadAlerts>() {
                return Ok(Value::Null);
            }
            let found = DeploymentLoaders::of(&context).alerts.load(record.row.id).await?;
            Ok(found.map_or(Value::Null, |row| alert(record.home.clone(), (*row).clone())))
        })
        .lookup("userPermissions", |record: Record, _, context| async move {
            permissions(&record, &context).await
        })
        .lookup("protectedEnvironments", |record: Record, arguments, context| async move {
            protections(&record, &arguments, &context).await
        });
}

/// The protection of the environment itself: those of groups are for the owners of these.
async fn protections(
    record: &EnvironmentRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    if !record.home.may::<ProtectEnvironments>() {
        return Ok(Value::Null);
    }
    let found = DeploymentLoaders::of(context).protections.load(record.row.id).await?;
    let value = |one: &Protection| {
        let fields = [
            ("name", one.environment.name.as_str().into()),
            ("requiredApprovalCount", one.environment.required_approval_count.into()),
        ];
        Value::fields("ProtectedEnvironment", fields)
    };
    let found = found.unwrap_or_default();
    let own = found.iter().filter(|one| one.environment.project_id.is_some());
    Ok(Connection::of_list(&page, own.map(value).collect()).into())
}

async fn permissions(record: &EnvironmentRecord, context: &Context) -> Result<Value, Failure> {
    let open = DeploymentLoaders::of(context).open.load(record.row.id).await?.is_some();
    let home = &record.home;
    let stopped = record.row.state == EnvironmentState::Stopped;
    Ok(Value::fields(
        "EnvironmentPermissions",
        [
            ("destroyEnvironment", (open && stopped && home.may::<RemoveEnvironments>()).into()),
            ("stopEnvironment", (open && home.may::<StopEnvironments>()).into()),
            ("updateEnvironment", (open && home.may::<ChangeEnvironments>()).into()),
        ],
    ))
}

fn filter(arguments: &Arguments) -> Result<EnvironmentFilter, Failure> {
    let text = |name: &str| arguments.maybe_text(name).filter(|text| !text.is_empty());
    let states = arguments.texts("states");
    let known = values_of::<EnvironmentState>(&states);
    if known.len() < states.len() {
        return Err(Failure::message("Requested states are not valid"));
    }
    let (name, search) = (text("name"), text("search"));
    if name.is_some() && search.is_some() {
        return Err(Failure::message("name, search cannot be used together"));
    }
    Ok(EnvironmentFilter { name, search, states: known, folder: text("type") })
}

async fn one(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let Some(grant) = visible(home.grant::<ReadEnvironments>())? else { return Ok(Value::Null) };
    let filter = filter(arguments)?;
    let first = kernel::page::PageRequest { page: 1, per_page: 1 };
    let read = context.forge.db.read(move |tx| actions::list(tx, &grant, &filter, first)).await;
    let found = read.map_err(failure_of)?.items.pop();
    Ok(found.map_or(Value::Null, |row| environment(home.clone(), row)))
}

async fn list(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = WindowedPage::new(arguments.page()?, CursorOrder::Id)?;
    let Some(grant) = visible(home.grant::<ReadEnvironments>())? else { return Ok(Value::Null) };
    let (filter, asked, counts) = (filter(arguments)?, page.clone(), arguments.counts());
    let read = context.forge.db.read(move |tx| {
        asked.read(counts, |window, part| actions::list_in(tx, &grant, &filter, window, part))
    });
    let found = read.await.map_err(failure_of)?;
    let position = |row: &Environment| RowPosition::of_id(row.id.0);
    Ok(page.connection(found, position, |row| environment(home.clone(), row)).into())
}

async fn folders(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(grant) = visible(home.grant::<ReadEnvironments>())? else { return Ok(Value::Null) };
    let (filter, asked) = (filter(arguments)?, page.clone());
    let read = context.forge.db.read(move |tx| {
        NumberedList::read(&asked, |part| actions::folders(tx, &grant, &filter, part))
    });
    let found = read.await.map_err(failure_of)?;
    let folder = |folder: EnvironmentFolder| {
        Value::fields(
            "NestedEnvironment",
            [
                ("environment", environment(home.clone(), folder.newest)),
                ("name", folder.name.into()),
                ("size", folder.size.into()),
            ],
        )
    };
    Ok(found.connection(&page, folder).into())
}

async fn deployments_of(
    record: &EnvironmentRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let Some(grant) = visible(record.home.grant::<ReadDeployments>())? else {
        return Ok(Value::Null);
    };
    let order = arguments.object("orderBy");
    let given = |name: &str| order.as_ref().and_then(|order| order.maybe_enum(name));
    let (created, finished) = (given("createdAt"), given("finishedAt"));
    if created.is_some() && finished.is_some() {
        return Err(Failure::message("orderBy parameter must contain one key-value pair."));
    }
    let ascending = created.as_deref().or(finished.as_deref()) == Some("ASC");
    let filter = DeploymentFilter {
        environment: Some(record.row.id),
        statuses: values_of(&arguments.texts("statuses")),
        updated_before: None,
        updated_after: None,
        order: match finished {
            // The end is the last change of a deployment.
            Some(_) => DeploymentOrder::UpdatedAt,
            None => DeploymentOrder::CreatedAt,
        },
        descending: !ascending,
    };
    let by_change = filter.order == DeploymentOrder::UpdatedAt;
    let order = if by_change { CursorOrder::Number("finished_at") } else { CursorOrder::Id };
    let page = WindowedPage::new(arguments.page()?, order)?;
    let (asked, counts) = (page.clone(), arguments.counts());
    let read = context.forge.db.read(move |tx| {
        asked.read(counts, |window, part| tx.deployments_in(grant.project(), &filter, window, part))
    });
    let found = read.await.map_err(failure_of)?;
    let position =
        |row: &Deployment| RowPosition::of_number(by_change.then_some(row.updated_at.0), row.id.0);
    Ok(page.connection(found, position, |row| deployment(record.home.clone(), row)).into())
}
