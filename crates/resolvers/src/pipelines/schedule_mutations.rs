//! Pipeline schedules are made, changed, played and removed.

use std::sync::Arc;

use ci::{
    policy::{ChangeSchedules, CreatePipelines},
    schedule::{
        NewSchedule, Schedule, ScheduleChange, ScheduleStore as _, ScheduleVariable,
        actions::{self, NextRun},
        variables,
    },
    variable::VariableType,
};
use db::Tx;
use forge::{
    pipeline::control::play_schedule,
    ports::ci::{PlanLimits, Projects},
};
use graphql::{Arguments, Failure, Payload, Registry};
use kernel::{Error, Grant, Result as KernelResult, ids::PipelineScheduleId};
use secrets::{Secret, Vault};

use super::{
    enum_names::value_of,
    located_project::{self, LocatedProject},
    schedules::{VARIABLE_CLASS, schedule},
};
use crate::{
    context::Context,
    failure::{done, failure_of},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation("pipelineScheduleCreate", |input, context| async move {
        create(&input, &context).await
    });
    registry.mutation("pipelineScheduleUpdate", |input, context| async move {
        update(&input, &context).await
    });
    registry.mutation("pipelineScheduleDelete", |input, context| async move {
        let (home, row) = named(&input, &context).await?;
        let grant = home.grant::<ChangeSchedules>().map_err(failure_of)?;
        let removed =
            context.forge.db.write(move |tx| actions::remove(tx, &grant, row.id, None)).await;
        Ok(Payload::errors(done(removed)?.err().unwrap_or_default()))
    });
    registry.mutation("pipelineSchedulePlay", |input, context| async move {
        let (home, row) = named(&input, &context).await?;
        let grant = home.grant::<CreatePipelines>().map_err(failure_of)?;
        let user = grant.user().map_err(failure_of)?;
        context.rates.check_schedule_play(row.id, user).map_err(failure_of)?;
        let played = play_schedule(&context.forge, grant, row.id).await;
        payload(home, played.map(|()| row))
    });
    registry.mutation("pipelineScheduleTakeOwnership", |input, context| async move {
        let (home, row) = named(&input, &context).await?;
        let grant = home.grant::<ChangeSchedules>().map_err(failure_of)?;
        let taken =
            context.forge.db.write(move |tx| actions::take_ownership(tx, &grant, row.id)).await;
        payload(home, taken)
    });
}

/// The schedule that the input names, and where it is.
async fn named(
    input: &Arguments,
    context: &Context,
) -> Result<(Arc<LocatedProject>, Schedule), Failure> {
    let id = PipelineScheduleId(input.gid("id", &["Ci::PipelineSchedule"])?);
    let found = context.forge.db.read(move |tx| tx.find_schedule(id)).await;
    let row = found.map_err(failure_of)?.ok_or(Failure::NotFoundOrForbidden)?;
    Ok((located_project::expect(context, row.project_id).await?, row))
}

fn payload(home: Arc<LocatedProject>, written: KernelResult<Schedule>) -> Result<Payload, Failure> {
    Ok(match done(written)? {
        Ok(row) => Payload::new().field("pipelineSchedule", schedule(home, row)),
        Err(errors) => Payload::errors(errors),
    })
}

/// A variable of a mutation, to set or to remove.
#[derive(Clone)]
struct VariableInput {
    /// The schedule and the name of the variable whose id was given.
    known: Option<(PipelineScheduleId, String)>,
    key: String,
    value: Secret,
    kind: VariableType,
    goes: bool,
}

fn given_variables(input: &Arguments) -> Result<Vec<VariableInput>, Failure> {
    let one = |given: Arguments| {
        Ok(VariableInput {
            known: known_variable(&given)?,
            key: given.text("key")?,
            value: Secret::new(given.text("value")?),
            kind: value_of(given.maybe_enum("variableType")).unwrap_or(VariableType::EnvVar),
            goes: given.flag("destroy"),
        })
    };
    input.objects("variables").into_iter().map(one).collect()
}

