//! What happens, done in the database as well.

use db::{
    Tx, each_backend, error,
    schema::{group_group_links, members, namespaces, project_group_links, projects},
};
use diesel::prelude::*;
use forgeway_org::{
    access::{
        bans, refresh_group, refresh_group_member, refresh_group_share, refresh_project,
        refresh_project_member, refresh_project_share, refresh_projects_in,
    },
    member::{self, NewMember, Source},
    namespace::{GroupSettings, Kind},
    project::creation::{NewProject, insert},
    user::{
        User,
        actions::{NewUser, create},
    },
};
use kernel::{
    Error, Result, Ts, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
};
use time::Duration;

use super::world::{GROUPS, LEVELS, PEOPLE, PROJECTS, Step, TimedLevel, World};

/// The rows of a world: its people, groups and projects.
#[derive(Clone)]
pub(super) struct Rows {
    pub(super) people: Vec<UserId>,
    pub(super) groups: Vec<NamespaceId>,
    pub(super) projects: Vec<ProjectId>,
}

pub(super) fn group(
    tx: &mut Tx<'_>,
    number: usize,
    parent: Option<NamespaceId>,
) -> Result<NamespaceId> {
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

pub(super) fn build(tx: &mut Tx<'_>) -> Result<Rows> {
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

fn join(tx: &mut Tx<'_>, source: Source, user_id: UserId, (level, end): TimedLevel) -> Result<()> {
    let access_level = LEVELS[level];
    let new = NewMember { source, user_id, access_level, expires_at: end, created_by: None };
    member::steps::insert(tx, &new)
}

macro_rules! run {
    ($tx:expr, $statement:expr) => {{
        let statement = $statement;
        each_backend!($tx, |conn| statement.execute(conn).map_err(error("Row")))?;
    }};
}

/// Does one thing in the world and in the rows.
#[expect(clippy::too_many_lines, reason = "one arm for each kind of step")]
pub(super) fn take(tx: &mut Tx<'_>, world: &mut World, rows: &Rows, step: &Step) -> Result<()> {
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
        Step::SetLock { group, on } => {
            match on {
                true => world.locks.insert(group),
                false => world.locks.remove(&group),
            };
            let group = rows.groups[group];
            let settings = GroupSettings { share_with_group_lock: on, ..GroupSettings::default() };
            let text = serde_json::to_string(&settings).map_err(Error::internal)?;
            let row = namespaces::table.find(group);
            run!(tx, diesel::update(row).set(namespaces::settings.eq(text)));
            refresh_projects_in(tx, group)
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
