//! Queries on the group hierarchy.

use std::collections::{HashMap, HashSet};

use db::{
    Fragment, OneOf as _, Tx, each_backend, error,
    listing::{self, Bind, list_of},
    schema::{namespace_access, namespaces, project_access, projects},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result, Ts, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
};

use crate::namespace::{
    Kind, Namespace, full_path::below, model::WikiAccess, networks::closed_to,
    store::NamespaceStore, visible_groups,
};

/// Maximum depth of the group hierarchy.
const DEEPEST: usize = 64;

/// The group of a project and those above it, nearest first; nothing for projects of persons.
pub fn above_project(tx: &mut Tx<'_>, project: ProjectId) -> Result<Vec<NamespaceId>> {
    chain(tx, "SELECT namespace_id FROM projects WHERE id = $1", project.0)
}

#[derive(QueryableByName)]
struct GroupAbove {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    project: i64,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    id: i64,
}

/// As [`above_project`], for some projects at once.
pub fn above_projects(
    tx: &mut Tx<'_>,
    of: &[ProjectId],
) -> Result<HashMap<ProjectId, Vec<NamespaceId>>> {
    let ids: Vec<i64> = of.iter().map(|project| project.0).collect();
    let text = format!(
        "WITH RECURSIVE above(project, id, parent_id, kind, depth) AS (\
         SELECT p.id, n.id, n.parent_id, n.kind, 1 FROM projects p JOIN namespaces n ON n.id = p.namespace_id \
         WHERE p.id IN ({}) \
         UNION ALL SELECT a.project, n.id, n.parent_id, n.kind, a.depth + 1 \
         FROM above a JOIN namespaces n ON n.id = a.parent_id WHERE a.depth < {DEEPEST}) \
         SELECT project, id FROM above WHERE kind = '{}' ORDER BY project, depth",
        list_of(&ids),
        Kind::Group
    );
    let rows: Vec<GroupAbove> = listing::rows(tx, &text, &[])?;
    let mut found: HashMap<ProjectId, Vec<NamespaceId>> =
        of.iter().map(|project| (*project, Vec::new())).collect();
    for row in rows {
        found.entry(ProjectId(row.project)).or_default().push(NamespaceId(row.id));
    }
    Ok(found)
}

/// The groups above a group, nearest first.
pub fn above_group(tx: &mut Tx<'_>, group: NamespaceId) -> Result<Vec<NamespaceId>> {
    chain(tx, "SELECT parent_id FROM namespaces WHERE id = $1", group.0)
}

/// The group and those above it, nearest first; nothing for a personal namespace.
pub fn group_chain(tx: &mut Tx<'_>, group: NamespaceId) -> Result<Vec<NamespaceId>> {
    chain(tx, "$1", group.0)
}

/// The groups that a project or group was in before it moved away from a path, and is not in any more. `above` has those
/// that it is in now.
pub fn groups_left(
    tx: &mut Tx<'_>,
    above: &[NamespaceId],
    old_full_path: &str,
) -> Result<Vec<NamespaceId>> {
    let Some((old_parent, _)) = old_full_path.rsplit_once('/') else { return Ok(Vec::new()) };
    let Some(old_parent) = tx.find_namespace_at(old_parent)? else { return Ok(Vec::new()) };
    let mut left = group_chain(tx, old_parent.id)?;
    left.retain(|old| !above.contains(old));
    Ok(left)
}

/// In one statement, however deep, and whether or not there is such a record: who may not know of it measures nothing.
fn chain(tx: &mut Tx<'_>, first: &str, id: i64) -> Result<Vec<NamespaceId>> {
    let text = format!(
        "WITH RECURSIVE above(id, parent_id, kind, depth) AS (\
         SELECT n.id, n.parent_id, n.kind, 1 FROM namespaces n WHERE n.id = ({first}) \
         UNION ALL SELECT n.id, n.parent_id, n.kind, a.depth + 1 FROM above a JOIN namespaces n ON n.id = a.parent_id \
         WHERE a.depth < {DEEPEST}) \
         SELECT id FROM above WHERE kind = '{}' ORDER BY depth",
        Kind::Group
    );
    let ids = listing::ids(tx, &text, &[Bind::Number(id)])?;
    Ok(ids.into_iter().map(NamespaceId).collect())
}

/// Those of some groups that the caller may know of and whose networks hold their address: what is open to them, what
/// they have a role in, and what lies above that. Owners reach their groups from anywhere.
macro_rules! known_groups_of {
    ($actor:expr, $now:expr, $above:expr, $closed:expr, $rows:expr) => {{
        let open = namespaces::visibility.eq_any(open_to($actor));
        let rows = match $actor.id {
            _ if $actor.admin => $rows,
            None => $rows.filter(open),
            Some(user) => $rows.filter(
                open.or(namespaces::id.eq_any(
                    namespace_access::table
                        .filter(namespace_access::user_id.eq(user))
                        .filter(namespace_access::access_level.gt(AccessLevel::NoAccess))
                        .filter(namespace_access::until.gt($now))
                        .select(namespace_access::namespace_id),
                ))
                .or(namespaces::id.eq_any(&$above)),
            ),
        };
        if $closed.is_empty() {
            rows
        } else {
            let owned = namespace_access::table
                .filter(namespace_access::user_id.eq($actor.id.unwrap_or(NOBODY)))
                .filter(namespace_access::access_level.ge(AccessLevel::Owner))
                .filter(namespace_access::until.gt($now))
                .select(namespace_access::namespace_id);
            let elsewhere =
                namespaces::ip_ranges.is_not_null().and(namespaces::ip_ranges.eq_any(&$closed));
            rows.filter(diesel::dsl::not(elsewhere).or(namespaces::id.eq_any(owned)))
        }
    }};
}

