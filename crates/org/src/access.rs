//! How a caller stands in a project or group: one look into the projection of effective membership.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use db::{
    Tx, each_backend, error,
    schema::{
        members, namespace_access, namespaces, project_access, project_group_links, projects,
    },
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Error, Result, Standing,
    access::{Group, Project},
    ids::{NamespaceId, ProjectId, UserId},
};

use crate::{
    member::actions::Source,
    namespace::{Kind, default_branch, store::NamespaceStore},
    project::store::ProjectStore,
};

/// An id in a path: a number, or the full path of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdOrPath {
    Id(i64),
    Path(String),
}

impl IdOrPath {
    /// All digits, with an optional leading minus, are an id; anything else is a path.
    pub fn parse(text: &str) -> Self {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let numeric = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            // A number too large for any id names nothing.
            Err(_) if numeric => Self::Id(-1),
            Ok(id) if numeric => Self::Id(id),
            _ => Self::Path(text.to_owned()),
        }
    }
}

/// The actor's effective role in a project; `NoAccess` for outsiders.
pub fn level_in_project(tx: &mut Tx<'_>, actor: Actor, project: ProjectId) -> Result<AccessLevel> {
    let Some(user) = actor.id else { return Ok(AccessLevel::NoAccess) };
    let query = project_access::table.find((user, project)).select(project_access::access_level);
    let level: Option<AccessLevel> =
        each_backend!(tx, |conn| query.get_result(conn).optional().map_err(error("Member")))?;
    Ok(level.unwrap_or_default())
}

/// The actor's effective role in a group or personal namespace; `NoAccess` for outsiders.
pub fn level_in_namespace(
    tx: &mut Tx<'_>,
    actor: Actor,
    namespace: NamespaceId,
) -> Result<AccessLevel> {
    let Some(user) = actor.id else { return Ok(AccessLevel::NoAccess) };
    let query =
        namespace_access::table.find((user, namespace)).select(namespace_access::access_level);
    let level: Option<AccessLevel> =
        each_backend!(tx, |conn| query.get_result(conn).optional().map_err(error("Member")))?;
    Ok(level.unwrap_or_default())
}

