//! Projects.

use db::Tx;
use forgeway_org::{
    access::{IdOrPath, locate_project},
    policy::{AdminProject, OwnProject, UseProject},
    project::{
        Project, ProjectChange, SettingsChange,
        actions::{set_archived, update},
        creation::{Creation, create},
        stars::{star, unstar},
    },
};
use kernel::{AccessLevel, Result, Visibility, error::Kind};

use crate::world::{World, in_project, new_project, publish, signed_in, test};

fn change(tx: &mut Tx<'_>, world: &World, change: &ProjectChange) -> Result<Project> {
    let grant = in_project::<AdminProject>(tx, &world.ada, world.project.id)?;
    update(tx, &grant, change)
}

fn visible(visibility: Visibility) -> ProjectChange {
    ProjectChange { visibility: Some(visibility), ..ProjectChange::default() }
}

#[test]
fn a_name_gives_the_path() {
    test(|tx, world| {
        let name = Some("Green Tea 2".to_owned());
        let creation = Creation { name, ..Creation::default() };
        let project = create(tx, &signed_in(&world.bob), &creation)?;
        assert_eq!(project.full_path, "bob/green-tea-2");
        Ok(())
    });
}

#[test]
fn a_path_is_given_once_in_a_namespace() {
    test(|tx, world| {
        let taken = new_project(tx, &world.ada, world.group.id, "tea").unwrap_err();
        assert_eq!(taken.kind, Kind::BadRequest);
        for path in ["-tea", "a b", "tea.git", "tree"] {
            let refused = new_project(tx, &world.ada, world.group.id, path).unwrap_err();
            assert_eq!(refused.kind, Kind::BadRequest, "{path}");
        }
        Ok(())
    });
}

#[test]
fn a_project_is_made_in_a_group_by_its_developers() {
    test(|tx, world| {
        let refused = new_project(tx, &world.bob, world.group.id, "milk").unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        world.join_group(tx, &world.bob, AccessLevel::Developer)?;
        new_project(tx, &world.bob, world.group.id, "milk").map(drop)
    });
}

#[test]
fn a_new_project_is_no_more_visible_than_its_group() {
    test(|tx, world| {
        let creation = Creation {
            namespace: Some(world.group.id),
            path: Some("milk".to_owned()),
            change: visible(Visibility::Public),
            ..Creation::default()
        };
        let made = create(tx, &signed_in(&world.ada), &creation)?;
        assert_eq!(made.visibility, Visibility::Private);
        let refused = change(tx, world, &visible(Visibility::Public)).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn only_owners_say_who_sees_a_project() {
    test(|tx, world| {
        publish(tx, world)?;
        world.join(tx, &world.bob, AccessLevel::Maintainer)?;
        let grant = in_project::<AdminProject>(tx, &world.bob, world.project.id)?;
        let refused = update(tx, &grant, &visible(Visibility::Private)).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        assert_eq!(
            change(tx, world, &visible(Visibility::Private))?.visibility,
            Visibility::Private
        );
        Ok(())
    });
}

#[test]
fn the_old_path_of_a_project_leads_to_it() {
    test(|tx, world| {
        let renamed = ProjectChange { path: Some("milk".to_owned()), ..ProjectChange::default() };
        assert_eq!(change(tx, world, &renamed)?.full_path, "team/milk");
        let old = IdOrPath::Path("team/tea".to_owned());
        let (found, _) = locate_project(tx, world.ada.actor(), &old)?;
        assert_eq!(found.0.full_path, "team/milk");
        Ok(())
    });
}

#[test]
fn settings_that_no_job_could_run_with_are_refused() {
    test(|tx, world| {
        let timeout =
            |seconds| SettingsChange { build_timeout: Some(seconds), ..SettingsChange::default() };
        let depth = |depth| SettingsChange {
            ci_default_git_depth: Some(Some(depth)),
            ..SettingsChange::default()
        };
        for settings in [timeout(599), timeout(2_678_401), depth(-1), depth(1001)] {
            let asked = ProjectChange { settings, ..ProjectChange::default() };
            assert_eq!(change(tx, world, &asked).unwrap_err().kind, Kind::BadRequest);
        }
        let asked = ProjectChange { settings: timeout(600), ..ProjectChange::default() };
        change(tx, world, &asked).map(drop)
    });
}

#[test]
fn an_archived_project_is_changed_by_nobody() {
    test(|tx, world| {
        let grant = in_project::<OwnProject>(tx, &world.ada, world.project.id)?;
        assert!(set_archived(tx, &grant, true)?.archived);
        let refused = in_project::<AdminProject>(tx, &world.ada, world.project.id).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        assert!(!set_archived(tx, &grant, false)?.archived);
        Ok(())
    });
}

#[test]
fn everybody_has_one_star_for_a_project() {
    test(|tx, world| {
        let grant = in_project::<UseProject>(tx, &world.ada, world.project.id)?;
        assert_eq!(star(tx, &grant)?.star_count, 1);
        assert_eq!(star(tx, &grant).unwrap_err().kind, Kind::Unchanged);
        assert_eq!(unstar(tx, &grant)?.star_count, 0);
        assert_eq!(unstar(tx, &grant).unwrap_err().kind, Kind::Unchanged);
        Ok(())
    });
}
