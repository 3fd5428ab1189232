//! Pipelines of one project that become those of another one, as archives bring them.

use std::{collections::HashMap, sync::Arc};

use db::{
    Tx,
    archive::{Cell, Names, Relation, RowPages, cells, insert},
};
use forgeway_ci::{
    Status,
    archive::{
        PipelineBounds, RELATIONS, complete_jobs, cut_circles, end_pipelines,
        has_oversized_pipeline, restore_counters,
    },
    job::{JobStore as _, SpecStore as _, actions},
    pipeline::{NewPipeline, Pipeline, PipelineStore as _, control},
    policy::{UpdateJobs, UpdatePipelines},
};
use kernel::{
    Error, Result,
    ids::{JobId, PipelineId, ProjectId},
};
use serde_json::Value;

use crate::world::{FakeForge, SHA, World, job, run, shown, succeed, test};

const TEXT: &str = "make: {stage: build, script: x, tags: [linux]}\nunit: {script: x}\n\
                    ship: {stage: deploy, script: x, when: manual}\n";

/// Brings what ran in one project into another one; who has an account there is known.
fn copy(tx: &mut Tx<'_>, world: &World, from: ProjectId, to: ProjectId) -> Result<()> {
    let people = Arc::new(HashMap::from([(world.developer.0, world.developer.0)]));
    let (home, importer) = (to.0, world.owner.0);
    let mut names = Names { home, importer, people, ..Names::default() };
    for relation in RELATIONS {
        let rows = RowPages::new(relation, from.0).read(tx, 100)?;
        let ids: Vec<i64> =
            rows.iter().filter_map(|row| row.get("id").and_then(Value::as_i64)).collect();
        let values = rows.iter().map(|row| cells(relation, row, &names).expect("a sound row"));
        let values: Vec<Vec<Cell>> = values.map(|row| row.expect("nothing is missing")).collect();
        let made = insert(tx, relation, &values)?;
        if relation.name == "jobs" {
            complete_jobs(tx, &made, world.owner)?;
        }
        let pairs = ids.into_iter().zip(made);
        names.rows.extend(pairs.map(|(source, target)| ((relation.table, source), target)));
    }
    end_pipelines(tx, to, PipelineId(0))?;
    restore_counters(tx, to)
}

fn newest(tx: &mut Tx<'_>, project: ProjectId) -> Result<Pipeline> {
    tx.newest_of_branch(project, "main")?.ok_or_else(Error::missing)
}

fn relation(name: &str) -> &'static Relation {
    RELATIONS.iter().find(|relation| relation.name == name).expect("a relation of that name")
}

#[test]
fn what_was_under_way_is_canceled_in_a_copy_and_can_be_run_again() {
    test(|tx, world| {
        let new = NewPipeline { project: world.other, protected: true, ..world.push() };
        let source = world.made(tx, new, TEXT)?.id;
        run(tx, source, "make")?;

        copy(tx, world, world.other, world.project)?;

        let made = newest(tx, world.project)?;
        assert_eq!(shown(tx, made.id)?, "make=canceled unit=canceled ship=canceled");
        assert_eq!((made.status, made.user_id), (Status::Canceled, Some(world.developer)));
        assert_eq!(made.finished_at, Some(made.updated_at));
        let make = job(tx, made.id, "make")?;
        assert_eq!((make.sha.as_str(), make.ref_name.as_str(), make.tag), (SHA, "main", false));
        assert_eq!((make.protected, make.finished_at), (true, Some(make.updated_at)));
        let spec = make.spec_id.ok_or_else(Error::missing)?;
        assert_eq!(tx.tags_of(&[spec])?[&spec], ["linux"]);
        let grant = world.may::<UpdatePipelines>(world.developer)?;
        control::retry(tx, &grant, &FakeForge::default(), made.id)?;
        assert_eq!(shown(tx, made.id)?, "make=pending unit=created ship=created");
        assert_eq!(world.made(tx, world.push(), TEXT)?.iid, made.iid + 1, "numbers go on");
        Ok(())
    });
}

#[test]
fn what_waits_for_a_person_waits_in_a_copy_too() {
    test(|tx, world| {
        let source = world.made(tx, NewPipeline { project: world.other, ..world.push() }, TEXT)?.id;
        succeed(tx, source, "make")?;
        succeed(tx, source, "unit")?;

        copy(tx, world, world.other, world.project)?;

        let made = newest(tx, world.project)?;
        assert_eq!(made.status, Status::Success);
        assert_eq!(shown(tx, made.id)?, "make=success unit=success ship=manual");
        let (grant, forge) = (world.may::<UpdateJobs>(world.owner)?, FakeForge::default());
        assert_eq!(job(tx, made.id, "unit")?.user_id, Some(world.developer));
        let ship = job(tx, made.id, "ship")?;
        assert_eq!(ship.user_id, None, "nobody else asked for it here");
        let played = actions::play(tx, &grant, &forge, &forge, ship.id, (&world.vault, &[]))?;
        assert_eq!((played.status, played.user_id), (Status::Pending, Some(world.owner)));
        Ok(())
    });
}

