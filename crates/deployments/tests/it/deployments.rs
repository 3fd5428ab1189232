//! Deployments as people and programs report them.

use std::fmt::Write as _;

use db::Tx;
use forgeway_deployments::{
    deployment::{
        DeploymentFilter, DeploymentListStore as _, DeploymentOrder, DeploymentStatus,
        DeploymentStore as _, StatusReport,
        actions::{create, list, reassign, remove, update},
        archive::{reserve_numbers, restore_counters},
    },
    environment::{EnvironmentState, EnvironmentStore as _},
    policy::{ChangeDeployments, ReadDeployments, RemoveDeployments},
};
use kernel::{Result, TextEnum as _, error::Kind, page::PageRequest};
use time::Duration;

use crate::world::{World, person, report, test, told, wait};

#[test]
fn numbers_count_on_whatever_was_removed() {
    test(|tx, world| {
        let one = world.environment(tx, "production")?;
        for iid in 1..=2 {
            let made = world.deployment(tx, one.id, "main", DeploymentStatus::Failed)?;
            assert_eq!(made.iid, iid);
        }
        let last = world.deployment(tx, one.id, "main", DeploymentStatus::Failed)?;
        let grant = world.may::<RemoveDeployments>(world.maintainer)?;
        remove(tx, &grant, &world.members, last.id)?;

        let next = world.deployment(tx, one.id, "main", DeploymentStatus::Created)?;

        assert_eq!(next.iid, 4);
        Ok(())
    });
}

#[test]
fn an_archive_raises_numbers_and_never_lowers_them() {
    test(|tx, world| {
        let one = world.environment(tx, "production")?;
        world.deployment(tx, one.id, "main", DeploymentStatus::Failed)?;
        reserve_numbers(tx, world.project, 7)?;

        restore_counters(tx, world.project)?;

        let next = world.deployment(tx, one.id, "main", DeploymentStatus::Created)?;
        assert_eq!(next.iid, 8);
        Ok(())
    });
}

#[test]
fn what_is_there_already_is_not_deployed_again() {
    test(|tx, world| {
        let grant = world.may::<ChangeDeployments>(world.developer)?;
        let success = report("a", StatusReport::Success);
        let first = create(tx, &grant, &world.members, success.clone())?;
        assert_eq!(create(tx, &grant, &world.members, success.clone())?.id, first.id);

        let other = create(tx, &grant, &world.members, report("b", StatusReport::Success))?;

        assert_ne!(other.id, first.id);
        assert_ne!(create(tx, &grant, &world.members, success)?.id, first.id);
        Ok(())
    });
}

#[test]
fn nobody_but_a_deployer_reports_for_a_protected_environment() {
    test(|tx, world| {
        world.protect(tx, "production", vec![person(world.maintainer)], Vec::new())?;
        let grant = world.may::<ChangeDeployments>(world.developer)?;
        let running = report("a", StatusReport::Running);
        let refused = create(tx, &grant, &world.members, running.clone()).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        let own = world.may::<ChangeDeployments>(world.maintainer)?;
        let made = create(tx, &own, &world.members, running)?;
        let success = StatusReport::Success;
        assert!(update(tx, &grant, &world.members, made.id, success).is_err());
        update(tx, &own, &world.members, made.id, success).map(drop)
    });
}

#[test]
fn the_whole_table_of_reports() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let grant = world.may::<ChangeDeployments>(world.developer)?;
        let mut rows = String::new();
        for from in DeploymentStatus::ALL {
            for to in StatusReport::ALL {
                let made = world.deployment(tx, one.id, "main", *from)?;
                let answer = match update(tx, &grant, &world.members, made.id, *to) {
                    Ok(after) => format!("{} {}", after.status, after.finished_at.is_some()),
                    Err(refused) => told(&refused),
                };
                writeln!(rows, "{from:<8} {to:<8} {answer}").unwrap();
            }
        }
        insta::assert_snapshot!(rows);
        Ok(())
    });
}

#[test]
fn what_succeeds_brings_a_stopped_environment_back() {
    test(|tx, world| {
        let one = world.stopped_environment(tx, "production")?;
        let grant = world.may::<ChangeDeployments>(world.developer)?;
        let made = create(tx, &grant, &world.members, report("a", StatusReport::Running))?;
        let state = |tx: &mut Tx<'_>| {
            Ok::<_, kernel::Error>(tx.environment(world.project, one.id)?.map(|one| one.state))
        };
        assert_eq!(state(tx)?, Some(EnvironmentState::Stopped));

        update(tx, &grant, &world.members, made.id, StatusReport::Success)?;

        assert_eq!(state(tx)?, Some(EnvironmentState::Available));
        Ok(())
    });
}

