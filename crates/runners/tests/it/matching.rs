//! Which jobs stored runners take.

use db::Tx;
use forgeway_runners::{
    matching::{JobMatcher, QueueProject},
    runner::{Attributes, Owner, RunnerAccess, RunnerStore as _, actions},
};
use kernel::{Result, ids::ProjectId};

use crate::world::{World, tagged, test};

fn home(world: &World, project: ProjectId) -> QueueProject {
    QueueProject {
        project,
        groups: vec![world.group],
        instance_runners: true,
        group_runners: true,
        runs_jobs: true,
    }
}

/// What decides which jobs the active runners take, the oldest runner first.
fn takers(tx: &mut Tx<'_>) -> Result<Vec<JobMatcher>> {
    let mut active = tx.active_runners()?;
    active.sort_by_key(|(runner, _)| runner.id);
    active.iter().map(|(runner, projects)| JobMatcher::new(runner, projects.clone())).collect()
}

#[test]
fn runners_serve_the_projects_of_their_place() {
    test(|tx, world| {
        world.runner(tx, Owner::Project(world.project), Attributes::default())?;
        world.runner(tx, Owner::Group(world.group), Attributes::default())?;
        world.runner(tx, Owner::Instance, Attributes::default())?;
        let all = takers(tx)?;
        let serves = |home: &QueueProject| -> Vec<bool> {
            all.iter().map(|taker| taker.serves(home)).collect()
        };

        assert_eq!(serves(&home(world, world.project)), [true, true, true]);
        assert_eq!(serves(&home(world, world.other)), [false, true, true]);
        let outside = QueueProject { groups: Vec::new(), ..home(world, world.other) };
        assert_eq!(serves(&outside), [false, false, true]);
        Ok(())
    });
}

#[test]
fn a_paused_runner_takes_nothing() {
    test(|tx, world| {
        let (made, _) = world.runner(tx, Owner::Instance, Attributes::default())?;
        let pause = Attributes { active: Some(false), ..Attributes::default() };
        let (own, _) = world.runner(tx, Owner::Project(world.project), Attributes::default())?;
        let grant = world.may(world.owner)?;

        actions::update(tx, &grant, world, own.id, pause)?;

        let left: Vec<_> = takers(tx)?.into_iter().map(|taker| taker.runner).collect();
        assert_eq!(left, [made.id]);
        Ok(())
    });
}

#[test]
fn a_runner_takes_jobs_by_its_tags_and_their_protection() {
    test(|tx, world| {
        world.runner(tx, Owner::Instance, tagged(&["linux", "arm"]))?;
        let picky = Attributes { run_untagged: Some(false), ..tagged(&["linux"]) };
        world.runner(tx, Owner::Instance, picky)?;
        let access_level = Some(RunnerAccess::RefProtected);
        world.runner(tx, Owner::Instance, Attributes { access_level, ..Attributes::default() })?;
        let all = takers(tx)?;
        let takes = |tags: &[&str], protected| -> Vec<bool> {
            let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
            all.iter().map(|taker| taker.takes(&tags, protected)).collect()
        };

        assert_eq!(takes(&[], false), [true, false, false]);
        assert_eq!(takes(&[], true), [true, false, true]);
        assert_eq!(takes(&["linux"], true), [true, true, false]);
        assert_eq!(takes(&["linux", "arm"], false), [true, false, false]);
        Ok(())
    });
}