#[test]
fn a_pipeline_is_younger_than_the_one_that_made_it() {
    test(|tx, world| {
        let (older, younger) = (world.pipeline(tx, TEXT)?, world.pipeline(tx, TEXT)?);
        let jobs = [job(tx, older, "make")?.id, job(tx, younger, "make")?.id];
        let row = |id: i64, parent: i64| vec![Cell::Number(id), Cell::Number(parent)];
        let circle = [row(older.0, jobs[1].0), row(younger.0, jobs[0].0)];
        insert(tx, relation("pipeline_parents"), &circle)?;

        cut_circles(tx, &[older.0, younger.0])?;

        let found = tx.pipelines_by_id(&[older, younger])?;
        assert_eq!((found[&older].parent_job_id, found[&older].root_id), (None, None));
        assert_eq!(found[&younger].parent_job_id, Some(jobs[0]));
        assert_eq!(found[&younger].root_id, Some(older), "the archive lacks an older one");
        Ok(())
    });
}

#[test]
fn a_pipeline_has_only_so_many_jobs_and_letters() {
    test(|tx, world| {
        let id = world.pipeline(tx, TEXT)?;
        let make = job(tx, id, "make")?.id.0;
        for (jobs, letters, is_over) in [(3, 12, false), (2, 12, true), (3, 11, true)] {
            let most = PipelineBounds { jobs, letters };
            assert_eq!(has_oversized_pipeline(tx, &[make], most)?, is_over, "{most:?}");
        }
        assert!(!has_oversized_pipeline(tx, &[], PipelineBounds { jobs: 0, letters: 0 })?);
        Ok(())
    });
}

#[test]
fn pipelines_end_behind_the_last_one_that_was_looked_at() {
    test(|tx, world| {
        let other = || NewPipeline { project: world.other, ..world.push() };
        let sources = [world.made(tx, other(), TEXT)?.id, world.made(tx, other(), TEXT)?.id];
        let names = Names { home: world.project.0, ..Names::default() };
        let rows = RowPages::new(relation("pipelines"), world.other.0).read(tx, 9)?;
        let values = rows.iter().map(|row| cells(relation("pipelines"), row, &names));
        let values = values.map(|row| row.expect("a sound row").expect("a whole row"));
        let made = insert(tx, relation("pipelines"), &values.collect::<Vec<_>>())?;
        let ids: Vec<PipelineId> = made.into_iter().map(PipelineId).collect();
        assert_eq!(ids.len(), sources.len());

        assert_eq!(end_pipelines(tx, world.project, ids[0])?, None);

        let found = tx.pipelines_by_id(&ids)?;
        let ended = ids.iter().map(|id| found[id].finished_at.is_some());
        assert_eq!(ended.collect::<Vec<_>>(), [false, true]);
        Ok(())
    });
}

#[test]
fn a_job_waits_for_whoever_can_let_it_begin_and_for_nobody_else() {
    test(|tx, world| {
        let id = world.pipeline(tx, TEXT)?;
        succeed(tx, id, "make")?;
        succeed(tx, id, "unit")?;
        let rows = RowPages::new(relation("jobs"), world.project.0).read(tx, 9)?;
        let ship = rows.into_iter().find(|row| row["name"] == "ship").expect("a job");
        let spec = ship["spec_id"].as_i64().expect("a specification");
        let people = Arc::new(HashMap::from([(world.developer.0, world.developer.0)]));
        let mut names = Names { home: world.project.0, people, ..Names::default() };
        names.rows.extend([(("pipelines", id.0), id.0), (("job_specs", spec), spec)]);
        let theirs = Some(world.developer);
        for (importer, field, value, told) in [
            (world.owner, "run_when", "manual", (Status::Manual, None)),
            (world.developer, "run_when", "manual", (Status::Manual, theirs)),
            (world.owner, "run_when", "on_success", (Status::Canceled, theirs)),
            (world.owner, "kind", "external", (Status::Canceled, theirs)),
        ] {
            let mut row = ship.clone();
            row.insert(field.to_owned(), Value::from(value));
            let values = cells(relation("jobs"), &row, &names).expect("a sound row");
            let made = insert(tx, relation("jobs"), &[values.expect("a whole row")])?;

            complete_jobs(tx, &made, importer)?;

            let found = tx.job(JobId(made[0]))?;
            assert_eq!((found.status, found.user_id), told, "{value}");
        }
        names.rows.remove(&("job_specs", spec));
        let values = cells(relation("jobs"), &ship, &names).expect("a sound row");
        assert_eq!(values, None, "nobody knows what it does");
        Ok(())
    });
}
