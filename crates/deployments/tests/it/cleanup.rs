//! Environments that stop or go without anybody asking for the single one.

use db::Tx;
use forgeway_deployments::{
    deployment::{Deployment, DeploymentStatus, DeploymentStore as _},
    environment::{
        DeployedRef, Environment, EnvironmentCleanupStore as _, EnvironmentStep,
        EnvironmentStore as _, actions,
        cleanup::{
            ReviewAppFilter, begin_removal, end_removal, ensure_stale_moment, is_removal_under_way,
            remove_outlived, review_apps, schedule_removal,
        },
    },
    policy::{RemoveReviewApps, StopStaleEnvironments},
};
use kernel::{
    AccessLevel::Maintainer,
    Result, Ts,
    ids::{DeploymentId, EnvironmentId, NamespaceId},
};
use time::Duration;

use crate::world::{World, person, role, test, wait};

const FIRST: EnvironmentId = EnvironmentId(0);
const ALL: ReviewAppFilter = ReviewAppFilter { before: None, limit: 100 };

fn stale(tx: &mut Tx<'_>, world: &World, groups: &[NamespaceId]) -> Result<Vec<EnvironmentId>> {
    let before = tx.now.plus(-Duration::weeks(1));
    tx.stale_environments(world.project, groups, before, FIRST, 10)
}

#[test]
fn stale_is_what_nobody_changed_or_deployed_to() {
    test(|tx, world| {
        let old = world.environment(tx, "review/old")?;
        let busy = world.environment(tx, "review/busy")?;
        world.stopped_environment(tx, "review/stopped")?;
        wait(tx, Duration::weeks(2));
        world.deployment(tx, busy.id, "main", DeploymentStatus::Running)?;
        world.environment(tx, "review/new")?;

        assert_eq!(stale(tx, world, &[])?, [old.id]);
        Ok(())
    });
}

#[test]
fn what_is_protected_is_never_stale() {
    test(|tx, world| {
        world.environment(tx, "production")?;
        let named = world.environment(tx, "review/named")?;
        let plain = world.environment(tx, "review/plain")?;
        world.protect(tx, "review/named", vec![person(world.maintainer)], Vec::new())?;
        world.protect_tier(tx, "production", vec![role(Maintainer)])?;
        wait(tx, Duration::weeks(2));

        assert_eq!(stale(tx, world, &[world.group])?, [plain.id]);
        let before = tx.now;
        let next = tx.stale_environments(world.project, &[world.group], before, named.id, 10)?;
        assert_eq!(next, [plain.id]);
        Ok(())
    });
}

#[test]
fn the_moment_of_staleness_is_a_week_to_ten_years_ago() {
    test(|tx, world| {
        let grant = world.may::<StopStaleEnvironments>(world.maintainer)?;
        let now = tx.now;
        let fits = |ago: Duration| ensure_stale_moment(now, &grant, now.plus(-ago)).is_ok();
        assert!(fits(Duration::weeks(1)) && fits(Duration::days(3650)));
        assert!(!fits(Duration::days(6)) && !fits(Duration::days(3660)));
        assert!(world.may::<StopStaleEnvironments>(world.developer).is_err());
        Ok(())
    });
}

#[test]
fn a_branch_takes_along_what_is_there_now_of_it() {
    test(|tx, world| {
        let (own, replaced) =
            (world.environment(tx, "review/a")?, world.environment(tx, "staging")?);
        for id in [own.id, replaced.id] {
            world.deployment(tx, id, "feature", DeploymentStatus::Success)?;
        }
        world.deployment(tx, own.id, "main", DeploymentStatus::Failed)?;
        wait(tx, Duration::hours(1));
        world.deployment(tx, replaced.id, "main", DeploymentStatus::Success)?;

        let source = DeployedRef::Branches(vec!["other".to_owned(), "feature".to_owned()]);
        assert_eq!(tx.environments_of_ref(world.project, &source, FIRST, 10)?, [own.id]);
        assert!(tx.environments_of_ref(world.project, &source, own.id, 10)?.is_empty());
        Ok(())
    });
}

#[test]
fn a_branch_leaves_what_a_tag_of_its_name_brought() {
    test(|tx, world| {
        let production = world.environment(tx, "production")?;
        let first = world.deployment(tx, production.id, "v1.0", DeploymentStatus::Success)?;
        wait(tx, Duration::hours(1));
        let (id, finished_at) = (DeploymentId(0), Some(tx.now));
        tx.insert_deployment(&Deployment { id, iid: 0, tag: true, finished_at, ..first })?;

        let source = DeployedRef::Branches(vec!["v1.0".to_owned()]);

        assert!(tx.environments_of_ref(world.project, &source, FIRST, 10)?.is_empty());
        Ok(())
    });
}

#[test]
fn what_is_brought_somewhere_in_this_moment_keeps_it() {
    test(|tx, world| {
        let stopped = world.stopped_environment(tx, "review/a")?;
        let deployed = world.environment(tx, "review/b")?;
        let at = tx.now.plus(Duration::days(7));

        let going = tx.delete_environments_at(&[stopped.id, deployed.id], at)?;

        assert_eq!(going, [stopped.id]);
        wait(tx, Duration::days(8));
        let stopped = tx.environment(world.project, stopped.id)?.unwrap();
        actions::step(tx, stopped, EnvironmentStep::Start)?;
        assert!(tx.outlived_environments(10)?.is_empty());
        Ok(())
    });
}

