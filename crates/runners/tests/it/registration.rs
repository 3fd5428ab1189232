//! Who makes, changes, shares and removes runners.

use forgeway_runners::{
    policy::AdminProjectRunners,
    runner::{
        Attributes, Owner, RunnerFilter, RunnerLimits, RunnerStatus, RunnerStore as _, RunnerType,
        actions,
    },
};
use kernel::{Result, ids::RunnerId, page::PageRequest};

use crate::world::{is_forbidden, tagged, test};

#[test]
fn a_runner_belongs_to_whom_it_is_made_for() {
    test(|tx, world| {
        let (of_project, _) =
            world.runner(tx, Owner::Project(world.project), tagged(&["linux"]))?;
        let (of_group, _) = world.runner(tx, Owner::Group(world.group), Attributes::default())?;
        let (shared, _) = world.runner(tx, Owner::Instance, Attributes::default())?;

        assert_eq!(tx.projects_of_runner(of_project.id)?, [world.project]);
        assert_eq!(
            (of_group.runner_type, of_group.group_id),
            (RunnerType::Group, Some(world.group))
        );
        assert!(shared.is_shared() && shared.active);
        assert_eq!(of_project.status(tx.now), RunnerStatus::NeverContacted);
        Ok(())
    });
}

#[test]
fn a_runner_has_sound_attributes() {
    test(|tx, world| {
        let mut refused = |attributes: Attributes| {
            world.runner(tx, Owner::Instance, attributes).expect_err("it is refused")
        };
        let without_tags = Attributes { run_untagged: Some(false), ..Attributes::default() };
        let short = Attributes { maximum_timeout: Some(Some(60)), ..Attributes::default() };
        let many: Vec<String> = (0..51).map(|n| format!("tag-{n}")).collect();

        for (attributes, field) in [
            (without_tags, "tags_list"),
            (short, "maximum_timeout"),
            (Attributes { tags: Some(many), ..Attributes::default() }, "tags_list"),
        ] {
            let told = format!("{:?}", refused(attributes));
            assert!(told.contains(field), "{told}");
        }
        Ok(())
    });
}

#[test]
fn tags_are_kept_once_and_in_order() {
    test(|tx, world| {
        let tags = tagged(&["linux", " arm ", "linux", ""]);

        let (made, _) = world.runner(tx, Owner::Instance, tags)?;

        assert_eq!(made.tag_list()?, ["arm", "linux"]);
        Ok(())
    });
}

#[test]
fn only_maintainers_of_its_project_change_a_runner() {
    test(|tx, world| {
        let (made, _) = world.runner(tx, Owner::Project(world.project), Attributes::default())?;
        let pause = Attributes { active: Some(false), ..Attributes::default() };
        let stranger = world.may(world.stranger)?;
        assert!(is_forbidden(&actions::update(tx, &stranger, world, made.id, pause.clone())));
        assert!(is_forbidden(&actions::read(tx, &stranger, world, made.id)));

        let owner = world.may(world.owner)?;
        assert!(!actions::update(tx, &owner, world, made.id, pause)?.active);

        actions::remove(tx, &owner, world, made.id, None)?;
        assert!(tx.find_runner(made.id)?.is_none());
        Ok(())
    });
}

#[test]
fn an_instance_runner_is_read_by_everybody_and_changed_by_administrators() {
    test(|tx, world| {
        let (made, _) = world.runner(tx, Owner::Instance, Attributes::default())?;
        let (stranger, owner) = (world.may(world.stranger)?, world.may(world.owner)?);

        assert_eq!(actions::read(tx, &stranger, world, made.id)?.id, made.id);
        assert!(is_forbidden(&actions::read_with_jobs(tx, &owner, world, made.id)));
        assert!(is_forbidden(&actions::remove(tx, &owner, world, made.id, None)));
        Ok(())
    });
}

#[test]
fn a_runner_is_shared_with_another_project_unless_it_is_locked() {
    test(|tx, world| {
        let locked = Attributes { locked: Some(true), ..Attributes::default() };
        let (open, _) = world.runner(tx, Owner::Project(world.project), Attributes::default())?;
        let (locked, _) = world.runner(tx, Owner::Project(world.project), locked)?;
        let grant = world.may_in::<AdminProjectRunners>(world.other, world.owner)?;
        let limits = RunnerLimits { project: 1, group: 1 };
        assert!(is_forbidden(&actions::assign(tx, &grant, world, limits, locked.id)));

        actions::assign(tx, &grant, world, limits, open.id)?;

        assert_eq!(tx.projects_of_runner(open.id)?, [world.project, world.other]);
        let again = actions::assign(tx, &grant, world, limits, open.id);
        assert!(again.is_err(), "it is there already");
        let owner = world.may(world.owner)?;
        assert!(is_forbidden(&actions::remove(tx, &owner, world, open.id, None)));
        actions::unassign(tx, &grant, open.id, None)?;
        assert!(actions::unassign(tx, &grant, open.id, None).is_err(), "it is gone");
        Ok(())
    });
}

#[test]
fn people_list_the_runners_that_they_manage() {
    test(|tx, world| {
        world.runner(tx, Owner::Instance, tagged(&["linux"]))?;
        let (own, _) = world.runner(tx, Owner::Project(world.other), tagged(&["linux"]))?;
        world.runner(tx, Owner::Group(world.group), tagged(&["arm"]))?;
        let filter = RunnerFilter { tags: vec!["linux".to_owned()], ..RunnerFilter::default() };
        let mut listed = |user| -> Result<Vec<RunnerId>> {
            let grant = world.may(user)?;
            let page = actions::list_own(tx, &grant, world, &filter, PageRequest::default())?;
            Ok(page.items.into_iter().map(|one| one.id).collect())
        };

        assert_eq!(listed(world.owner)?, [own.id]);
        assert!(listed(world.stranger)?.is_empty());
        Ok(())
    });
}
