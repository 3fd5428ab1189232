//! Pipelines of one project that become those of another one, as archives bring them.

use std::{collections::HashMap, sync::Arc};

use db::{
    Tx,
    archive::{Cell, Names, Relation, cells, insert, page},
};
use forgeway_ci::{
    Status,
    archive::{
        RELATIONS, complete_jobs, cut_circles, end_pipelines, has_oversized_pipeline,
        restore_counters,
    },
    job::{SpecStore as _, actions},
    pipeline::{NewPipeline, Pipeline, PipelineStore as _, control},
    policy::{UpdateJobs, UpdatePipelines},
};
use kernel::{Error, Result, ids::ProjectId};
use serde_json::Value;

use crate::world::{FakeForge, SHA, World, job, run, shown, statuses, succeed, test};

const TEXT: &str = "make: {stage: build, script: x, tags: [linux]}\nunit: {script: x}\n\
                    ship: {stage: deploy, script: x, when: manual}\n";

/// Brings what ran in one project into another one; who has an account there is known.
fn copy(tx: &mut Tx<'_>, world: &World, from: ProjectId, to: ProjectId) -> Result<()> {
    let people = Arc::new(HashMap::from([(world.developer.0, world.developer.0)]));
    let (home, importer) = (to.0, world.owner.0);
    let mut names = Names { home, importer, people, ..Names::default() };
    for relation in RELATIONS {
        let rows = page(tx, relation, from.0, None, 100)?;
        let ids: Vec<i64> =
            rows.iter().filter_map(|row| row.get("id").and_then(Value::as_i64)).collect();
        let values = rows.iter().map(|row| cells(relation, row, &names).expect("a sound row"));
        let values: Vec<Vec<Cell>> = values.map(|row| row.expect("nothing is missing")).collect();
        let made = insert(tx, relation, &values)?;
        if relation.name == "jobs" {
            complete_jobs(tx, &made)?;
        }
        let pairs = ids.into_iter().zip(made);
        names.rows.extend(pairs.map(|(source, target)| ((relation.table, source), target)));
    }
    while end_pipelines(tx, to)? {}
    restore_counters(tx, to)
}

fn newest(tx: &mut Tx<'_>, project: ProjectId) -> Result<Pipeline> {
    tx.newest_of_branch(project, "main")?.ok_or(Error::missing())
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
        let spec = make.spec_id.ok_or(Error::missing())?;
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
        let ship = job(tx, made.id, "ship")?.id;
        let played = actions::play(tx, &grant, &forge, &forge, ship, (&world.vault, &[]))?;
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
        assert!(!has_oversized_pipeline(tx, &[jobs[0].0])?);
        Ok(())
    });
}

#[test]
fn a_job_that_nobody_could_let_begin_does_not_wait_for_a_person() {
    test(|tx, world| {
        let id = world.pipeline(tx, TEXT)?;
        succeed(tx, id, "make")?;
        succeed(tx, id, "unit")?;
        let rows = page(tx, relation("jobs"), world.project.0, None, 9)?;
        let mut ship = rows.into_iter().find(|row| row["name"] == "ship").expect("a job");
        ship.insert("run_when".to_owned(), Value::from("on_success"));
        let mut names = Names { home: world.project.0, ..Names::default() };
        names.rows.insert(("pipelines", id.0), id.0);
        let values = cells(relation("jobs"), &ship, &names).expect("a sound row");

        let made = insert(tx, relation("jobs"), &[values.expect("a whole row")])?;
        complete_jobs(tx, &made)?;

        let ended = statuses(tx, id)?.into_iter().rfind(|(name, _)| name == "ship");
        assert_eq!(ended, Some(("ship".to_owned(), Status::Canceled)));
        Ok(())
    });
}