#[test]
fn a_merge_request_takes_along_what_came_into_being_for_it() {
    test(|tx, world| {
        let (own, shared) =
            (world.environment(tx, "review/a")?, world.environment(tx, "development")?);
        let proposed = "refs/merge-requests/1/head";
        world.deployment(tx, shared.id, "main", DeploymentStatus::Success)?;
        world.deployment(tx, shared.id, proposed, DeploymentStatus::Success)?;
        world.deployment(tx, own.id, proposed, DeploymentStatus::Created)?;

        let source = DeployedRef::MergeRequest(proposed.to_owned());
        assert_eq!(tx.environments_of_ref(world.project, &source, FIRST, 10)?, [own.id]);
        Ok(())
    });
}

#[test]
fn what_is_due_is_found_once_its_time_has_come() {
    test(|tx, world| {
        let one = world.environment(tx, "review/a")?;
        let at = Some(tx.now.plus(Duration::hours(1)));
        tx.save_environment(&Environment { auto_stop_at: at, ..one.clone() })?;
        assert!(tx.overdue_environments(10)?.is_empty());
        wait(tx, Duration::hours(1));
        assert_eq!(tx.overdue_environments(10)?, [one.id]);
        Ok(())
    });
}

fn names(found: &[Environment]) -> Vec<&str> {
    found.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn review_apps_are_stopped_environments_of_branches_that_are_old_enough() {
    test(|tx, world| {
        for name in ["review/b", "review/a", "reviews/a", "review"] {
            world.stopped_environment(tx, name)?;
        }
        world.environment(tx, "review/running")?;
        wait(tx, Duration::days(31));
        world.stopped_environment(tx, "review/new")?;
        let grant = world.may::<RemoveReviewApps>(world.developer)?;
        let found = |tx: &mut Tx<'_>, filter| review_apps(tx, &grant, &world.members, filter);

        assert_eq!(names(&found(tx, ALL)?.scheduled), ["review/b", "review/a"]);
        let one = ReviewAppFilter { limit: 1, ..ALL };
        assert_eq!(names(&found(tx, one)?.scheduled), ["review/b"]);
        let now = ReviewAppFilter { before: Some(Ts(tx.now.0 + 1)), ..ALL };
        assert_eq!(found(tx, now)?.scheduled.len(), 3);
        assert!(world.may::<RemoveReviewApps>(world.reporter).is_err());
        Ok(())
    });
}

#[test]
fn what_is_scheduled_goes_after_a_week_and_is_not_scheduled_twice() {
    test(|tx, world| {
        world.stopped_environment(tx, "review/a")?;
        wait(tx, Duration::days(31));
        let grant = world.may::<RemoveReviewApps>(world.developer)?;
        let scheduled = schedule_removal(tx, &grant, &world.members, ALL)?.scheduled;
        assert_eq!(names(&scheduled), ["review/a"]);
        assert!(schedule_removal(tx, &grant, &world.members, ALL)?.scheduled.is_empty());
        wait(tx, Duration::days(6));
        assert!(!remove_outlived(tx, 10)?);
        assert!(tx.environment(world.project, scheduled[0].id)?.is_some());

        wait(tx, Duration::days(1));
        assert!(!remove_outlived(tx, 10)?);

        assert_eq!(tx.environment(world.project, scheduled[0].id)?, None);
        Ok(())
    });
}

#[test]
fn a_protected_review_app_keeps_all_of_them() {
    test(|tx, world| {
        world.stopped_environment(tx, "review/a")?;
        world.stopped_environment(tx, "review/b")?;
        world.protect(tx, "review/b", vec![person(world.maintainer)], Vec::new())?;
        wait(tx, Duration::days(31));
        let grant = world.may::<RemoveReviewApps>(world.developer)?;
        let refused = schedule_removal(tx, &grant, &world.members, ALL)?;
        assert_eq!((refused.scheduled.len(), names(&refused.unprocessable)), (0, vec!["review/b"]));
        let grant = world.may::<RemoveReviewApps>(world.maintainer)?;

        let scheduled = schedule_removal(tx, &grant, &world.members, ALL)?.scheduled;

        assert_eq!(names(&scheduled), ["review/a", "review/b"]);
        Ok(())
    });
}

#[test]
fn one_person_at_a_time_chooses_review_apps() {
    test(|tx, world| {
        let grant = world.may::<RemoveReviewApps>(world.developer)?;
        let begun = begin_removal(tx, &grant)?.unwrap();
        assert!(is_removal_under_way(tx, &grant)? && begin_removal(tx, &grant)?.is_none());
        end_removal(tx, &grant, begun)?;
        let interrupted = begin_removal(tx, &grant)?.unwrap();
        // Whoever was interrupted is not waited for, and ends nothing that others have begun.
        wait(tx, Duration::minutes(3));
        assert!(begin_removal(tx, &grant)?.is_some());
        end_removal(tx, &grant, interrupted)?;
        assert!(is_removal_under_way(tx, &grant)?);
        Ok(())
    });
}
