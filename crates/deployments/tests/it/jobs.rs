//! Deployments that jobs do.

use db::Tx;
use forgeway_deployments::{
    deployment::{
        Deployment, DeploymentStatus, DeploymentStore as _, StatusReport,
        actions::update,
        jobs::{
            AutoStop, DeployJob, EnvironmentTerms, Outcome, begin, is_outdated, mirror,
            not_stopped, note_terms, of_job, set_terms, stopped,
        },
    },
    environment::{Environment, EnvironmentState, EnvironmentStep, Tier, actions::step},
    policy::ChangeDeployments,
};
use kernel::{
    Result, Ts,
    error::Kind,
    ids::{JobId, UserId},
};
use time::Duration;

use crate::world::{World, test, wait};

fn begun(
    tx: &mut Tx<'_>,
    world: &World,
    environment: &Environment,
    (job, sha): (i64, &str),
) -> Result<Deployment> {
    let job = DeployJob {
        job: JobId(job),
        project: world.project,
        user: Some(world.developer),
        ref_name: "main".to_owned(),
        tag: false,
        sha: sha.to_owned(),
        on_stop: None,
    };
    begin(tx, job, environment)
}

fn go(tx: &mut Tx<'_>, deployment: Deployment, status: DeploymentStatus) -> Result<Deployment> {
    mirror(tx, deployment, status, None)
}

#[test]
fn a_deployment_says_how_far_its_job_is() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let made = begun(tx, world, &one, (1, "a"))?;
        assert_eq!(made.status, DeploymentStatus::Created);
        let running = go(tx, made, DeploymentStatus::Running)?;
        // The runner hung up before it knew of the job.
        let waiting = go(tx, running, DeploymentStatus::Created)?;
        assert_eq!(waiting.status, DeploymentStatus::Created);
        let running = go(tx, waiting, DeploymentStatus::Running)?;

        let done = go(tx, running, DeploymentStatus::Success)?;

        assert_eq!((done.status, done.finished_at), (DeploymentStatus::Success, Some(tx.now)));
        Ok(())
    });
}

#[test]
fn what_was_skipped_waits_again_when_its_job_does() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let made = begun(tx, world, &one, (1, "a"))?;
        let skipped = go(tx, made, DeploymentStatus::Skipped)?;
        assert_eq!(skipped.status, DeploymentStatus::Skipped);
        let again = go(tx, skipped, DeploymentStatus::Created)?;
        assert_eq!(again.status, DeploymentStatus::Created);
        // What has ended stays so, whatever its job waits for.
        let failed = go(tx, again, DeploymentStatus::Failed)?;
        assert_eq!(go(tx, failed.clone(), DeploymentStatus::Created)?, failed);
        Ok(())
    });
}

#[test]
fn who_plays_a_job_is_who_deploys() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let made = begun(tx, world, &one, (1, "a"))?;
        let by: Option<UserId> = Some(world.maintainer);
        let running = mirror(tx, made, DeploymentStatus::Running, by)?;
        assert_eq!(tx.deployment(world.project, running.id)?.unwrap().user_id, by);
        Ok(())
    });
}

#[test]
fn nobody_reports_what_a_job_does() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let made = begun(tx, world, &one, (1, "a"))?;
        let grant = world.may::<ChangeDeployments>(world.maintainer)?;
        let refused = update(tx, &grant, &world.members, made.id, StatusReport::Success);
        assert_eq!(refused.unwrap_err().kind, Kind::Forbidden);
        Ok(())
    });
}

#[test]
fn outdated_is_what_something_newer_of_another_commit_overtook() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let old = begun(tx, world, &one, (1, "a"))?;
        let same = begun(tx, world, &one, (2, "b"))?;
        let newer = begun(tx, world, &one, (3, "b"))?;
        assert!(!is_outdated(tx, &old)?);

        let newer = go(tx, newer, DeploymentStatus::Success)?;

        assert!(is_outdated(tx, &old)? && !is_outdated(tx, &same)?);
        // What was there before comes back by a job of its own.
        wait(tx, Duration::hours(1));
        let back = begun(tx, world, &one, (4, "a"))?;
        assert!(!is_outdated(tx, &back)?);
        let back = go(tx, back, DeploymentStatus::Success)?;
        assert_eq!(tx.last_deployment(one.id)?.map(|last| last.id), Some(back.id));
        assert_eq!(tx.previous_deployment(&back)?.map(|before| before.id), Some(newer.id));
        Ok(())
    });
}

#[test]
fn an_environment_is_left_as_its_job_said() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let outcome = |url: &str, auto_stop| Outcome {
            url: Some(url.to_owned()),
            auto_stop,
            tier: Some(Tier::Testing),
        };
        let timed = set_terms(tx, one, outcome("https://a.example.com", AutoStop::At(Ts(7))))?;
        assert_eq!(timed.external_url.as_deref(), Some("https://a.example.com"));
        assert_eq!((timed.auto_stop_at, timed.tier), (Some(Ts(7)), Tier::Testing));
        let same = set_terms(tx, timed, outcome("javascript:alert(1)", AutoStop::Unchanged))?;
        assert_eq!(same.external_url.as_deref(), Some("https://a.example.com"));
        assert_eq!(same.auto_stop_at, Some(Ts(7)));

        let free = set_terms(tx, same, outcome("https://b.example.com", AutoStop::Never))?;

        assert_eq!(free.auto_stop_at, None);
        Ok(())
    });
}

#[test]
fn what_a_job_was_told_of_its_environment_is_kept() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        begun(tx, world, &one, (1, "a"))?;
        let terms = |url: Option<&str>, term: Option<&str>| EnvironmentTerms {
            url: url.map(str::to_owned),
            auto_stop_in: term.map(str::to_owned),
        };
        note_terms(tx, JobId(1), &terms(Some("https://a.example.com"), None))?;
        note_terms(tx, JobId(1), &terms(None, Some("2 days")))?;
        note_terms(tx, JobId(9), &terms(None, Some("3 days")))?;

        let known = of_job(tx, JobId(1))?.unwrap();
        assert_eq!(known.environment_url.as_deref(), Some("https://a.example.com"));
        assert_eq!(known.auto_stop_in.as_deref(), Some("2 days"));
        Ok(())
    });
}

#[test]
fn a_job_that_stops_an_environment_may_fail() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let stopping = step(tx, one, EnvironmentStep::Stop)?;
        assert_eq!(stopping.state, EnvironmentState::Stopping);
        let back = not_stopped(tx, stopping)?;
        assert_eq!(back.state, EnvironmentState::Available);
        let gone = stopped(tx, back)?;
        assert_eq!(not_stopped(tx, gone)?.state, EnvironmentState::Stopped);
        Ok(())
    });
}
