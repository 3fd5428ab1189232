//! A runner, and the programs that share its token.

use std::sync::Arc;

use ci::{Status, job::RunnerJobFilter};
use forge::runner::jobs;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{Ts, ids::RunnerId, page::PageRequest};
use runners::{
    manager::Manager,
    policy::UseRunners,
    runner::{Runner, RunnerStatus, RunnerType},
};

use super::loaders::RunnerLoaders;
use crate::{
    context::Context,
    failure::{failure_of, visible},
    groups,
    join::try_join_all,
    numbered_list::NumberedList,
    pipelines::{jobs_of_rows, located_project::instance_grant, name_of, values_of},
    projects,
    values::{markdown, maybe_time, time},
};

/// A runner of which the caller may see all fields.
#[derive(Debug)]
pub(super) struct RunnerRecord {
    pub row: Arc<Runner>,
    /// When it was read, for what depends on the time.
    pub now: Ts,
}

/// A program that shares a runner's token.
#[derive(Debug)]
struct ManagerRecord {
    row: Arc<Manager>,
    now: Ts,
}

pub(super) fn runner(context: &Context, row: Arc<Runner>) -> Value {
    let now = context.forge.db.clock().now();
    Value::object("CiRunner", Arc::new(RunnerRecord { row, now }))
}

/// A runner by its id; null where the caller may not see all its fields.
///
/// # Errors
/// When the database failed.
pub async fn of_id(context: &Context, id: RunnerId) -> Result<Value, Failure> {
    if context.user().is_none() {
        return Ok(Value::Null);
    }
    let found = RunnerLoaders::of(context).readable.load(id).await?;
    Ok(found.map_or(Value::Null, |row| runner(context, row)))
}

/// A paused runner is told by `paused`, not by its status.
fn status(status: RunnerStatus, row: &Runner, now: Ts) -> Value {
    match status {
        RunnerStatus::Paused if row.is_online(now) => name_of(RunnerStatus::Online),
        RunnerStatus::Paused => name_of(RunnerStatus::Offline),
        status => name_of(status),
    }
}

type Record = Arc<RunnerRecord>;

pub(super) fn register(registry: &mut Registry<Context>) {
    register_record(registry);
    register_state(registry);
    register_relations(registry);
    register_manager(registry);
}

fn register_record(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<RunnerRecord>("CiRunner")
        .plain("accessLevel", |record| name_of(record.row.access_level))
        .plain("active", |record| record.row.active.into())
        .plain("architectureName", |record| record.row.architecture.clone().into())
        .plain("contactedAt", |record| maybe_time(record.row.contacted_at))
        .plain("createdAt", |record| time(record.row.created_at))
        .plain("description", |record| record.row.description.clone().into())
        .plain("id", |record| Value::gid("Ci::Runner", record.row.id))
        .plain("ipAddress", |record| record.row.ip_address.clone().into())
        .plain("locked", |record| record.row.locked.into())
        .plain("maximumTimeout", |record| record.row.maximum_timeout.into())
        .plain("paused", |record| (!record.row.active).into())
        .plain("platformName", |record| record.row.platform.clone().into())
        .plain("revision", |record| record.row.revision.clone().into())
        .plain("runUntagged", |record| record.row.run_untagged.into())
        .plain("runnerType", |record| name_of(record.row.runner_type))
        .plain("shortSha", |record| record.row.short_token.as_str().into())
        .plain("status", |record| status(record.row.status(record.now), &record.row, record.now))
        .plain("tokenExpiresAt", |record| maybe_time(record.row.token_expires_at))
        .plain("version", |record| record.row.version.clone().into())
        .lookup("tagList", |record: Record, _, _| async move {
            Ok(record.row.tag_list().map_err(failure_of)?.into())
        });
}

fn register_state(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<RunnerRecord>("CiRunner")
        .lookup("adminUrl", |record: Record, _, context| async move {
            let page = context.forge.urls.at(&format!("admin/runners/{}", record.row.id));
            Ok(context.actor().admin.then_some(page).into())
        })
        .lookup("editAdminUrl", |record: Record, _, context| async move {
            let page = context.forge.urls.at(&format!("admin/runners/{}/edit", record.row.id));
            Ok(context.actor().admin.then_some(page).into())
        })
        .lookup("groups", |record: Record, arguments, context| async move {
            let Some(id) = record.row.group_id else { return Ok(Value::Null) };
            let mut found = vec![groups::of_id(&context, id).await?];
            found.retain(|group| !group.is_null());
            Ok(Connection::of_list(&arguments.page()?, found).into())
        })
        .lookup("jobCount", |record: Record, _, context| async move {
            let count = RunnerLoaders::of(&context).job_counts.load(record.row.id).await?;
            Ok(count.into())
        })
        .lookup("jobExecutionStatus", |record: Record, _, context| async move {
            let busy = RunnerLoaders::of(&context).running.load(record.row.id).await?;
            Ok(busy.map(|busy| if busy { "RUNNING" } else { "IDLE" }).into())
        })
        .lookup("jobs", |record: Record, arguments, context| async move {
            list_jobs(&record, &arguments, &context).await
        })
        .once("jobs")
        .lookup("maintenanceNote", |record: Record, _, context| async move {
            Ok(note(&record, &context).await?.into())
        })
        .lookup("maintenanceNoteHtml", |record: Record, _, context| async move {
            let note = note(&record, &context).await?;
            markdown(&context.forge, note.as_deref(), None).await
        });
}