/// Whether a project is shared with a group.
pub fn is_shared_with(tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<bool> {
    let now = tx.now;
    let links = project_group_links::table
        .filter(project_group_links::project_id.eq(project))
        .filter(project_group_links::namespace_id.eq(group))
        .filter(
            project_group_links::expires_at.is_null().or(project_group_links::expires_at.gt(now)),
        );
    let found: i64 =
        each_backend!(tx, |conn| links.count().get_result(conn).map_err(error("Group")))?;
    Ok(found > 0)
}

/// Finds a project and how the actor stands there. Absent and invisible are the same `NotFound`.
pub fn locate_project(tx: &mut Tx<'_>, actor: Actor, id: &IdOrPath) -> Result<(Project, Standing)> {
    let found = match id {
        IdOrPath::Id(id) => tx.find_project(ProjectId(*id))?,
        IdOrPath::Path(path) if path.contains('/') => tx.find_project_at(path)?,
        IdOrPath::Path(_) => None,
    };
    let project = found.ok_or(Error::NotFound("Project"))?;
    let level = level_in_project(tx, actor, project.id)?;
    let mut facts = project.facts();
    if facts.default_branch.is_none() {
        facts.first_push = default_branch::first_push(tx, facts.namespace_id)?;
    }
    let standing = Standing::in_project(actor, level, &facts);
    if !standing.visible {
        return Err(Error::NotFound("Project"));
    }
    Ok((Project(facts.into()), standing))
}

/// Finds a group and how the actor stands there. Absent, invisible and personal are the same `NotFound`.
pub fn locate_group(tx: &mut Tx<'_>, actor: Actor, id: &IdOrPath) -> Result<(Group, Standing)> {
    let found = match id {
        IdOrPath::Id(id) => tx.find_namespace(NamespaceId(*id))?,
        IdOrPath::Path(path) => tx.find_namespace_at(path)?,
    };
    let group =
        found.filter(|namespace| namespace.kind == Kind::Group).ok_or(Error::NotFound("Group"))?;
    let level = level_in_namespace(tx, actor, group.id)?;
    let standing = Standing::in_scope(actor, level, group.visibility);
    if !standing.visible {
        return Err(Error::NotFound("Group"));
    }
    Ok((Group(group.facts().into()), standing))
}

/// Somebody's level, from one of the places that give it.
type Level = (UserId, AccessLevel);

/// Groups lie in one another so deep at most: what a request may create, and more than a walk ever sees.
const DEEPEST: usize = 64;

/// Works out anew who has which effective role in a project. Call it in the transaction of whatever changed that.
pub fn refresh_project(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let row = projects::table.find(project).select(projects::namespace_id);
    let home: NamespaceId =
        each_backend!(tx, |conn| row.get_result(conn).map_err(error("Project")))?;
    let mut known = HashMap::new();
    refresh_project_in(tx, project, home, &mut known)
}

/// The levels that namespaces give, kept while many projects are worked out.
type Known = HashMap<NamespaceId, BTreeMap<UserId, AccessLevel>>;

fn refresh_project_in(
    tx: &mut Tx<'_>,
    project: ProjectId,
    home: NamespaceId,
    known: &mut Known,
) -> Result<()> {
    let mut levels = direct_members(tx, Source::Project(project))?;
    levels.extend(inherited(tx, home, known)?);
    let now = tx.now;
    let living =
        project_group_links::expires_at.is_null().or(project_group_links::expires_at.gt(now));
    let links = project_group_links::table
        .filter(project_group_links::project_id.eq(project))
        .filter(living)
        .select((project_group_links::namespace_id, project_group_links::access_level));
    let links: Vec<(NamespaceId, AccessLevel)> =
        each_backend!(tx, |conn| links.load(conn).map_err(error("Group")))?;
    for (group, cap) in links {
        let invited = inherited(tx, group, known)?;
        levels.extend(invited.into_iter().map(|(user, level)| (user, level.min(cap))));
    }
    let old = project_access::table.filter(project_access::project_id.eq(project));
    each_backend!(tx, |conn| diesel::delete(old).execute(conn).map_err(error("Member")))?;
    let rows: Vec<_> = highest(levels)
        .into_iter()
        .map(|(user, level)| {
            (
                project_access::user_id.eq(user),
                project_access::project_id.eq(project),
                project_access::access_level.eq(level),
            )
        })
        .collect();
    for rows in rows.chunks(AT_ONCE) {
        let rows = rows.to_vec();
        each_backend!(tx, |conn| diesel::insert_into(project_access::table)
            .values(rows)
            .execute(conn)
            .map_err(error("Member")))?;
    }
    Ok(())
}

/// Rows of one insert; each takes three of the values that a statement may have.
const AT_ONCE: usize = 1000;

/// Works out anew the effective roles in a group, in everything below it, and in the projects of all of these.
pub fn refresh_group(tx: &mut Tx<'_>, group: NamespaceId) -> Result<()> {
    let mut known = HashMap::new();
    let mut affected = BTreeMap::new();
    for group in below(tx, group)? {
        refresh_namespace(tx, group, &mut known)?;
        let inside = projects::table
            .filter(projects::namespace_id.eq(group))
            .filter(projects::deleted_at.is_null())
            .select((projects::id, projects::namespace_id));
        let inside: Vec<(ProjectId, NamespaceId)> =
            each_backend!(tx, |conn| inside.load(conn).map_err(error("Project")))?;
        affected.extend(inside);
        let invited = project_group_links::table
            .inner_join(projects::table)
            .filter(project_group_links::namespace_id.eq(group))
            .filter(projects::deleted_at.is_null())
            .select((projects::id, projects::namespace_id));
        let invited: Vec<(ProjectId, NamespaceId)> =
            each_backend!(tx, |conn| invited.load(conn).map_err(error("Project")))?;
        affected.extend(invited);
    }
    // A project that several of these groups reach is worked out once, after all of them.
    for (project, home) in affected {
        refresh_project_in(tx, project, home, &mut known)?;
    }
    Ok(())
}

/// A group and everything below it, from the top. Each occurs once, whatever the rows say.
fn below(tx: &mut Tx<'_>, top: NamespaceId) -> Result<Vec<NamespaceId>> {
    let mut found = vec![top];
    let mut seen = BTreeSet::from([top]);
    let mut level = vec![top];
    for _ in 0..DEEPEST {
        let next =
            namespaces::table.filter(namespaces::parent_id.eq_any(&level)).select(namespaces::id);
        let next: Vec<NamespaceId> =
            each_backend!(tx, |conn| next.load(conn).map_err(error("Group")))?;
        level = next.into_iter().filter(|id| seen.insert(*id)).collect();
        if level.is_empty() {
            break;
        }
        found.extend(&level);
    }
    Ok(found)
}

fn refresh_namespace(tx: &mut Tx<'_>, group: NamespaceId, known: &mut Known) -> Result<()> {
    let levels = inherited(tx, group, known)?;
    let old = namespace_access::table.filter(namespace_access::namespace_id.eq(group));
    each_backend!(tx, |conn| diesel::delete(old).execute(conn).map_err(error("Member")))?;
    let rows: Vec<_> = levels
        .into_iter()
        .map(|(user, level)| {
            (
                namespace_access::user_id.eq(user),
                namespace_access::namespace_id.eq(group),
                namespace_access::access_level.eq(level),
            )
        })
        .collect();
    for rows in rows.chunks(AT_ONCE) {
        let rows = rows.to_vec();
        each_backend!(tx, |conn| diesel::insert_into(namespace_access::table)
            .values(rows)
            .execute(conn)
            .map_err(error("Member")))?;
    }
    Ok(())
}

/// The highest level that membership of a namespace and of those above it gives to each person.
fn inherited(
    tx: &mut Tx<'_>,
    namespace: NamespaceId,
    known: &mut Known,
) -> Result<BTreeMap<UserId, AccessLevel>> {
    let mut way = Vec::new();
    let mut next = Some(namespace);
    let mut levels = BTreeMap::new();
    while let Some(id) = next {
        if let Some(there) = known.get(&id) {
            levels = there.clone();
            break;
        }
        if way.len() == DEEPEST || way.iter().any(|(seen, _)| *seen == id) {
            break;
        }
        let row = namespaces::table.find(id).select((namespaces::parent_id, namespaces::owner_id));
        let (parent, owner): (Option<NamespaceId>, Option<UserId>) =
            each_backend!(tx, |conn| row.get_result(conn).map_err(error("Namespace")))?;
        way.push((id, owner));
        next = parent;
    }
    for (id, owner) in way.into_iter().rev() {
        let mut own: Vec<Level> = levels.into_iter().collect();
        own.extend(owner.map(|owner| (owner, AccessLevel::Owner)));
        own.extend(direct_members(tx, Source::Group(id))?);
        levels = highest(own);
        known.insert(id, levels.clone());
    }
    Ok(levels)
}

fn direct_members(tx: &mut Tx<'_>, of: Source) -> Result<Vec<Level>> {
    let now = tx.now;
    let living = members::expires_at.is_null().or(members::expires_at.gt(now));
    each_backend!(tx, |conn| {
        let rows = members::table
            .filter(living)
            .select((members::user_id, members::access_level))
            .into_boxed();
        let rows = match of {
            Source::Project(id) => rows.filter(members::project_id.eq(id)),
            Source::Group(id) => rows.filter(members::namespace_id.eq(id)),
        };
        rows.load(conn).map_err(error("Member"))
    })
}

fn highest(levels: Vec<Level>) -> BTreeMap<UserId, AccessLevel> {
    let mut best = BTreeMap::new();
    for (user, level) in levels {
        let kept = best.entry(user).or_insert(level);
        *kept = level.max(*kept);
    }
    best
}
