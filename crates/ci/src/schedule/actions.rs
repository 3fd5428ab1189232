//! Reading, making, changing and taking away schedules.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    ids::{PipelineScheduleId, ProjectId},
    page::{Page, PageRequest},
};

use super::{
    NewSchedule, Schedule, ScheduleChange, ScheduleScope, ScheduleStore as _, Timing,
    rules::{self, ensure_keeper, ensure_may_change},
};
use crate::{
    pipeline::actions::ensure_shown,
    policy::{ChangeSchedules, CreatePipelines, ReadSchedules},
    ports::{PlanLimits, Projects, excess},
};

pub use super::rules::{is_keeper, may_change};

/// A page of a project's schedules.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadSchedules>,
    projects: &impl Projects,
    rest: Option<ScheduleScope>,
    page: PageRequest,
) -> Result<Page<Schedule>> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.schedules(grant.project(), rest, page)
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadSchedules>,
    projects: &impl Projects,
    id: PipelineScheduleId,
) -> Result<Schedule> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.schedule(grant.project(), id)
}

pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<CreatePipelines>,
    limits: &impl PlanLimits,
    new: NewSchedule,
    next_run: &NextRun,
) -> Result<Schedule> {
    let NewSchedule { description, ref_name, cron, cron_timezone, active } = new;
    let mut schedule = Schedule {
        id: PipelineScheduleId(0),
        project_id: grant.project(),
        owner_id: Some(grant.user()?),
        description,
        ref_name,
        cron,
        cron_timezone,
        next_run_at: None,
        active,
        created_at: tx.now,
        updated_at: tx.now,
    };
    schedule.next_run_at = next_run.of_row(&schedule, tx.now)?;
    let made = tx.insert_schedule(&schedule)?;
    let (count, limit) = (tx.count_schedules(grant.project())?, limits.schedules(tx)?);
    let excess = excess("ci pipeline schedules", count, limit);
    excess.map_or(Ok(made), |text| Err(Error::invalid("base", text)))
}

pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    id: PipelineScheduleId,
    change: ScheduleChange,
    next_run: &NextRun,
) -> Result<Schedule> {
    let before = tx.schedule(grant.project(), id)?;
    ensure_may_change(grant.who(), &before)?;
    let ScheduleChange { description, ref_name, cron, cron_timezone, active } = change;
    let mut after = Schedule {
        description: description.unwrap_or_else(|| before.description.clone()),
        ref_name: ref_name.unwrap_or_else(|| before.ref_name.clone()),
        cron: cron.unwrap_or_else(|| before.cron.clone()),
        cron_timezone: cron_timezone.unwrap_or_else(|| before.cron_timezone.clone()),
        active: active.unwrap_or(before.active),
        updated_at: tx.now,
        ..before.clone()
    };
    let next = next_run.of_row(&after, tx.now)?;
    let is_same = (&before.cron, &before.cron_timezone) == (&after.cron, &after.cron_timezone);
    // A turn that is due is not passed over by a change of something else.
    if !is_same || !before.active {
        after.next_run_at = next;
    }
    tx.update_schedule(&after)?;
    Ok(after)
}

/// Makes a schedule the caller's own: from now on its pipelines run with their rights.
pub fn take_ownership(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    id: PipelineScheduleId,
) -> Result<Schedule> {
    let before = tx.schedule(grant.project(), id)?;
    ensure_keeper(grant.who(), &before)?;
    let after = Schedule { owner_id: Some(grant.user()?), updated_at: tx.now, ..before };
    tx.update_schedule(&after)?;
    Ok(after)
}

/// Takes a schedule away, unless it changed after `unmodified_since`.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeSchedules>,
    id: PipelineScheduleId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let schedule = tx.schedule(grant.project(), id)?;
    ensure_keeper(grant.who(), &schedule)?;
    schedule.updated_at.ensure_unchanged_since(unmodified_since)?;
    tx.delete_schedule(id)
}

/// When a schedule is due next. Worked out before the transaction that writes it, since days of many years are looked
/// through for a rare expression.
#[derive(Clone, Debug)]
pub struct NextRun {
    cron: String,
    cron_timezone: String,
    at: Option<Ts>,
    faults: Faults,
}

impl NextRun {
    /// Of a schedule that somebody asks for.
    pub fn of_new(new: &NewSchedule, now: Ts) -> Self {
        Self::of(&new.cron, &new.cron_timezone, now)
    }

    /// Of a schedule as a change will make it.
    ///
    /// # Errors
    /// When there is no such schedule.
    pub fn of_change(
        tx: &mut Tx<'_>,
        project: ProjectId,
        id: PipelineScheduleId,
        change: &ScheduleChange,
    ) -> Result<Self> {
        let before = tx.schedule(project, id)?;
        let cron = change.cron.as_ref().unwrap_or(&before.cron);
        let zone = change.cron_timezone.as_ref().unwrap_or(&before.cron_timezone);
        Ok(Self::of(cron, zone, tx.now))
    }

    fn of(cron: &str, cron_timezone: &str, now: Ts) -> Self {
        let mut faults = Faults::default();
        let timing = Timing::read(cron, cron_timezone, &mut faults);
        let at = timing.and_then(|timing| timing.first(now, &mut faults));
        Self { cron: cron.to_owned(), cron_timezone: cron_timezone.to_owned(), at, faults }
    }

    /// For a schedule as it is written now; says everything that is wrong with it. Somebody else may have changed it.
    fn of_row(&self, schedule: &Schedule, now: Ts) -> Result<Option<Ts>> {
        let Schedule { description, ref_name, cron, cron_timezone, .. } = schedule;
        let known = match (&self.cron, &self.cron_timezone) == (cron, cron_timezone) {
            true => self.clone(),
            false => Self::of(cron, cron_timezone, now),
        };
        let mut faults = rules::faults(description, ref_name);
        for (field, texts) in known.faults.into_fields() {
            faults.add_each(&field, texts);
        }
        faults.into_result()?;
        Ok(known.at)
    }
}
