//! Pipelines as they are made, replaced, canceled and taken away.

use forgeway_ci::{
    Status,
    job::permission::updatable_pipelines,
    pipeline::{
        ActivityStore as _, Content, NewPipeline, PipelineStore as _, PipelineVariable,
        PipelineVariableStore as _, Source, control,
        creation::{cancel_outdated, create},
    },
    policy::{DeletePipelines, ReadPipelines, UpdatePipelines},
};
use time::Duration;

use crate::world::{FakeForge, SHA, fail, is_forbidden, run, shown, succeed, test, wait};

const STAGES: &str =
    "stages: [build, test]\nmake: {stage: build, script: x}\nunit: {stage: test, script: x}\n";

#[test]
fn the_first_stage_waits_for_a_runner_and_the_next_for_the_first() {
    test(|tx, world| {
        let id = world.pipeline(tx, STAGES)?;
        assert_eq!(shown(tx, id)?, "make=pending unit=created");

        succeed(tx, id, "make")?;
        assert_eq!(shown(tx, id)?, "make=success unit=pending");
        assert_eq!(world.status(tx, id)?, Status::Running);
        succeed(tx, id, "unit")?;
        assert_eq!(world.status(tx, id)?, Status::Success);
        Ok(())
    });
}

#[test]
fn a_pipeline_knows_how_long_its_jobs_ran() {
    test(|tx, world| {
        let id = world.pipeline(tx, STAGES)?;
        wait(tx, Duration::seconds(5));
        run(tx, id, "make")?;
        wait(tx, Duration::seconds(60));
        let make = crate::world::job(tx, id, "make")?.id;
        forgeway_ci::job::progress::finish(tx, make, forgeway_ci::job::End::Success)?;
        wait(tx, Duration::seconds(30));
        fail(tx, id, "unit")?;

        let ended = tx.find_pipeline(world.project, id)?.expect("a pipeline");
        assert_eq!((ended.queued_duration(), ended.duration), (Some(5), Some(60)));
        assert_eq!(ended.finished_at, Some(tx.now));
        Ok(())
    });
}

#[test]
fn what_is_wrong_with_a_configuration_is_a_failed_pipeline() {
    test(|tx, world| {
        let sentence = "jobs config should contain at least one visible job".to_owned();
        let broken = Content::Broken { reason: "config_error", sentence: sentence.clone() };
        let failed = create(tx, &world.vault, world.push(), &broken)?;
        let skipped = create(tx, &world.vault, world.push(), &Content::Skipped)?;

        assert_eq!((failed.status, failed.yaml_errors), (Status::Failed, Some(sentence)));
        assert_eq!(failed.failure_reason.as_deref(), Some("config_error"));
        assert_eq!((skipped.status, shown(tx, skipped.id)?), (Status::Skipped, String::new()));
        Ok(())
    });
}

#[test]
fn each_project_counts_its_pipelines_and_a_reserved_number_is_kept() {
    test(|tx, world| {
        let reserved = tx.reserve_pipeline_iid(world.project)?;
        let next = world.made(tx, world.push(), STAGES)?;
        let late = world.made(tx, NewPipeline { iid: Some(reserved), ..world.push() }, STAGES)?;
        let elsewhere = NewPipeline { project: world.other, ..world.push() };

        assert_eq!((late.iid, next.iid), (1, 2));
        assert_eq!(world.made(tx, elsewhere, STAGES)?.iid, 1);
        Ok(())
    });
}

#[test]
fn the_variables_of_a_pipeline_are_for_maintainers_and_whoever_set_them() {
    test(|tx, world| {
        let variables = vec![PipelineVariable::plain("LEVEL", "2")];
        let new = NewPipeline { variables: variables.clone(), ..world.push() };
        let id = world.made(tx, new, STAGES)?.id;
        let ports = (&FakeForge::default(), &FakeForge::default());
        let mut read = |user| -> kernel::Result<Vec<PipelineVariable>> {
            let grant = world.may::<ReadPipelines>(user)?;
            control::variables(tx, &grant, ports, &world.vault, id)
        };

        assert_eq!(read(world.owner)?, variables);
        assert_eq!(read(world.developer)?, variables);
        assert!(is_forbidden(&read(world.reporter)));
        assert_eq!(tx.pipeline_variables(&world.vault, id)?, variables);
        Ok(())
    });
}

#[test]
fn a_variable_without_a_sound_name_makes_no_pipeline() {
    test(|tx, world| {
        let variables = vec![PipelineVariable::plain("NO-NAME", "x")];
        let new = NewPipeline { variables, ..world.push() };

        assert!(world.made(tx, new, STAGES).is_err());
        assert_eq!(tx.newest_of_branch(world.project, "main")?, None);
        Ok(())
    });
}

#[test]
fn a_newer_pipeline_of_a_branch_ends_the_older_one() {
    test(|tx, world| {
        let interruptible = "unit: {script: x, interruptible: true}";
        let older = world.pipeline(tx, interruptible)?;
        wait(tx, Duration::seconds(1));
        let sha = "2".repeat(40);
        let newer = world.made(tx, NewPipeline { sha, ..world.push() }, interruptible)?;

        assert!(!cancel_outdated(tx, &newer, None)?);

        let ended = tx.find_pipeline(world.project, older)?.expect("a pipeline");
        assert_eq!((ended.status, ended.auto_canceled_by), (Status::Canceled, Some(newer.id)));
        assert_eq!(world.status(tx, newer.id)?, Status::Pending);
        Ok(())
    });
}

