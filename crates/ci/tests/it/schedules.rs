//! Schedules and trigger tokens: who keeps them, and when they are due.

use db::Tx;
use forgeway_ci::{
    policy::{ChangeSchedules, ChangeTriggers, CreatePipelines},
    schedule::{
        NewSchedule, Schedule, ScheduleChange, ScheduleStore as _,
        actions::{self, NextRun},
        archive::{begin_runs, next_runs},
        runs::{due_runs, queue_runs},
    },
    trigger::{self, TriggerToken},
};
use kernel::{
    Result, Ts,
    ids::{PipelineScheduleId, UserId},
};
use time::Duration;

use crate::world::{FakeForge, World, is_forbidden, test, wait};

fn nightly() -> NewSchedule {
    NewSchedule {
        description: "nightly".to_owned(),
        ref_name: "main".to_owned(),
        cron: "0 1 * * *".to_owned(),
        cron_timezone: "UTC".to_owned(),
        active: true,
    }
}

fn create(
    tx: &mut Tx<'_>,
    world: &World,
    by: UserId,
    new: NewSchedule,
    limit: i64,
) -> Result<Schedule> {
    let grant = world.may::<CreatePipelines>(by)?;
    let next = NextRun::of_new(&new, tx.now);
    actions::create(tx, &grant, &FakeForge { limit, ..FakeForge::default() }, new, &next)
}

fn rename(tx: &mut Tx<'_>, world: &World, by: UserId, one: &Schedule) -> Result<Schedule> {
    let grant = world.may::<ChangeSchedules>(by)?;
    let description = Some("renamed".to_owned());
    let change = ScheduleChange { description, ..ScheduleChange::default() };
    let next = NextRun::of_change(tx, world.project, one.id, &change)?;
    actions::update(tx, &grant, one.id, change, &next)
}

#[test]
fn a_schedule_is_changed_by_its_owner_alone() {
    test(|tx, world| {
        let made = create(tx, world, world.developer, nightly(), 0)?;
        assert!(is_forbidden(&rename(tx, world, world.owner, &made)));
        assert_eq!(rename(tx, world, world.developer, &made)?.description, "renamed");

        let grant = world.may::<ChangeSchedules>(world.owner)?;
        let taken = actions::take_ownership(tx, &grant, made.id)?;

        assert_eq!(taken.owner_id, Some(world.owner));
        assert!(is_forbidden(&rename(tx, world, world.developer, &made)));
        Ok(())
    });
}

#[test]
fn a_project_has_only_so_many_schedules() {
    test(|tx, world| {
        create(tx, world, world.developer, nightly(), 1)?;

        assert!(create(tx, world, world.developer, nightly(), 1).is_err());
        Ok(())
    });
}

#[test]
fn an_expression_that_means_nothing_is_refused() {
    test(|tx, world| {
        let odd = NewSchedule { cron: "every day".to_owned(), ..nightly() };
        assert!(create(tx, world, world.developer, odd, 0).is_err());
        let nowhere = NewSchedule { cron_timezone: "Nowhere/City".to_owned(), ..nightly() };
        assert!(create(tx, world, world.developer, nowhere, 0).is_err());
        Ok(())
    });
}

#[test]
fn a_schedule_that_is_due_runs_once() {
    test(|tx, world| {
        let made = create(tx, world, world.developer, nightly(), 0)?;
        assert!(due_runs(tx)?.is_empty());
        wait(tx, Duration::days(3));

        let due = due_runs(tx)?;
        assert_eq!(due.len(), 1, "runs that were missed count as one");
        queue_runs(tx, &due)?;

        let next = tx.schedule(world.project, made.id)?.next_run_at.expect("a time");
        assert!(next > tx.now && next <= tx.now.plus(Duration::days(1)));
        assert!(due_runs(tx)?.is_empty());
        Ok(())
    });
}

#[test]
fn a_schedule_of_a_copy_is_not_due_before_it_is_told_to_run() {
    test(|tx, world| {
        let made = create(tx, world, world.developer, nightly(), 0)?;
        tx.update_schedule(&Schedule { next_run_at: None, ..made.clone() })?;
        wait(tx, Duration::days(3));
        assert!(due_runs(tx)?.is_empty());

        let runs = next_runs(tx, world.project, PipelineScheduleId(0))?;
        assert!(next_runs(tx, world.project, made.id)?.is_empty(), "there is none behind it");
        begin_runs(tx, &runs)?;

        let next = tx.schedule(world.project, made.id)?.next_run_at;
        assert!(next > Some(tx.now) && next <= Some(tx.now.plus(Duration::days(1))), "{next:?}");
        assert!(next_runs(tx, world.project, PipelineScheduleId(0))?.is_empty());
        begin_runs(tx, &[(made.id, Some(Ts(1)))])?;
        assert_eq!(tx.schedule(world.project, made.id)?.next_run_at, next, "it stays");
        Ok(())
    });
}

#[test]
fn a_schedule_that_rests_is_never_due() {
    test(|tx, world| {
        create(tx, world, world.developer, NewSchedule { active: false, ..nightly() }, 0)?;

        wait(tx, Duration::days(3));

        assert!(due_runs(tx)?.is_empty());
        Ok(())
    });
}

#[test]
fn a_trigger_is_found_by_its_token_and_changed_by_its_owner() {
    test(|tx, world| {
        let grant = world.may::<ChangeTriggers>(world.owner)?;
        assert!(is_forbidden(&world.may::<ChangeTriggers>(world.developer)));
        let (token, forge) = (TriggerToken::generate(), FakeForge::default());
        let named = "deploy".to_owned();

        let made = trigger::actions::create(tx, &grant, &forge, &world.vault, named, &token)?;

        let found = trigger::actions::find(tx, &token)?.expect("a trigger");
        assert_eq!((found.id, found.owner_id), (made.id, world.owner));
        assert!(trigger::actions::find(tx, &TriggerToken::generate())?.is_none());
        assert!(!format!("{found:?}").contains(token.reveal()));
        Ok(())
    });
}
