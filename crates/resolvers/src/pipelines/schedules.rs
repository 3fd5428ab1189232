//! Pipeline schedules.

use std::sync::Arc;

use ci::{
    policy::{ChangeSchedules, CreatePipelines, ReadSchedules},
    schedule::{Schedule, ScheduleScope, ScheduleVariable, actions},
};
use forge::ports::ci::Projects;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::Result as KernelResult;
use secrets::Vault;

use super::{
    enum_names::{name_of, value_of},
    loaders::CiLoaders,
    located_project::LocatedProject,
    pipeline::{person, pipeline},
};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    numbered_list::NumberedList,
    projects::{self, ProjectRecord},
    values::{maybe_time, time},
};

/// The class of the ids of variables: the number of the schedule, and the key, `3-TOKEN`.
pub(super) const VARIABLE_CLASS: &str = "Ci::PipelineScheduleVariable";

/// A schedule of a project whose pipelines the caller may see.
#[derive(Debug)]
pub(super) struct ScheduleRecord {
    pub home: Arc<LocatedProject>,
    pub row: Schedule,
}

pub(super) fn schedule(home: Arc<LocatedProject>, row: Schedule) -> Value {
    Value::object("PipelineSchedule", Arc::new(ScheduleRecord { home, row }))
}

impl ScheduleRecord {
    /// Whether the caller may take the schedule over and away.
    fn is_kept(&self) -> bool {
        self.home.may::<ChangeSchedules>() && actions::is_keeper(&self.home.who, &self.row)
    }

    fn may_change(&self) -> bool {
        self.home.may::<ChangeSchedules>() && actions::may_change(&self.home.who, &self.row)
    }

    /// The branch or tag without what tells these apart.
    fn short_ref(&self) -> &str {
        let name = self.row.ref_name.as_str();
        let short = name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/tags/"));
        short.unwrap_or(name)
    }
}

type Record = Arc<ScheduleRecord>;

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ProjectRecord>("Project")
        .lookup("pipelineSchedules", |record: Arc<ProjectRecord>, arguments, context| async move {
            list(&LocatedProject::of(&record), &arguments, &context).await
        })
        .once("pipelineSchedules");
    register_schedule(registry);
}

fn register_schedule(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<ScheduleRecord>("PipelineSchedule")
        .plain("active", |record| record.row.active.into())
        .plain("createdAt", |record| time(record.row.created_at))
        .plain("cron", |record| record.row.cron.as_str().into())
        .plain("cronTimezone", |record| record.row.cron_timezone.as_str().into())
        .plain("description", |record| record.row.description.as_str().into())
        .plain("forTag", |record| record.row.ref_name.starts_with("refs/tags/").into())
        .plain("id", |record| Value::gid("Ci::PipelineSchedule", record.row.id))
        .plain("nextRunAt", |record| maybe_time(record.row.next_run_at))
        .plain("realNextRun", |record| maybe_time(record.row.next_run_at))
        .plain("ref", |record| record.row.ref_name.as_str().into())
        .plain("refForDisplay", |record| record.short_ref().into())
        .plain("updatedAt", |record| time(record.row.updated_at))
        .plain("userPermissions", |record| {
            Value::fields(
                "PipelineSchedulePermissions",
                [
                    ("adminPipelineSchedule", record.is_kept().into()),
                    ("playPipelineSchedule", record.home.may::<CreatePipelines>().into()),
                    ("takeOwnershipPipelineSchedule", record.is_kept().into()),
                    ("updatePipelineSchedule", record.may_change().into()),
                ],
            )
        })
        .lookup("editPath", |record: Record, _, context| async move {
            let page = format!("-/pipeline_schedules/{}/edit", record.row.id);
            Ok(record.home.page(&context, &page).into())
        })
        .lookup("refPath", |record: Record, _, context| async move {
            let page = format!("-/commits/{}", record.short_ref());
            Ok(record.home.page(&context, &page).into())
        })
        .lookup("owner", |record: Record, _, context| async move {
            person(&context, record.row.owner_id).await
        })
        .lookup("project", |record: Record, _, context| async move {
            projects::of_id(&context, record.home.id()).await
        })
        .lookup("lastPipeline", |record: Record, _, context| async move {
            let found = CiLoaders::of(&context).last_of_schedule.load(record.row.id).await?;
            Ok(found.map_or(Value::Null, |row| pipeline(record.home.clone(), row)))
        })
        .lookup("variables", |record: Record, arguments, context| async move {
            let page = arguments.page()?;
            if !actions::is_keeper(&record.home.who, &record.row) {
                return Ok(Value::Null);
            }
            let loaders = CiLoaders::of(&context);
            let all = loaders.variables_of_schedule.load(record.row.id).await?.unwrap_or_default();
            let values = all.iter().map(|one| variable(one, &context.forge.vault));
            let values = values.collect::<KernelResult<Vec<Value>>>().map_err(failure_of)?;
            Ok(Connection::of_list(&page, values).into())
        });
}

fn variable(row: &ScheduleVariable, vault: &Vault) -> KernelResult<Value> {
    let value = row.value(vault)?.into_revealed();
    let id = format!("{}-{}", row.schedule_id, row.key);
    Ok(Value::fields(
        "PipelineScheduleVariable",
        [
            ("id", Value::gid(VARIABLE_CLASS, id)),
            ("key", row.key.as_str().into()),
            ("raw", false.into()),
            ("value", value.into()),
            ("variableType", name_of(row.kind)),
        ],
    ))
}

async fn list(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let scope = value_of::<ScheduleScope>(arguments.maybe_enum("status"));
    let Some(grant) = visible(home.grant::<ReadSchedules>())? else { return Ok(Value::Null) };
    let asked = page.clone();
    let read = context.forge.db.read(move |tx| {
        NumberedList::read(&asked, |part| actions::list(tx, &grant, &Projects, scope, part))
    });
    let Some(found) = visible(read.await)? else { return Ok(Value::Null) };
    Ok(found.connection(&page, |row| schedule(home.clone(), row)).into())
}