fn known_variable(given: &Arguments) -> Result<Option<(PipelineScheduleId, String)>, Failure> {
    if given.maybe_text("id").is_none() {
        return Ok(None);
    }
    let (class, id) = given.any_gid("id")?;
    let parts = id.split_once('-').filter(|_| class == VARIABLE_CLASS);
    let known = parts.and_then(|(schedule, key)| {
        Some((PipelineScheduleId(schedule.parse().ok()?), key.to_owned()))
    });
    known.map(Some).ok_or(Failure::NotFoundOrForbidden)
}

/// An id of a variable that the schedule does not have is refused like one of nothing: whoever sends it would else
/// take for done what is not, and learns nothing of other schedules.
fn ensure_known(
    tx: &mut Tx<'_>,
    id: PipelineScheduleId,
    given: &[VariableInput],
) -> KernelResult<()> {
    let own = tx.schedule_variables(id)?;
    let is_own = |(schedule, key): &(PipelineScheduleId, String)| {
        *schedule == id && own.iter().any(|one| one.key == *key)
    };
    match given.iter().filter_map(|one| one.known.as_ref()).all(is_own) {
        true => Ok(()),
        false => Err(Error::missing()),
    }
}

fn set_variables(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    vault: &Vault,
    id: PipelineScheduleId,
    given: &[VariableInput],
) -> KernelResult<()> {
    ensure_known(tx, id, given)?;
    let with = (&Projects, vault);
    for one in given {
        let known: Vec<ScheduleVariable> = tx.schedule_variables(id)?;
        let has = |key: &str| known.iter().any(|other| other.key == key);
        match one.known.as_ref().map(|(_, key)| key.as_str()).filter(|key| has(key)) {
            Some(key) if one.goes => {
                variables::remove(tx, grant, id, key)?;
            }
            Some(key) if key == one.key => {
                variables::update(tx, grant, with, id, key, (Some(one.kind), Some(&one.value)))?;
            }
            renamed => {
                if let Some(key) = renamed {
                    variables::remove(tx, grant, id, key)?;
                }
                if !one.goes {
                    let new = (one.key.clone(), one.kind, &one.value);
                    variables::create(tx, grant, with, id, new)?;
                }
            }
        }
    }
    Ok(())
}

async fn create(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let home = located_project::at(context, input.text("projectPath")?).await?;
    let grant = home.grant::<CreatePipelines>().map_err(failure_of)?;
    let new = NewSchedule {
        description: input.text("description")?,
        ref_name: input.text("ref")?,
        cron: input.text("cron")?,
        cron_timezone: input.maybe_text("cronTimezone").unwrap_or_else(|| "UTC".to_owned()),
        active: input.maybe_bool("active").unwrap_or(true),
    };
    if new.ref_name.is_empty() {
        return payload(home, Err(Error::invalid("ref", "can't be blank")));
    }
    let (given, vault) = (given_variables(input)?, context.forge.vault.clone());
    let seen = new.clone();
    let next = context.forge.db.read(move |tx| Ok(NextRun::of_new(&seen, tx.now))).await;
    let next = next.map_err(failure_of)?;
    let made = context.forge.db.write(move |tx| {
        let made = actions::create(tx, &grant, &PlanLimits, new.clone(), &next)?;
        set_variables(tx, &grant.also()?, &vault, made.id, &given)?;
        Ok(made)
    });
    payload(home, made.await)
}

async fn update(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, row) = named(input, context).await?;
    let grant = home.grant::<ChangeSchedules>().map_err(failure_of)?;
    let change = ScheduleChange {
        description: input.maybe_text("description"),
        ref_name: input.maybe_text("ref"),
        cron: input.maybe_text("cron"),
        cron_timezone: input.maybe_text("cronTimezone"),
        active: input.maybe_bool("active"),
    };
    let (given, vault) = (given_variables(input)?, context.forge.vault.clone());
    let (project, id, seen) = (home.id(), row.id, change.clone());
    let next = context.forge.db.read(move |tx| NextRun::of_change(tx, project, id, &seen)).await;
    let next = next.map_err(failure_of)?;
    let changed = context.forge.db.write(move |tx| {
        let after = actions::update(tx, &grant, id, change.clone(), &next)?;
        set_variables(tx, &grant, &vault, id, &given)?;
        Ok(after)
    });
    payload(home, changed.await)
}
