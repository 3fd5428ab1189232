//! Effective roles, against a plain reading of who was added where.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use db::{
    Tx, each_backend, error,
    schema::{
        group_group_links, members, namespace_access, namespaces, project_access,
        project_group_links, projects,
    },
    testing::{TestDatabase, start},
};
use diesel::prelude::*;
use forgeway_org::{
    access::{
        self, bans, refresh_group, refresh_group_member, refresh_group_share, refresh_project,
        refresh_project_member, refresh_project_share,
    },
    member::{
        self,
        actions::{NewMember, Source},
    },
    namespace::{self, Kind},
    project::{
        actions::{NewProject, insert},
        links,
    },
    user::{
        User,
        actions::{NewUser, create},
    },
};
use kernel::{
    AccessLevel, Actor, Clock, Result, Ts, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
};
use proptest::prelude::*;
use time::Duration;

const PEOPLE: usize = 4;
const GROUPS: usize = 6;
const PROJECTS: usize = 3;
const LEVELS: [AccessLevel; 6] = [
    AccessLevel::Minimal,
    AccessLevel::Guest,
    AccessLevel::Reporter,
    AccessLevel::Developer,
    AccessLevel::Maintainer,
    AccessLevel::Owner,
];

/// One thing that happens. Ends are days from now; 0 is never.
#[derive(Clone, Debug)]
enum Step {
    JoinGroup {
        group: usize,
        person: usize,
        level: usize,
        end: i64,
    },
    LeaveGroup {
        group: usize,
        person: usize,
    },
    JoinProject {
        project: usize,
        person: usize,
        level: usize,
        end: i64,
    },
    LeaveProject {
        project: usize,
        person: usize,
    },
    ShareGroup {
        group: usize,
        invited: usize,
        level: usize,
        end: i64,
    },
    UnshareGroup {
        group: usize,
        invited: usize,
    },
    ShareProject {
        project: usize,
        invited: usize,
        level: usize,
        end: i64,
    },
    UnshareProject {
        project: usize,
        invited: usize,
    },
    MoveGroup {
        group: usize,
        parent: Option<usize>,
    },
    MoveProject {
        project: usize,
        group: usize,
    },
    LockOut {
        group: usize,
        person: usize,
    },
    LetIn {
        group: usize,
        person: usize,
    },
    /// A day passes. What ended is cleared away, or nobody has come to it yet.
    Sleep {
        cleared: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let (group, project, person) = (0..GROUPS, 0..PROJECTS, 0..PEOPLE);
    let (level, end) = (0..LEVELS.len(), 0_i64..3);
    prop_oneof![
        4 => (group.clone(), person.clone(), level.clone(), end.clone())
            .prop_map(|(group, person, level, end)| Step::JoinGroup { group, person, level, end }),
        1 => (group.clone(), person.clone())
            .prop_map(|(group, person)| Step::LeaveGroup { group, person }),
        2 => (project.clone(), person.clone(), level.clone(), end.clone())
            .prop_map(|(project, person, level, end)| Step::JoinProject { project, person, level, end }),
        1 => (project.clone(), person.clone())
            .prop_map(|(project, person)| Step::LeaveProject { project, person }),
        1 => (group.clone(), person.clone())
            .prop_map(|(group, person)| Step::LockOut { group, person }),
        1 => (group.clone(), person)
            .prop_map(|(group, person)| Step::LetIn { group, person }),
        3 => (group.clone(), group.clone(), level.clone(), end.clone())
            .prop_map(|(group, invited, level, end)| Step::ShareGroup { group, invited, level, end }),
        1 => (group.clone(), group.clone())
            .prop_map(|(group, invited)| Step::UnshareGroup { group, invited }),
        2 => (project.clone(), group.clone(), level, end)
            .prop_map(|(project, invited, level, end)| Step::ShareProject { project, invited, level, end }),
        1 => (project.clone(), group.clone())
            .prop_map(|(project, invited)| Step::UnshareProject { project, invited }),
        3 => (group.clone(), prop::option::weighted(0.8, group.clone()))
            .prop_map(|(group, parent)| Step::MoveGroup { group, parent }),
        1 => (project, group).prop_map(|(project, group)| Step::MoveProject { project, group }),
        2 => any::<bool>().prop_map(|cleared| Step::Sleep { cleared }),
    ]
}

/// A level and the moment at which it ends.
type Given = (usize, Option<Ts>);

/// What was given where, and nothing worked out.
#[derive(Clone, Debug, Default)]
struct World {
    parents: [Option<usize>; GROUPS],
    homes: [usize; PROJECTS],
    in_groups: BTreeMap<(usize, usize), Given>,
    in_projects: BTreeMap<(usize, usize), Given>,
    group_links: BTreeMap<(usize, usize), Given>,
    project_links: BTreeMap<(usize, usize), Given>,
    locked_out: BTreeSet<(usize, usize)>,
}

fn living(given: Option<&Given>, now: Ts) -> Option<usize> {
    given.filter(|(_, end)| end.is_none_or(|end| end > now)).map(|(level, _)| *level)
}

impl World {
    /// A group and those above it.
    fn line(&self, group: usize) -> Vec<usize> {
        std::iter::successors(Some(group), |group| self.parents[*group]).collect()
    }