fn register_relations(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<RunnerRecord>("CiRunner")
        .lookup("managers", |record: Record, arguments, context| async move {
            let all = RunnerLoaders::of(&context).managers.load(record.row.id).await?;
            let value = |row: &Arc<Manager>| {
                let record = ManagerRecord { row: row.clone(), now: record.now };
                Value::object("CiRunnerManager", Arc::new(record))
            };
            let values = all.unwrap_or_default().iter().map(value).collect();
            Ok(Connection::of_list(&arguments.page()?, values).into())
        })
        .lookup("ownerProject", |record: Record, _, context| async move {
            let all = RunnerLoaders::of(&context).projects.load(record.row.id).await?;
            match all.as_ref().and_then(|all| all.first()) {
                Some(first) => projects::of_id(&context, *first).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("projectCount", |record: Record, _, context| async move {
            if record.row.runner_type != RunnerType::Project {
                return Ok(Value::Null);
            }
            let count = RunnerLoaders::of(&context).project_counts.load(record.row.id).await?;
            Ok(count.unwrap_or_default().into())
        })
        .lookup("projects", |record: Record, arguments, context| async move {
            list_projects(&record, &arguments, &context).await
        })
        .lookup("userPermissions", |record: Record, _, context| async move {
            permissions(&record, &context).await
        })
        .none(&[
            "executorName",
            "privateProjectsMinutesCostFactor",
            "publicProjectsMinutesCostFactor",
            "upgradeStatus",
        ]);
}

fn register_manager(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ManagerRecord>("CiRunnerManager")
        .plain("architectureName", |record| record.row.architecture.clone().into())
        .plain("contactedAt", |record| maybe_time(record.row.contacted_at))
        .plain("createdAt", |record| time(record.row.created_at))
        .plain("id", |record| Value::gid("Ci::RunnerManager", record.row.id))
        .plain("ipAddress", |record| record.row.ip_address.clone().into())
        .plain("platformName", |record| record.row.platform.clone().into())
        .plain("revision", |record| record.row.revision.clone().into())
        .plain("status", |record| name_of(record.row.status(record.now)))
        .plain("systemId", |record| record.row.system_id.as_str().into())
        .plain("version", |record| record.row.version.clone().into())
        .lookup("runner", |record: Arc<ManagerRecord>, _, context| async move {
            of_id(&context, record.row.runner_id).await
        })
        .none(&["executorName", "upgradeStatus"]);
}

/// For those alone who may change the runner.
async fn note(record: &RunnerRecord, context: &Context) -> Result<Option<String>, Failure> {
    let may = RunnerLoaders::of(context).updatable.load(record.row.id).await?.is_some();
    Ok(record.row.maintenance_note.clone().filter(|_| may))
}

async fn list_jobs(
    record: &RunnerRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(grant) = visible(instance_grant::<UseRunners>(context))? else {
        return Ok(Value::Null);
    };
    let filter = RunnerJobFilter {
        statuses: values_of::<Status>(&arguments.texts("statuses")),
        projects: None,
        descending: true,
    };
    let (id, asked) = (record.row.id, page.clone());
    let read = context.forge.db.read(move |tx| {
        NumberedList::read(&asked, |part: PageRequest| {
            jobs::list(tx, &grant, id, &filter, part).map(|(_, jobs)| jobs)
        })
    });
    let Some(found) = visible(read.await)? else { return Ok(Value::Null) };
    let mut rows = Vec::new();
    let found = found.map(|row| rows.push(row));
    let mut values = jobs_of_rows(context, &rows).await?.into_iter();
    Ok(found.connection(&page, |()| values.next().unwrap_or(Value::Null)).into())
}

async fn list_projects(
    record: &RunnerRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    if record.row.runner_type != RunnerType::Project {
        return Ok(Value::Null);
    }
    let all = RunnerLoaders::of(context).projects.load(record.row.id).await?.unwrap_or_default();
    let search = arguments.maybe_text("search").map(|text| text.to_lowercase());
    let topics = arguments.texts("topics");
    let members = arguments.flag("membership");
    let found = all.iter().map(|id| projects::record_of(context, *id));
    let found = try_join_all(found).await?;
    let found: Vec<Arc<projects::ProjectRecord>> = found.into_iter().flatten().collect();
    let about = match topics.is_empty() {
        true => vec![true; found.len()],
        false => try_join_all(found.iter().map(|one| one.is_about(context, &topics))).await?,
    };
    let mut values = Vec::new();
    for (found, about) in found.into_iter().zip(about) {
        let facts = &found.facts;
        let named = search.as_ref().is_none_or(|search| {
            facts.name.to_lowercase().contains(search)
                || facts.full_path.to_lowercase().contains(search)
        });
        let is_member = !members || found.who.level > kernel::AccessLevel::NoAccess;
        if named && about && is_member {
            values.push(projects::project(found));
        }
    }
    Ok(Connection::of_list(&arguments.page()?, values).into())
}

async fn permissions(record: &RunnerRecord, context: &Context) -> Result<Value, Failure> {
    let update = RunnerLoaders::of(context).updatable.load(record.row.id).await?.is_some();
    let assign = update
        && record.row.runner_type == RunnerType::Project
        && (!record.row.locked || context.actor().admin);
    Ok(Value::fields(
        "RunnerPermissions",
        [
            ("assignRunner", assign.into()),
            ("deleteRunner", update.into()),
            ("readRunner", true.into()),
            ("updateRunner", update.into()),
        ],
    ))
}
