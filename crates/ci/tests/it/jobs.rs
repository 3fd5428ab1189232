//! What people and time do with single jobs.

use forgeway_ci::{
    Status,
    job::{End, JobStore as _, JobVariableStore as _, actions, progress, queue::refuse},
    policy::{UpdateJobs, UpdatePipelines},
    ports::DeployRight,
};
use kernel::{Result, error::Kind};
use time::Duration;

use crate::world::{
    FakeForge, end, fail, is_forbidden, job, run, shown, statuses, succeed, test, wait,
};

const ASKS: &str = "stages: [build, ship]\nmake: {stage: build, script: x}\nship: {stage: ship, script: x, when: manual, allow_failure: false}\n";

#[test]
fn a_job_waits_for_a_person_who_may_set_variables_for_it() {
    test(|tx, world| {
        let id = world.pipeline(tx, ASKS)?;
        succeed(tx, id, "make")?;
        assert_eq!(
            (shown(tx, id)?, world.status(tx, id)?),
            ("make=success ship=manual".to_owned(), Status::Manual)
        );
        let (grant, forge) = (world.may::<UpdateJobs>(world.developer)?, FakeForge::default());
        let ship = job(tx, id, "ship")?.id;
        let set = [("LEVEL".to_owned(), "2".to_owned())];

        let played = actions::play(tx, &grant, &forge, &forge, ship, (&world.vault, &set))?;

        assert_eq!((played.status, played.user_id), (Status::Pending, Some(world.developer)));
        assert_eq!(tx.job_variables(&world.vault, ship)?, set);
        Ok(())
    });
}