#[test]
fn neither_what_runs_nor_what_is_there_is_removed() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let old = world.deployment(tx, one.id, "main", DeploymentStatus::Success)?;
        let running = world.deployment(tx, one.id, "main", DeploymentStatus::Running)?;
        wait(tx, Duration::hours(1));
        let there = world.deployment(tx, one.id, "main", DeploymentStatus::Success)?;
        let grant = world.may::<RemoveDeployments>(world.maintainer)?;
        for (id, text) in [
            (running.id, "Cannot destroy running deployment"),
            (there.id, "Deployment currently deployed to environment"),
        ] {
            let refused = remove(tx, &grant, &world.members, id).unwrap_err();
            assert_eq!((refused.kind, refused.to_string().as_str()), (Kind::BadRequest, text));
        }
        remove(tx, &grant, &world.members, old.id)?;
        assert!(world.may::<RemoveDeployments>(world.developer).is_err());
        Ok(())
    });
}

const FILTER: DeploymentFilter = DeploymentFilter {
    environment: None,
    statuses: Vec::new(),
    updated_before: None,
    updated_after: None,
    order: DeploymentOrder::Id,
    descending: false,
};

/// Numbers 1 to 4: production and staging in turn, each an hour later than the one before, the last two with the same time.
fn listed_world(tx: &mut Tx<'_>, world: &World) -> Result<()> {
    let production = world.environment(tx, "production")?.id;
    let staging = world.environment(tx, "staging")?.id;
    world.deployment(tx, production, "b", DeploymentStatus::Success)?;
    wait(tx, Duration::hours(1));
    world.deployment(tx, staging, "a", DeploymentStatus::Failed)?;
    wait(tx, Duration::hours(1));
    world.deployment(tx, production, "c", DeploymentStatus::Failed)?;
    world.deployment(tx, staging, "a", DeploymentStatus::Success).map(drop)
}

fn iids(tx: &mut Tx<'_>, world: &World, filter: &DeploymentFilter) -> Result<Vec<i64>> {
    let page = tx.deployments(world.project, filter, PageRequest::default())?;
    Ok(page.items.into_iter().map(|one| one.iid).collect())
}

#[test]
fn lists_are_sorted_and_break_ties() {
    test(|tx, world| {
        listed_world(tx, world)?;
        let by = |order, descending| DeploymentFilter { order, descending, ..FILTER };
        for (order, ascending, descending) in [
            (DeploymentOrder::Id, [1, 2, 3, 4], [4, 3, 2, 1]),
            (DeploymentOrder::Iid, [1, 2, 3, 4], [4, 3, 2, 1]),
            (DeploymentOrder::CreatedAt, [1, 2, 3, 4], [4, 3, 2, 1]),
            (DeploymentOrder::UpdatedAt, [1, 2, 4, 3], [4, 3, 2, 1]),
            (DeploymentOrder::Ref, [2, 4, 1, 3], [3, 1, 4, 2]),
        ] {
            assert_eq!(iids(tx, world, &by(order, false))?, ascending, "{order}");
            assert_eq!(iids(tx, world, &by(order, true))?, descending, "{order}");
        }
        Ok(())
    });
}

#[test]
fn lists_are_filtered_by_environment_status_and_last_change() {
    test(|tx, world| {
        listed_world(tx, world)?;
        let grant = world.may::<ReadDeployments>(world.reporter)?;
        let page = PageRequest::default();
        let production = list(tx, &grant, Some("production"), &FILTER, page)?;
        assert_eq!(production.items.iter().map(|one| one.iid).collect::<Vec<_>>(), [1, 3]);
        assert!(list(tx, &grant, Some("Production"), &FILTER, page)?.items.is_empty());
        let failed = DeploymentFilter { statuses: vec![DeploymentStatus::Failed], ..FILTER };
        assert_eq!(iids(tx, world, &failed)?, [2, 3]);
        let hour_ago = Some(tx.now.plus(-Duration::hours(1)));

        let after = DeploymentFilter { updated_after: hour_ago, ..FILTER };
        assert_eq!(iids(tx, world, &after)?, [2, 4, 3]);
        let before = DeploymentFilter { updated_before: hour_ago, descending: true, ..FILTER };
        assert_eq!(iids(tx, world, &before)?, [2, 1]);
        Ok(())
    });
}

#[test]
fn deployments_of_somebody_who_goes_are_the_heirs() {
    test(|tx, world| {
        let one = world.environment(tx, "staging")?;
        let made = world.deployment(tx, one.id, "main", DeploymentStatus::Success)?;

        reassign(tx, world.developer, Some(world.maintainer))?;

        let after = tx.deployment(world.project, made.id)?.unwrap();
        assert_eq!(after.user_id, Some(world.maintainer));
        Ok(())
    });
}
