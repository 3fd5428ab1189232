//! Effective roles, against a plain reading of who was added where.

mod steps;
mod world;

use std::{collections::BTreeSet, sync::Arc};

use db::{
    Tx, each_backend, error,
    schema::{namespace_access, namespaces, project_access},
    testing::{TestDatabase, start},
};
use diesel::prelude::*;
use forgeway_org::{
    access::{self, refresh_group},
    member, namespace,
    project::links,
};
use kernel::{
    AccessLevel, Actor, Clock, Result,
    ids::{NamespaceId, ProjectId, UserId},
};
use proptest::prelude::*;
use time::Duration;

use self::{
    steps::{Rows, build, group, take},
    world::{LEVELS, Step, World, step},
};

/// What a look-up says of everybody, everywhere.
fn check(tx: &mut Tx<'_>, world: &World, rows: &Rows) -> Result<()> {
    let named = |level: Option<usize>| level.map_or(AccessLevel::NoAccess, |level| LEVELS[level]);
    for (person, user) in rows.people.iter().enumerate() {
        let actor = Actor { id: Some(*user), ..Actor::ANONYMOUS };
        for (group, id) in rows.groups.iter().enumerate() {
            let found = access::level_in_namespace(tx, actor, *id)?;
            let expected = named(world.in_group(group, person, tx.now));
            assert_eq!(found, expected, "person {person} in group {group} of {world:#?}");
        }
        for (project, id) in rows.projects.iter().enumerate() {
            let found = access::level_in_project(tx, actor, *id)?;
            let expected = named(world.in_project(project, person, tx.now));
            assert_eq!(found, expected, "person {person} in project {project} of {world:#?}");
        }
    }
    Ok(())
}

/// Rows that lists show, beyond those that look-ups ask for, are none; and once all that ended was cleared away, none is
/// missing.
fn check_rows(tx: &mut Tx<'_>, world: &World, rows: &Rows, cleared: bool) -> Result<()> {
    let query = namespace_access::table
        .filter(namespace_access::until.gt(tx.now))
        .filter(namespace_access::namespace_id.eq_any(&rows.groups))
        .select((namespace_access::namespace_id, namespace_access::user_id));
    let listed: Vec<(NamespaceId, UserId)> =
        each_backend!(tx, |conn| query.load(conn).map_err(error("Row")))?;
    let listed: BTreeSet<_> = listed.into_iter().collect();
    let query = project_access::table
        .filter(project_access::until.gt(tx.now))
        .select((project_access::project_id, project_access::user_id));
    let inside: Vec<(ProjectId, UserId)> =
        each_backend!(tx, |conn| query.load(conn).map_err(error("Row")))?;
    let inside: BTreeSet<_> = inside.into_iter().collect();
    for (person, user) in rows.people.iter().enumerate() {
        for (group, id) in rows.groups.iter().enumerate() {
            let expected = world.in_group(group, person, tx.now).is_some();
            let found = listed.contains(&(*id, *user));
            assert!(found == expected || (!found && !cleared), "{person} in {group} of {world:#?}");
        }
        for (project, id) in rows.projects.iter().enumerate() {
            let expected = world.in_project(project, person, tx.now).is_some();
            let found = inside.contains(&(*id, *user));
            assert!(
                found == expected || (!found && !cleared),
                "{person} in project {project} of {world:#?}"
            );
        }
    }
    Ok(())
}

fn clear(tx: &mut Tx<'_>) -> Result<()> {
    while member::actions::remove_expired(tx)? {}
    while namespace::sharing::remove_expired(tx)? {}
    while links::remove_expired(tx)? {}
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn effective_roles_are_the_highest_that_any_place_gives(steps in prop::collection::vec(step(), 1..24)) {
        let clock = Arc::new(Clock::fixed(start()));
        let database = TestDatabase::with_clock(clock.clone());
        let rows = database.db.write_blocking(build).expect("the world is made");
        let mut world = World::default();
        let mut cleared = true;
        for step in steps {
            if let Step::Sleep { cleared: now } = step {
                clock.advance(Duration::days(1));
                cleared = now;
            }
            let (rows, mut next, taken) = (rows.clone(), world.clone(), step.clone());
            world = database.db.write_blocking(move |tx| {
                if matches!(taken, Step::Sleep { cleared: true }) {
                    clear(tx)?;
                }
                take(tx, &mut next, &rows, &taken)?;
                check(tx, &next, &rows)?;
                check_rows(tx, &next, &rows, cleared)?;
                Ok(next)
            }).expect("the step is taken");
        }
        rebuild(&database, &world, &rows);
    }
}

/// A database whose roles follow older rules has the same ones after the start.
fn rebuild(database: &TestDatabase, world: &World, rows: &Rows) {
    let marked = database.db.write_blocking(|tx| {
        let (groups, projects) =
            (diesel::delete(namespace_access::table), diesel::delete(project_access::table));
        each_backend!(tx, |conn| groups.execute(conn).map_err(error("Row")))?;
        each_backend!(tx, |conn| projects.execute(conn).map_err(error("Row")))?;
        db::stamp::renew_stamp(tx, &["roles by older rules".to_owned()])
    });
    marked.expect("the mark is made");
    access::follow_rules(&database.db).expect("roles are worked out");
    let world = world.clone();
    let same = database.db.read_blocking(|tx| {
        check(tx, &world, rows)?;
        check_rows(tx, &world, rows, true)
    });
    same.expect("roles can be read");
}

#[test]
fn a_ring_of_groups_ends() {
    let database = TestDatabase::new();
    let done = database.db.write_blocking(|tx| {
        let first = group(tx, 1, None)?;
        let second = group(tx, 2, Some(first))?;
        let ring = diesel::update(namespaces::table.find(first))
            .set(namespaces::parent_id.eq(Some(second)));
        each_backend!(tx, |conn| ring.execute(conn).map_err(error("Group")))?;
        refresh_group(tx, first)
    });
    done.expect("the walk ends");
}
