//! Effective roles, against a plain reading of who was added where.

use std::collections::BTreeMap;

use db::{
    Tx, each_backend, error,
    schema::{namespaces, project_access, project_group_links},
    testing::TestDatabase,
};
use diesel::prelude::*;
use forgeway_org::{
    access::{refresh_group, refresh_project},
    member::actions::{NewMember, Source},
    namespace::Kind,
    project::actions::{NewProject, insert},
    user::{
        User,
        actions::{NewUser, create},
    },
};
use kernel::{
    AccessLevel, Result, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
};
use proptest::prelude::*;

const PEOPLE: usize = 4;
const LEVELS: [AccessLevel; 5] = [
    AccessLevel::Guest,
    AccessLevel::Reporter,
    AccessLevel::Developer,
    AccessLevel::Maintainer,
    AccessLevel::Owner,
];

/// Groups with their parents, projects with their groups, and everything that gives somebody a role.
#[derive(Clone, Debug)]
struct World {
    /// Each group's parent is one before it, or none.
    groups: Vec<Option<usize>>,
    projects: Vec<usize>,
    in_groups: Vec<(usize, usize, usize)>,
    in_projects: Vec<(usize, usize, usize)>,
    /// Project, group, cap, and whether it has ended.
    links: Vec<(usize, usize, usize, bool)>,
}

fn world() -> impl Strategy<Value = World> {
    let groups = prop::collection::vec(any::<prop::sample::Index>(), 1..7);
    groups.prop_flat_map(|picks| {
        let groups: Vec<Option<usize>> = picks
            .iter()
            .enumerate()
            .map(|(number, pick)| Some(pick.index(number + 1)).filter(|parent| *parent < number))
            .collect();
        let count = groups.len();
        let projects = prop::collection::vec(0..count, 1..4);
        projects.prop_flat_map(move |projects| {
            let (groups, places) = (groups.clone(), projects.len());
            let in_groups = prop::collection::vec((0..count, 0..PEOPLE, 0..LEVELS.len()), 0..10);
            let in_projects = prop::collection::vec((0..places, 0..PEOPLE, 0..LEVELS.len()), 0..6);
            let links =
                prop::collection::vec((0..places, 0..count, 0..LEVELS.len(), any::<bool>()), 0..5);
            (in_groups, in_projects, links).prop_map(move |(in_groups, in_projects, links)| World {
                groups: groups.clone(),
                projects: projects.clone(),
                in_groups: once(in_groups),
                in_projects: once(in_projects),
                links: once_linked(links),
            })
        })
    })
}

/// Nobody is a member of the same thing twice.
fn once(rows: Vec<(usize, usize, usize)>) -> Vec<(usize, usize, usize)> {
    let found: BTreeMap<_, _> = rows.into_iter().map(|(a, b, c)| ((a, b), c)).collect();
    found.into_iter().map(|((a, b), c)| (a, b, c)).collect()
}

fn once_linked(rows: Vec<(usize, usize, usize, bool)>) -> Vec<(usize, usize, usize, bool)> {
    let found: BTreeMap<_, _> = rows.into_iter().map(|(a, b, c, d)| ((a, b), (c, d))).collect();
    found.into_iter().map(|((a, b), (c, d))| (a, b, c, d)).collect()
}

impl World {
    /// The levels that a group and those above it give.
    fn of_group(&self, group: usize, person: usize) -> Vec<usize> {
        let mut levels = Vec::new();
        let mut next = Some(group);
        while let Some(group) = next {
            levels.extend(
                self.in_groups
                    .iter()
                    .filter(|row| (row.0, row.1) == (group, person))
                    .map(|row| row.2),
            );
            next = self.groups[group];
        }
        levels
    }