/// No person has this id.
const NOBODY: UserId = UserId(0);

/// The groups below a group that the caller may know of.
pub fn below_group(tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<Vec<NamespaceId>> {
    let mut found: Vec<NamespaceId> = Vec::new();
    let mut level = vec![group];
    while !level.is_empty() && found.len() < usize::from(u16::MAX) {
        level = children(tx, actor, &level)?;
        found.extend(&level);
    }
    Ok(found)
}

/// The groups right below these that the caller may know of. Nothing visible lies below what is not.
fn children(tx: &mut Tx<'_>, actor: Actor, of: &[NamespaceId]) -> Result<Vec<NamespaceId>> {
    let (now, closed, above) = (tx.now, closed_to(tx, actor)?, above(tx, actor)?);
    each_backend!(tx, |conn| {
        let rows = namespaces::table
            .filter(namespaces::parent_id.one_of(of))
            .filter(namespaces::deleted_at.is_null())
            .select(namespaces::id)
            .into_boxed();
        known_groups_of!(actor, now, above, closed, rows).load(conn).map_err(error("Group"))
    })
}

/// Those of these groups that the caller may know of, in the order of their ids.
pub fn known_groups(tx: &mut Tx<'_>, actor: Actor, ids: &[NamespaceId]) -> Result<Vec<Namespace>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (now, closed, above) = (tx.now, closed_to(tx, actor)?, above(tx, actor)?);
    each_backend!(tx, |conn| {
        let rows = namespaces::table
            .filter(namespaces::id.one_of(ids).and(namespaces::kind.eq(Kind::Group)))
            .filter(namespaces::deleted_at.is_null())
            .order(namespaces::id)
            .select(Namespace::as_select())
            .into_boxed();
        known_groups_of!(actor, now, above, closed, rows).load(conn).map_err(error("Group"))
    })
}

/// The projects right inside these groups that the caller may know of.
pub fn projects_in(
    tx: &mut Tx<'_>,
    actor: Actor,
    groups: &[NamespaceId],
) -> Result<Vec<ProjectId>> {
    let (now, closed) = (tx.now, closed_to(tx, actor)?);
    each_backend!(tx, |conn| {
        let mut rows = projects::table
            .filter(projects::namespace_id.one_of(groups))
            .filter(projects::deleted_at.is_null())
            .select(projects::id)
            .into_boxed();
        if !closed.is_empty() {
            let elsewhere = namespaces::table.filter(namespaces::ip_ranges.one_of(&closed));
            rows = rows.filter(projects::namespace_id.ne_all(elsewhere.select(namespaces::id)));
        }
        let open = projects::visibility.eq_any(open_to(actor));
        let rows = match actor.id {
            _ if actor.admin => rows,
            None => rows.filter(open),
            Some(user) => {
                let theirs = project_access::table
                    .filter(project_access::user_id.eq(user))
                    .filter(project_access::access_level.gt(AccessLevel::NoAccess))
                    .filter(project_access::until.gt(now))
                    .select(project_access::project_id);
                rows.filter(open.or(projects::id.eq_any(theirs)))
            }
        };
        rows.load(conn).map_err(error("Project"))
    })
}

/// The groups that somebody only passes through.
fn above(tx: &mut Tx<'_>, actor: Actor) -> Result<Vec<NamespaceId>> {
    match actor.id {
        Some(user) if !actor.admin => {
            Ok(visible_groups::above(tx, user)?.iter().copied().map(NamespaceId).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// What somebody may know of without a role in it.
fn open_to(actor: Actor) -> Vec<Visibility> {
    if actor.id.is_some() && !actor.external {
        vec![Visibility::Public, Visibility::Internal]
    } else {
        vec![Visibility::Public]
    }
}

/// Whether somebody may look around in a group, as SQL about its id: because it is open, or with a role in it; and not
/// from outside its networks, unless they own it.
pub fn sees_group(tx: &mut Tx<'_>, actor: Actor, group: &str) -> Result<Fragment> {
    let now = tx.now;
    let seen = match actor.admin {
        true => String::new(),
        false => {
            let open: Vec<String> =
                open_to(actor).iter().map(|visibility| format!("'{visibility}'")).collect();
            let member = has_role_in(now, actor, group, AccessLevel::Guest);
            format!(" AND (g.visibility IN ({}) OR {member})", open.join(", "))
        }
    };
    let closed: Vec<String> = closed_to(tx, actor)?
        .iter()
        .map(|ranges| format!("'{}'", ranges.replace('\'', "''")))
        .collect();
    let reached = match closed.is_empty() {
        true => String::new(),
        false => {
            let owner = has_role_in(now, actor, group, AccessLevel::Owner);
            let closed = closed.join(", ");
            format!(" AND (g.ip_ranges IS NULL OR g.ip_ranges NOT IN ({closed}) OR {owner})")
        }
    };
    Ok(Fragment::new(format!(
        "EXISTS (SELECT 1 FROM namespaces g WHERE g.id = {group} AND g.deleted_at IS NULL{seen}{reached})"
    )))
}

/// Whether somebody has at least this role in a group, as SQL about its id.
pub fn has_role_in(now: Ts, actor: Actor, group: &str, role: AccessLevel) -> Fragment {
    if actor.admin {
        return Fragment::new("1 = 1");
    }
    let Some(user) = actor.id else { return Fragment::new("1 = 0") };
    let reached = visible_groups::reached(now, role);
    Fragment::new(format!(
        "EXISTS (SELECT 1 FROM namespace_access a WHERE a.user_id = {user} \
         AND a.namespace_id = {group} AND {reached})"
    ))
}

/// Those of these groups, all of which somebody sees, whose wikis they may read.
pub fn readable_wikis(
    tx: &mut Tx<'_>,
    actor: Actor,
    groups: &[NamespaceId],
) -> Result<Vec<NamespaceId>> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = groups.iter().map(|group| group.0).collect();
    let member = has_role_in(tx.now, actor, "n.id", AccessLevel::Guest);
    let theirs =
        format!("SELECT n.id FROM namespaces n WHERE n.id IN ({}) AND {member}", list_of(&ids));
    let theirs: HashSet<i64> = listing::ids(tx, &theirs, &[])?.into_iter().collect();
    let known = known_groups(tx, actor, groups)?;
    let readable = known.into_iter().filter(|group| match group.settings().wiki_access_level {
        WikiAccess::Enabled => true,
        WikiAccess::Private => theirs.contains(&group.id.0),
        WikiAccess::Disabled => false,
    });
    Ok(readable.map(|group| group.id).collect())
}

/// Which of these projects lie in a group or below it.
pub fn projects_below(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    among: &[ProjectId],
) -> Result<Vec<ProjectId>> {
    let (from, to) = below(&tx.namespace(group)?.full_path);
    let rows = projects::table
        .filter(projects::id.one_of(among))
        .filter(projects::path_key.ge(from).and(projects::path_key.lt(to)))
        .select(projects::id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Project")))
}

/// Who has a role in a group, by membership of its own or from above, in the order of their ids.
pub fn members_of_group(tx: &mut Tx<'_>, group: NamespaceId, most: i64) -> Result<Vec<UserId>> {
    let rows = namespace_access::table
        .filter(namespace_access::namespace_id.eq(group))
        .filter(namespace_access::access_level.ge(AccessLevel::Guest))
        .filter(namespace_access::until.gt(tx.now))
        .order(namespace_access::user_id)
        .limit(most)
        .select(namespace_access::user_id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Member")))
}

/// Who has a role in a project, in the order of their ids.
pub fn members_of_project(tx: &mut Tx<'_>, project: ProjectId, most: i64) -> Result<Vec<UserId>> {
    let rows = project_access::table
        .filter(project_access::project_id.eq(project))
        .filter(project_access::access_level.ge(AccessLevel::Guest))
        .filter(project_access::until.gt(tx.now))
        .order(project_access::user_id)
        .limit(most)
        .select(project_access::user_id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Member")))
}

/// Which of these groups are a group or lie below it.
pub fn groups_within(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    among: &[NamespaceId],
) -> Result<Vec<NamespaceId>> {
    let (from, to) = below(&tx.namespace(group)?.full_path);
    let inside = namespaces::path_key.ge(from).and(namespaces::path_key.lt(to));
    let rows = namespaces::table
        .filter(namespaces::id.one_of(among))
        .filter(namespaces::id.eq(group).or(inside))
        .select(namespaces::id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Group")))
}

/// The full paths of projects.
pub fn project_paths(tx: &mut Tx<'_>, ids: &[ProjectId]) -> Result<HashMap<ProjectId, String>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = projects::table
        .filter(projects::id.one_of(ids))
        .select((projects::id, projects::full_path));
    let rows: Vec<(ProjectId, String)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Project")))?;
    Ok(rows.into_iter().collect())
}

/// The full paths of groups.
pub fn group_paths(tx: &mut Tx<'_>, ids: &[NamespaceId]) -> Result<HashMap<NamespaceId, String>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = namespaces::table
        .filter(namespaces::id.one_of(ids))
        .select((namespaces::id, namespaces::full_path));
    let rows: Vec<(NamespaceId, String)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Group")))?;
    Ok(rows.into_iter().collect())
}
