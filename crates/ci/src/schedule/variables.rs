//! Variables of pipeline schedules.

use db::Tx;
use kernel::{AccessLevel::Maintainer, Error, Faults, Grant, Result, ids::PipelineScheduleId};
use secrets::{Secret, Vault};

use super::{
    Schedule, ScheduleStore as _, ScheduleVariable,
    rules::{MOST_VARIABLES, ensure_keeper, ensure_may_change},
};
use crate::{
    config::variables::Variable,
    pipeline::LONGEST_VALUE,
    policy::ChangeSchedules,
    ports::Projects,
    variable::{VariableType, name_faults},
};

const NOUN: &str = "Pipeline Schedule Variable";

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    id: PipelineScheduleId,
    key: &str,
) -> Result<ScheduleVariable> {
    let schedule = tx.schedule(grant.project(), id)?;
    ensure_keeper(grant.who(), &schedule)?;
    one(tx, &schedule, key)
}

pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    (projects, vault): (&impl Projects, &Vault),
    id: PipelineScheduleId,
    (key, kind, value): (String, VariableType, &Secret),
) -> Result<ScheduleVariable> {
    let schedule = changeable(tx, grant, id)?;
    ensure_may_set(tx, grant, projects)?;
    let key = key.trim().to_owned();
    let mut faults = Faults::default();
    name_faults(&mut faults, &key);
    let others = tx.schedule_variables(id)?;
    if others.iter().any(|other| other.key == key) {
        faults.add("key", "has already been taken");
    }
    if others.len() >= MOST_VARIABLES {
        faults.add("base", format!("Maximum number of variables ({MOST_VARIABLES}) exceeded"));
    }
    check_value(faults, value)?;
    let sealed = seal(vault, id, &key, value)?;
    let made = ScheduleVariable { schedule_id: schedule.id, key, kind, sealed };
    tx.insert_schedule_variable(&made)?;
    Ok(made)
}

/// Changes a variable; what is `None` stays.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    (projects, vault): (&impl Projects, &Vault),
    id: PipelineScheduleId,
    key: &str,
    (kind, value): (Option<VariableType>, Option<&Secret>),
) -> Result<ScheduleVariable> {
    let schedule = changeable(tx, grant, id)?;
    ensure_may_set(tx, grant, projects)?;
    let mut variable = one(tx, &schedule, key)?;
    variable.kind = kind.unwrap_or(variable.kind);
    if let Some(value) = value {
        check_value(Faults::default(), value)?;
        variable.sealed = seal(vault, id, key, value)?;
    }
    tx.update_schedule_variable(&variable)?;
    Ok(variable)
}

/// Takes a variable away, and tells what it was.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    id: PipelineScheduleId,
    key: &str,
) -> Result<ScheduleVariable> {
    let schedule = changeable(tx, grant, id)?;
    let variable = one(tx, &schedule, key)?;
    tx.delete_schedule_variable(id, key)?;
    Ok(variable)
}

/// What a pipeline of the schedule is told by it.
pub fn for_pipeline(
    tx: &mut Tx<'_>,
    vault: &Vault,
    id: PipelineScheduleId,
) -> Result<Vec<Variable>> {
    let found = tx.schedule_variables(id)?.into_iter();
    let told = |variable: ScheduleVariable| {
        let value = variable.value(vault)?.into_revealed();
        let file = variable.kind == VariableType::File;
        Ok(Variable { file, ..Variable::secret(variable.key, value) })
    };
    found.map(told).collect()
}

fn changeable(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    id: PipelineScheduleId,
) -> Result<Schedule> {
    let schedule = tx.schedule(grant.project(), id)?;
    ensure_may_change(grant.who(), &schedule)?;
    Ok(schedule)
}

/// Where only Maintainers set variables for pipelines, they alone do it for those of a schedule. Runs do not ask again.
fn ensure_may_set(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    projects: &impl Projects,
) -> Result<()> {
    match grant.who().is(Maintainer) || !projects.restricts_variables(tx, grant.project())? {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}

fn one(tx: &mut Tx<'_>, schedule: &Schedule, key: &str) -> Result<ScheduleVariable> {
    let mut found = tx.schedule_variables(schedule.id)?;
    found.retain(|variable| variable.key == key);
    found.pop().ok_or_else(|| Error::not_found(NOUN))
}

fn check_value(mut faults: Faults, value: &Secret) -> Result<()> {
    faults.at_most("value", Some(value.reveal()), LONGEST_VALUE);
    faults.into_result()
}

fn seal(vault: &Vault, id: PipelineScheduleId, key: &str, value: &Secret) -> Result<String> {
    vault.seal(&ScheduleVariable::place(id, key), value).map_err(Error::internal)
}