#[test]
fn a_pipeline_with_a_job_that_must_not_be_interrupted_goes_on() {
    test(|tx, world| {
        let older = world.pipeline(tx, "deploy: {script: x}")?;
        run(tx, older, "deploy")?;
        wait(tx, Duration::seconds(1));
        let sha = "2".repeat(40);
        let newer = world.made(tx, NewPipeline { sha, ..world.push() }, "deploy: {script: x}")?;

        cancel_outdated(tx, &newer, None)?;

        assert_eq!(world.status(tx, older)?, Status::Running);
        Ok(())
    });
}

#[test]
fn a_late_pipeline_of_an_older_commit_leaves_that_of_the_newest_alone() {
    test(|tx, world| {
        let text = "unit: {script: x, interruptible: true}";
        let newest = world.pipeline(tx, text)?;
        wait(tx, Duration::seconds(1));
        let sha = "2".repeat(40);
        let late = world.made(tx, NewPipeline { sha, ..world.push() }, text)?;

        assert!(!cancel_outdated(tx, &late, Some(SHA))?);
        assert_eq!(world.status(tx, newest)?, Status::Pending);

        cancel_outdated(tx, &late, Some(&"3".repeat(40)))?;
        assert_eq!(world.status(tx, newest)?, Status::Canceled);
        Ok(())
    });
}

#[test]
fn an_archived_pipeline_is_changed_by_nobody() {
    test(|tx, world| {
        let variables = vec![PipelineVariable::plain("LEVEL", "2")];
        let id = world.made(tx, NewPipeline { variables, ..world.push() }, STAGES)?.id;
        fail(tx, id, "make")?;
        let grant = world.may::<UpdatePipelines>(world.owner)?;
        let old = FakeForge { archived_before: Some(tx.now), ..FakeForge::default() };

        assert!(is_forbidden(&control::retry(tx, &grant, &old, id)));
        assert!(is_forbidden(&control::cancel(tx, &grant, &old, id)));
        assert!(is_forbidden(&control::rename(tx, &grant, &old, id, "nightly")));
        let pipeline = tx.find_pipeline(world.project, id)?.expect("a pipeline");
        assert!(updatable_pipelines(tx, &grant, &old, &[pipeline])?.is_empty());
        let reader = world.may::<ReadPipelines>(world.developer)?;
        let read = control::variables(tx, &reader, (&old, &old), &world.vault, id);
        assert!(is_forbidden(&read), "only Maintainers still read its variables");
        Ok(())
    });
}

#[test]
fn children_do_not_count_among_the_pipelines_of_a_person() {
    test(|tx, world| {
        let child = NewPipeline { source: Source::ParentPipeline, ..world.push() };
        world.pipeline(tx, STAGES)?;
        world.made(tx, child, STAGES)?;

        let made = tx.count_pipelines_for(world.project, world.developer, SHA, tx.now)?;

        assert_eq!(made, 1);
        Ok(())
    });
}

#[test]
fn all_that_has_not_ended_is_canceled_at_once() {
    test(|tx, world| {
        let id = world.pipeline(tx, STAGES)?;
        succeed(tx, id, "make")?;
        let grant = world.may::<UpdatePipelines>(world.developer)?;

        control::cancel(tx, &grant, &FakeForge::default(), id)?;

        assert_eq!(shown(tx, id)?, "make=success unit=canceled");
        assert_eq!(world.status(tx, id)?, Status::Canceled);
        let closed = FakeForge { closed: true, ..FakeForge::default() };
        assert!(is_forbidden(&control::cancel(tx, &grant, &closed, id)));
        Ok(())
    });
}

#[test]
fn a_pipeline_is_retried_where_it_failed() {
    test(|tx, world| {
        let text = "stages: [build, test]\ngood: {stage: build, script: x}\nbad: {stage: build, script: x}\nunit: {stage: test, script: x}\n";
        let id = world.pipeline(tx, text)?;
        let good = crate::world::job(tx, id, "good")?.id;
        succeed(tx, id, "good")?;
        fail(tx, id, "bad")?;
        assert_eq!(shown(tx, id)?, "good=success bad=failed unit=skipped");
        let grant = world.may::<UpdatePipelines>(world.owner)?;

        let told = control::retry(tx, &grant, &FakeForge::default(), id)?;

        assert_eq!(told.status, Status::Pending);
        assert_eq!(crate::world::job(tx, id, "good")?.id, good);
        assert_eq!(crate::world::job(tx, id, "bad")?.user_id, Some(world.owner));
        assert_eq!(crate::world::job(tx, id, "unit")?.status, Status::Created);
        Ok(())
    });
}

#[test]
fn only_owners_take_a_pipeline_away() {
    test(|tx, world| {
        let id = world.pipeline(tx, STAGES)?;
        assert!(is_forbidden(&world.may::<DeletePipelines>(world.developer)));
        let grant = world.may::<DeletePipelines>(world.owner)?;

        control::delete(tx, &grant, id, None)?;

        assert_eq!(tx.find_pipeline(world.project, id)?, None);
        Ok(())
    });
}