    fn expected(&self, project: usize, person: usize) -> Option<AccessLevel> {
        let mut levels = self.of_group(self.projects[project], person);
        let own = self.in_projects.iter().filter(|row| (row.0, row.1) == (project, person));
        levels.extend(own.map(|row| row.2));
        for (_, group, cap, ended) in self.links.iter().filter(|link| link.0 == project) {
            if !ended {
                levels
                    .extend(self.of_group(*group, person).into_iter().map(|level| level.min(*cap)));
            }
        }
        levels.into_iter().max().map(|level| LEVELS[level])
    }
}

/// The rows of a world: its people, groups and projects.
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

fn build(tx: &mut Tx<'_>, world: &World) -> Result<Rows> {
    let people: Result<Vec<User>> =
        (0..PEOPLE).map(|number| create(tx, &NewUser::named(&format!("p{number}")))).collect();
    let people: Vec<UserId> = people?.into_iter().map(|user| user.id).collect();
    let mut groups: Vec<NamespaceId> = Vec::new();
    for (number, parent) in world.groups.iter().enumerate() {
        groups.push(group(tx, number, parent.map(|parent| groups[parent]))?);
    }
    let mut projects = Vec::new();
    for (number, home) in world.projects.iter().enumerate() {
        let new = NewProject {
            namespace_id: groups[*home],
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

fn add(tx: &mut Tx<'_>, world: &World, rows: &Rows) -> Result<()> {
    for (project, group, cap, ended) in &world.links {
        let end = tx.now.plus(time::Duration::days(if *ended { -1 } else { 1 }));
        let row = (
            project_group_links::project_id.eq(rows.projects[*project]),
            project_group_links::namespace_id.eq(rows.groups[*group]),
            project_group_links::access_level.eq(LEVELS[*cap]),
            project_group_links::expires_at.eq(Some(end)),
            project_group_links::created_at.eq(tx.now),
            project_group_links::updated_at.eq(tx.now),
        );
        let insert = diesel::insert_into(project_group_links::table).values(row);
        each_backend!(tx, |conn| insert.execute(conn).map_err(error("Group Link")))?;
        refresh_project(tx, rows.projects[*project])?;
    }
    let in_groups = world.in_groups.iter().map(|row| (Source::Group(rows.groups[row.0]), row));
    let in_projects =
        world.in_projects.iter().map(|row| (Source::Project(rows.projects[row.0]), row));
    for (source, (_, person, level)) in in_groups.chain(in_projects) {
        let new = NewMember {
            source,
            user_id: rows.people[*person],
            access_level: LEVELS[*level],
            expires_at: None,
            created_by: None,
        };
        forgeway_org::member::actions::insert(tx, &new)?;
    }
    Ok(())
}

fn effective(tx: &mut Tx<'_>, project: ProjectId) -> Result<BTreeMap<UserId, AccessLevel>> {
    let query = project_access::table
        .filter(project_access::project_id.eq(project))
        .select((project_access::user_id, project_access::access_level));
    let rows: Vec<(UserId, AccessLevel)> =
        each_backend!(tx, |conn| query.load(conn).map_err(error("Member")))?;
    Ok(rows.into_iter().collect())
}

fn check(tx: &mut Tx<'_>, world: &World, rows: &Rows) -> Result<()> {
    for (number, project) in rows.projects.iter().enumerate() {
        let expected: BTreeMap<UserId, AccessLevel> = (0..PEOPLE)
            .filter_map(|person| Some((rows.people[person], world.expected(number, person)?)))
            .collect();
        assert_eq!(effective(tx, *project)?, expected, "project {number} of {world:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn effective_roles_are_the_highest_that_any_place_gives(world in world()) {
        let database = TestDatabase::new();
        let done = database.db.write_blocking(move |tx| {
            let rows = build(tx, &world)?;
            add(tx, &world, &rows)?;
            check(tx, &world, &rows)?;
            for group in &rows.groups {
                refresh_group(tx, *group)?;
            }
            check(tx, &world, &rows)
        });
        prop_assert!(done.is_ok(), "{done:?}");
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