    /// The highest role, above a mere seat, that membership of a group or of one above it gives.
    fn own(&self, group: usize, person: usize, now: Ts) -> Option<usize> {
        let given =
            self.line(group).into_iter().map(|at| living(self.in_groups.get(&(at, person)), now));
        given.flatten().filter(|level| *level > 0).max()
    }

    /// Whether somebody is locked out of a group, or of one above it.
    fn is_locked_out(&self, group: usize, person: usize) -> bool {
        self.line(group).into_iter().any(|at| self.locked_out.contains(&(at, person)))
    }

    fn in_group(&self, group: usize, person: usize, now: Ts) -> Option<usize> {
        if self.is_locked_out(group, person) {
            return None;
        }
        let mut levels = vec![living(self.in_groups.get(&(group, person)), now)];
        levels.push(self.own(group, person, now));
        for at in self.line(group) {
            for ((_, invited), link) in self.group_links.iter().filter(|(key, _)| key.0 == at) {
                let Some(cap) = living(Some(link), now) else { continue };
                let level = self.own(*invited, person, now).map(|level| level.min(cap));
                levels.push(level.filter(|level| at == group || *level > 0));
            }
        }
        levels.into_iter().flatten().max()
    }

    fn in_project(&self, project: usize, person: usize, now: Ts) -> Option<usize> {
        if self.is_locked_out(self.homes[project], person) {
            return None;
        }
        let inherited = self.in_group(self.homes[project], person, now).filter(|level| *level > 0);
        let mut levels = vec![inherited, living(self.in_projects.get(&(project, person)), now)];
        for ((_, invited), link) in self.project_links.iter().filter(|(key, _)| key.0 == project) {
            let Some(cap) = living(Some(link), now) else { continue };
            levels.push(self.own(*invited, person, now).map(|level| level.min(cap)));
        }
        levels.into_iter().flatten().max()
    }
}

/// The rows of a world: its people, groups and projects.
#[derive(Clone)]
struct Rows {
    people: Vec<UserId>,
    groups: Vec<NamespaceId>,
    projects: Vec<ProjectId>,
}

fn group(tx: &mut Tx<'_>, number: usize, parent: Option<NamespaceId>) -> Result<NamespaceId> {
    let path = format!("g{number}");
    let row = (
        namespaces::kind.eq(Kind::Group),
        namespaces::name.eq(&path),
        namespaces::path.eq(&path),
        namespaces::full_path.eq(&path),
        namespaces::path_key.eq(&path),
        namespaces::full_name.eq(&path),
        namespaces::parent_id.eq(parent),
        namespaces::visibility.eq(Visibility::Private),
        namespaces::project_creation_level.eq("maintainer"),
        namespaces::subgroup_creation_level.eq("maintainer"),
        namespaces::settings.eq("{}"),
        namespaces::created_at.eq(tx.now),
        namespaces::updated_at.eq(tx.now),
    );
    let insert = diesel::insert_into(namespaces::table).values(row).returning(namespaces::id);
    each_backend!(tx, |conn| insert.get_result(conn).map_err(error("Group")))
}

fn build(tx: &mut Tx<'_>) -> Result<Rows> {
    let people: Result<Vec<User>> =
        (0..PEOPLE).map(|number| create(tx, &NewUser::named(&format!("p{number}")))).collect();
    let people: Vec<UserId> = people?.into_iter().map(|user| user.id).collect();
    let groups: Result<Vec<NamespaceId>> =
        (0..GROUPS).map(|number| group(tx, number, None)).collect();
    let groups = groups?;
    let mut projects = Vec::new();
    for number in 0..PROJECTS {
        let new = NewProject {
            namespace_id: groups[0],
            creator_id: people[0],
            name: format!("x{number}"),
            path: format!("x{number}"),
            description: None,
            visibility: Visibility::Private,
        };
        projects.push(insert(tx, &new)?.id);
    }
    Ok(Rows { people, groups, projects })
}

fn end(now: Ts, days: i64) -> Option<Ts> {
    (days > 0).then(|| now.plus(Duration::days(days)))
}

fn join(tx: &mut Tx<'_>, source: Source, user_id: UserId, (level, end): Given) -> Result<()> {
    let access_level = LEVELS[level];
    let new = NewMember { source, user_id, access_level, expires_at: end, created_by: None };
    member::actions::insert(tx, &new)
}

macro_rules! run {
    ($tx:expr, $statement:expr) => {{
        let statement = $statement;
        each_backend!($tx, |conn| statement.execute(conn).map_err(error("Row")))?;
    }};
}

/// Does one thing in the world and in the rows.
#[expect(clippy::too_many_lines, reason = "one arm for each kind of step")]
fn take(tx: &mut Tx<'_>, world: &mut World, rows: &Rows, step: &Step) -> Result<()> {
    let now = tx.now;
    match *step {
        Step::JoinGroup { group, person, level, end: days } => {
            let given = (level, end(now, days));
            world.in_groups.insert((group, person), given);
            join(tx, Source::Group(rows.groups[group]), rows.people[person], given)
        }
        Step::LeaveGroup { group, person } => {
            world.in_groups.remove(&(group, person));
            let (group, user) = (rows.groups[group], rows.people[person]);
            let gone = members::table.filter(members::namespace_id.eq(group));
            run!(tx, diesel::delete(gone.filter(members::user_id.eq(user))));
            refresh_group_member(tx, group, user)
        }
        Step::JoinProject { project, person, level, end: days } => {
            let given = (level, end(now, days));
            world.in_projects.insert((project, person), given);
            join(tx, Source::Project(rows.projects[project]), rows.people[person], given)
        }
        Step::LeaveProject { project, person } => {
            world.in_projects.remove(&(project, person));
            let (project, user) = (rows.projects[project], rows.people[person]);
            let gone = members::table.filter(members::project_id.eq(project));
            run!(tx, diesel::delete(gone.filter(members::user_id.eq(user))));
            refresh_project_member(tx, project, user)
        }
        Step::ShareGroup { group, invited, level, end: days } if group != invited => {
            let given = (level, end(now, days));
            world.group_links.insert((group, invited), given);
            let (group, invited) = (rows.groups[group], rows.groups[invited]);
            unlink_group(tx, group, invited)?;
            let row = (
                group_group_links::namespace_id.eq(group),
                group_group_links::invited_id.eq(invited),
                group_group_links::access_level.eq(LEVELS[level]),
                group_group_links::expires_at.eq(given.1),
                group_group_links::created_at.eq(now),
                group_group_links::updated_at.eq(now),
            );
            run!(tx, diesel::insert_into(group_group_links::table).values(row));
            refresh_group_share(tx, group, invited)
        }
        Step::ShareGroup { .. } => Ok(()),
        Step::UnshareGroup { group, invited } => {
            world.group_links.remove(&(group, invited));
            let (group, invited) = (rows.groups[group], rows.groups[invited]);
            unlink_group(tx, group, invited)?;
            refresh_group_share(tx, group, invited)
        }
        Step::ShareProject { project, invited, level, end: days } => {
            let given = (level, end(now, days));
            world.project_links.insert((project, invited), given);
            let (project, invited) = (rows.projects[project], rows.groups[invited]);
            unlink_project(tx, project, invited)?;
            let row = (
                project_group_links::project_id.eq(project),
                project_group_links::namespace_id.eq(invited),
                project_group_links::access_level.eq(LEVELS[level]),
                project_group_links::expires_at.eq(given.1),
                project_group_links::created_at.eq(now),
                project_group_links::updated_at.eq(now),
            );
            run!(tx, diesel::insert_into(project_group_links::table).values(row));
            refresh_project_share(tx, project, invited)
        }
        Step::UnshareProject { project, invited } => {
            world.project_links.remove(&(project, invited));
            let (project, invited) = (rows.projects[project], rows.groups[invited]);
            unlink_project(tx, project, invited)?;
            refresh_project_share(tx, project, invited)
        }
        Step::MoveGroup { group, parent } => {
            if parent.is_some_and(|parent| world.line(parent).contains(&group)) {
                return Ok(());
            }
            world.parents[group] = parent;
            let (group, parent) = (rows.groups[group], parent.map(|parent| rows.groups[parent]));
            let row = namespaces::table.find(group);
            run!(tx, diesel::update(row).set(namespaces::parent_id.eq(parent)));
            refresh_group(tx, group)
        }
        Step::MoveProject { project, group } => {
            world.homes[project] = group;
            let (project, group) = (rows.projects[project], rows.groups[group]);
            let row = projects::table.find(project);
            run!(tx, diesel::update(row).set(projects::namespace_id.eq(group)));
            refresh_project(tx, project)
        }
        Step::LockOut { group, person } => {
            world.locked_out.insert((group, person));
            bans::lock_out(tx, rows.groups[group], rows.people[person]).map(drop)
        }
        Step::LetIn { group, person } => {
            world.locked_out.remove(&(group, person));
            bans::let_in(tx, rows.groups[group], rows.people[person])
        }
        Step::Sleep { .. } => Ok(()),
    }
}

fn unlink_group(tx: &mut Tx<'_>, group: NamespaceId, invited: NamespaceId) -> Result<()> {
    let old = group_group_links::table
        .filter(group_group_links::namespace_id.eq(group))
        .filter(group_group_links::invited_id.eq(invited));
    run!(tx, diesel::delete(old));
    Ok(())
}

fn unlink_project(tx: &mut Tx<'_>, project: ProjectId, invited: NamespaceId) -> Result<()> {
    let old = project_group_links::table
        .filter(project_group_links::project_id.eq(project))
        .filter(project_group_links::namespace_id.eq(invited));
    run!(tx, diesel::delete(old));
    Ok(())
}

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
    }
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
