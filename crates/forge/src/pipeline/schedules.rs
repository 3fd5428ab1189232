//! Pipelines of schedules.

use ci::{
    pipeline::{PipelineVariable, Source, VariableType},
    policy::CreatePipelines,
    schedule::{
        ScheduleStore as _,
        runs::{self, RunDueSchedules, RunSchedule},
        variables::for_pipeline,
    },
};
use db::Tx;
use kernel::{Ability as _, Result};
use org::access::IdOrPath;
use secrets::Vault;

use super::make::{Request, make};
use crate::{Forge, user::standing::person_in_project};

/// Queues a run for every schedule that is due.
pub(crate) async fn run_due_schedules(forge: Forge, _: RunDueSchedules) -> Result<()> {
    loop {
        let due = forge.db.read(runs::due_runs).await?;
        if !forge.db.write(move |tx| runs::queue_runs(tx, &due)).await? {
            return Ok(());
        }
    }
}

/// Creates the pipeline of one run. Where none can be created (the owner is blocked or lost the role, the project is
/// archived, the ref is gone), the run ends without one; the schedule stays active.
pub(crate) async fn run_schedule(forge: Forge, run: RunSchedule) -> Result<()> {
    let (vault, schedule) = (forge.vault.clone(), run.schedule);
    let Some(request) = forge.db.read(move |tx| request(tx, &vault, &run)).await? else {
        return Ok(());
    };
    match make(&forge, request).await {
        Err(failure) if failure.is_ours() => Err(failure),
        Err(refusal) => {
            tracing::info!(%schedule, ?refusal, "a schedule created no pipeline");
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// Returns the pipeline to create, or `None` when the user may not create one.
fn request(tx: &mut Tx<'_>, vault: &Vault, run: &RunSchedule) -> Result<Option<Request>> {
    let Some(schedule) = tx.find_schedule(run.schedule)? else { return Ok(None) };
    let Some(user_id) = run.by.or(schedule.owner_id) else { return Ok(None) };
    if let Some(run) = run.run
        && tx.is_run_done(run)?
    {
        return Ok(None);
    }
    let person = person_in_project(tx, user_id, &IdOrPath::Id(schedule.project_id.0))?;
    let Some(person) = person.filter(|person| CreatePipelines::allows(&person.who)) else {
        return Ok(None);
    };
    let variables = for_pipeline(tx, vault, schedule.id)?.into_iter().map(|variable| {
        let variable_type = if variable.file { VariableType::File } else { VariableType::EnvVar };
        PipelineVariable { variable_type, ..PipelineVariable::plain(variable.key, variable.value) }
    });
    Ok(Some(Request {
        facts: person.facts,
        who: person.who,
        source: Source::Schedule,
        ref_name: schedule.ref_name,
        variables: variables.collect(),
        schedule: Some(schedule.id),
        schedule_run: run.run,
        trigger: None,
        parent: None,
    }))
}