#[test]
fn a_job_is_not_played_before_it_may_begin() {
    test(|tx, world| {
        let id = world.pipeline(tx, ASKS)?;
        let (ship, make) = (job(tx, id, "ship")?.id, job(tx, id, "make")?.id);
        let grant = world.may::<UpdateJobs>(world.owner)?;
        let mut play = |forge: &FakeForge, id| -> Result<Kind> {
            let played = actions::play(tx, &grant, forge, forge, id, (&world.vault, &[]));
            Ok(played.expect_err("it cannot be played").kind)
        };

        assert_eq!(play(&FakeForge::default(), make)?, Kind::BadRequest);
        assert_eq!(play(&FakeForge::default(), ship)?, Kind::BadRequest);
        let closed = FakeForge { closed: true, ..FakeForge::default() };
        assert_eq!(play(&closed, ship)?, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn a_job_that_awaits_approval_is_not_played() {
    test(|tx, world| {
        let id = world.pipeline(tx, "ship: {script: x, when: manual}")?;
        let ship = job(tx, id, "ship")?.id;
        let grant = world.may::<UpdateJobs>(world.owner)?;
        let forge = FakeForge { awaits_approval: true, ..FakeForge::default() };

        let played = actions::play(tx, &grant, &forge, &forge, ship, (&world.vault, &[]));

        assert_eq!(played.expect_err("it is not approved").kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn a_reporter_changes_the_jobs_of_environments_that_let_them_deploy() {
    test(|tx, world| {
        let id = world.pipeline(tx, "ship: {script: x, environment: prod}")?;
        let ship = job(tx, id, "ship")?.id;
        let grant = world.may::<UpdateJobs>(world.reporter)?;
        let forge = FakeForge::default();
        assert!(is_forbidden(&actions::cancel(tx, &grant, &forge, ship)));

        let deployer = FakeForge { deploy_right: DeployRight::Deployer, ..forge };

        assert_eq!(actions::cancel(tx, &grant, &deployer, ship)?.status, Status::Canceled);
        Ok(())
    });
}

#[test]
fn a_delayed_job_begins_in_time_or_by_hand() {
    test(|tx, world| {
        let id = world.pipeline(
            tx,
            "a: {script: x, when: delayed, start_in: 10 minutes}\nb: {script: x, when: delayed, start_in: 1 hour}\n",
        )?;
        assert_eq!(world.status(tx, id)?, Status::Scheduled);
        wait(tx, Duration::minutes(10));
        let due = tx.jobs_due(10)?;
        progress::start_due(tx, &due)?;
        assert_eq!(shown(tx, id)?, "a=pending b=scheduled");
        let (grant, b) = (world.may::<UpdateJobs>(world.developer)?, job(tx, id, "b")?.id);

        let taken = actions::unschedule(tx, &grant, &FakeForge::default(), b)?;

        assert_eq!((taken.status, taken.scheduled_at), (Status::Manual, None));
        Ok(())
    });
}

#[test]
fn a_retried_job_is_a_new_one_and_wakes_who_was_skipped() {
    test(|tx, world| {
        let text = "stages: [build, test]\nmake: {stage: build, script: x}\nunit: {stage: test, script: x}\n";
        let id = world.pipeline(tx, text)?;
        let first = end(tx, id, "make", End::failed("script_failure"))?;
        let grant = world.may::<UpdateJobs>(world.owner)?;

        let again = actions::retry(tx, &grant, &FakeForge::default(), first.id)?;

        assert_ne!(again.id, first.id);
        assert!(tx.job(first.id)?.retried);
        assert_eq!(again.user_id, Some(world.owner));
        assert_eq!(shown(tx, id)?, "make=pending unit=created");
        let twice = actions::retry(tx, &grant, &FakeForge::default(), first.id);
        assert!(is_forbidden(&twice));
        Ok(())
    });
}

#[test]
fn whoever_lets_a_job_run_again_has_done_what_waits_for_it_with_rights_of_their_own() {
    test(|tx, world| {
        let text = "make: {stage: build, script: x}\nunit: {script: x}\nship: {stage: deploy, script: x, when: manual}\n";
        let id = world.pipeline(tx, text)?;
        fail(tx, id, "make")?;
        assert_eq!(job(tx, id, "unit")?.user_id, Some(world.developer));
        let first = job(tx, id, "make")?.id;
        let grant = world.may::<UpdateJobs>(world.owner)?;

        actions::retry(tx, &grant, &FakeForge::default(), first)?;

        assert_eq!(shown(tx, id)?, "make=pending unit=created ship=created");
        for name in ["make", "unit", "ship"] {
            assert_eq!(job(tx, id, name)?.user_id, Some(world.owner), "{name}");
        }
        Ok(())
    });
}

#[test]
fn an_archived_job_is_changed_by_nobody() {
    test(|tx, world| {
        let id = world.pipeline(tx, "unit: {script: x}")?;
        let failed = end(tx, id, "unit", End::failed("script_failure"))?;
        let grant = world.may::<UpdateJobs>(world.owner)?;
        let forge = FakeForge { archived_before: Some(tx.now), ..FakeForge::default() };

        assert!(is_forbidden(&actions::retry(tx, &grant, &forge, failed.id)));
        Ok(())
    });
}

#[test]
fn a_job_is_tried_again_as_often_as_its_configuration_says() {
    test(|tx, world| {
        let id = world.pipeline(tx, "unit: {script: x, retry: 1}")?;
        fail(tx, id, "unit")?;
        assert_eq!(shown(tx, id)?, "unit=pending");

        fail(tx, id, "unit")?;

        assert_eq!(shown(tx, id)?, "unit=failed");
        assert_eq!(job(tx, id, "unit")?.attempt, 1);
        Ok(())
    });
}

#[test]
fn an_archived_job_is_not_tried_again_by_itself() {
    test(|tx, world| {
        let id = world.pipeline(tx, "unit: {script: x, retry: 2}")?;
        let unit = run(tx, id, "unit")?;
        let archived_before = Some(tx.now);
        wait(tx, Duration::days(2));

        progress::finish_unarchived(tx, unit, End::failed("script_failure"), archived_before)?;

        assert_eq!(shown(tx, id)?, "unit=failed");
        Ok(())
    });
}

#[test]
fn an_exit_code_may_be_no_harm() {
    test(|tx, world| {
        let text = "unit: {script: x, allow_failure: {exit_codes: [42]}}";
        let id = world.pipeline(tx, text)?;
        let reason = "script_failure".to_owned();

        let failed = end(tx, id, "unit", End::Failed { reason, exit_code: Some(42) })?;

        assert!(failed.allow_failure);
        assert_eq!(world.status(tx, id)?, Status::Success);
        Ok(())
    });
}

#[test]
fn what_no_runner_takes_is_refused_once() {
    test(|tx, world| {
        let id = world.pipeline(tx, "unit: {script: x}")?;
        let unit = job(tx, id, "unit")?.id;

        let refused = refuse(tx, unit, "runner_unsupported", None)?.expect("a job");

        assert_eq!(refused.failure_reason.as_deref(), Some("runner_unsupported"));
        assert!(refuse(tx, unit, "runner_unsupported", None)?.is_none());
        Ok(())
    });
}

#[test]
fn what_waits_runs_or_is_delayed_for_too_long_is_stale() {
    test(|tx, world| {
        let text = "waits: {script: x}\nruns: {script: x, timeout: 3 hours}\nshort: {script: x, timeout: 10 minutes}\nlate: {script: x, when: delayed, start_in: 10 minutes}\n";
        let id = world.pipeline(tx, text)?;
        run(tx, id, "runs")?;
        run(tx, id, "short")?;

        wait(tx, Duration::minutes(11));
        let stale = progress::stale(tx, 10)?;
        assert_eq!(stale, [(job(tx, id, "short")?.id, "job_execution_timeout")]);
        progress::drop_stale(tx, &stale, None)?;
        wait(tx, Duration::minutes(60));
        let stale = progress::stale(tx, 10)?;
        progress::drop_stale(tx, &stale, None)?;

        let reason = |tx: &mut db::Tx<'_>, name: &str| -> Result<Option<String>> {
            Ok(job(tx, id, name)?.failure_reason)
        };
        assert_eq!(reason(tx, "runs")?.as_deref(), Some("stuck_or_timeout_failure"));
        assert_eq!(reason(tx, "late")?.as_deref(), Some("stale_schedule"));
        assert_eq!(job(tx, id, "waits")?.status, Status::Pending);
        wait(tx, Duration::days(1));
        let stale = progress::stale(tx, 10)?;
        progress::drop_stale(tx, &stale, None)?;
        assert_eq!(reason(tx, "waits")?.as_deref(), Some("stuck_or_timeout_failure"));
        Ok(())
    });
}

#[test]
fn a_log_is_erased_by_maintainers_and_by_whoever_began_the_job() {
    test(|tx, world| {
        let id = world.pipeline(tx, "unit: {script: x}")?;
        let unit = job(tx, id, "unit")?.id;
        let grant = world.may::<UpdatePipelines>(world.developer)?;
        let forge = FakeForge::default();
        assert!(is_forbidden(&actions::erase(tx, &grant, &forge, unit)), "it has not run");
        succeed(tx, id, "unit")?;
        let closed = FakeForge { closed: true, ..FakeForge::default() };
        assert!(is_forbidden(&actions::erase(tx, &grant, &closed, unit)));

        assert_eq!(actions::erase(tx, &grant, &forge, unit)?.erased_at, Some(tx.now));

        assert_eq!(statuses(tx, id)?, [("unit".to_owned(), Status::Success)]);
        Ok(())
    });
}
