//! The standing of a caller in a project or group, from the projection of effective membership.

mod access_scope;
mod ban_effect;
pub mod bans;
pub(crate) mod changes;
pub mod entry;
mod event;
mod locate;
mod lock;
pub mod projection;
pub(crate) mod role;
pub(crate) mod seats;
pub mod standings;
pub mod standings_of_one;
pub(crate) mod tree;

use std::collections::HashMap;

use db::{
    Database, OneOf as _, Tx, each_backend, error,
    schema::{namespace_access, project_access, project_group_links, projects},
    stamp,
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};

pub use self::{
    access_scope::AccessScope,
    event::Event,
    locate::{
        IdOrPath, locate_group, locate_groups, locate_project, locate_projects, seen_namespace,
    },
    lock::lock_access_projection,
    role::Role,
};

use self::access_scope::AffectedUsers;
use crate::expiry::living;

/// The actor's effective role in a project; `NoAccess` for outsiders.
pub fn level_in_project(tx: &mut Tx<'_>, actor: Actor, project: ProjectId) -> Result<AccessLevel> {
    let Some(user) = actor.id else { return Ok(AccessLevel::NoAccess) };
    let query = project_access::table
        .find((user, project))
        .select((project_access::access_level, project_access::until));
    let kept: Option<(AccessLevel, Ts)> =
        each_backend!(tx, |conn| query.get_result(conn).optional().map_err(error("Member")))?;
    match kept {
        None => Ok(AccessLevel::NoAccess),
        Some((level, until)) if tx.now < until => Ok(level),
        // It ended a moment ago, and nobody has cleared it away yet.
        Some(_) => {
            let home = projects::table.find(project).select(projects::namespace_id);
            let home: NamespaceId =
                each_backend!(tx, |conn| home.get_result(conn).map_err(error("Project")))?;
            Ok(projection::role_in_project(tx, user, project, home)?.level)
        }
    }
}

/// A role that was loaded together with something else; where its end has come, `again` finds out what is left of it.
pub(crate) fn level_now(
    tx: &mut Tx<'_>,
    level: Option<AccessLevel>,
    until: Option<Ts>,
    again: impl FnOnce(&mut Tx<'_>) -> Result<AccessLevel>,
) -> Result<AccessLevel> {
    match (level, until) {
        (Some(_), Some(until)) if until <= tx.now => again(tx),
        (level, _) => Ok(level.unwrap_or_default()),
    }
}

/// The actor's effective role in a group or personal namespace; `NoAccess` for outsiders.
pub fn level_in_namespace(
    tx: &mut Tx<'_>,
    actor: Actor,
    namespace: NamespaceId,
) -> Result<AccessLevel> {
    let Some(user) = actor.id else { return Ok(AccessLevel::NoAccess) };
    let query = namespace_access::table
        .find((user, namespace))
        .select((namespace_access::access_level, namespace_access::until));
    let kept: Option<(AccessLevel, Ts)> =
        each_backend!(tx, |conn| query.get_result(conn).optional().map_err(error("Member")))?;
    match kept {
        None => Ok(AccessLevel::NoAccess),
        Some((level, until)) if tx.now < until => Ok(level),
        Some(_) => Ok(projection::role_in_namespace(tx, user, namespace)?.level),
    }
}

/// As [`level_in_namespace`], for several at once; where the actor has no role, there is no entry.
pub fn levels_in_namespaces(
    tx: &mut Tx<'_>,
    actor: Actor,
    namespaces: &[NamespaceId],
) -> Result<HashMap<NamespaceId, AccessLevel>> {
    let Some(user) = actor.id else { return Ok(HashMap::new()) };
    let rows = namespace_access::table
        .filter(namespace_access::user_id.eq(user))
        .filter(namespace_access::namespace_id.one_of(namespaces))
        .select((
            namespace_access::namespace_id,
            namespace_access::access_level,
            namespace_access::until,
        ));
    let rows: Vec<(NamespaceId, AccessLevel, Ts)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Member")))?;
    let mut levels = HashMap::new();
    for (namespace, level, until) in rows {
        let level = level_now(tx, Some(level), Some(until), |tx| {
            Ok(projection::role_in_namespace(tx, user, namespace)?.level)
        })?;
        levels.insert(namespace, level);
    }
    Ok(levels)
}

/// Whether a project is shared with a group.
pub fn is_shared_with(tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<bool> {
    let links = project_group_links::table
        .filter(project_group_links::project_id.eq(project))
        .filter(project_group_links::namespace_id.eq(group))
        .filter(living!(project_group_links, tx.now));
    let found: i64 =
        each_backend!(tx, |conn| links.count().get_result(conn).map_err(error("Group")))?;
    Ok(found > 0)
}

/// Works out anew who has which effective role in a project. Call it in the transaction of whatever changed that.
pub fn refresh_project(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    projection::refresh(tx, AccessScope::Project(project), AffectedUsers::Everybody)
}

/// As [`refresh_project`], where only one person's membership changed.
pub fn refresh_project_member(tx: &mut Tx<'_>, project: ProjectId, user: UserId) -> Result<()> {
    projection::refresh(tx, AccessScope::Project(project), AffectedUsers::One(user))
}

/// As [`refresh_project`], where only what its being shared with a group gives has changed.
pub fn refresh_project_share(
    tx: &mut Tx<'_>,
    project: ProjectId,
    invited: NamespaceId,
) -> Result<()> {
    projection::refresh(tx, AccessScope::Project(project), AffectedUsers::PeopleIn(invited))
}

/// Works out anew the effective roles in a group, in everything below it, in whatever these were invited to, and in the
/// projects of all of these.
pub fn refresh_group(tx: &mut Tx<'_>, group: NamespaceId) -> Result<()> {
    projection::refresh(tx, AccessScope::Group(group), AffectedUsers::Everybody)
}

/// As [`refresh_group`], where only one person's membership changed.
pub fn refresh_group_member(tx: &mut Tx<'_>, group: NamespaceId, user: UserId) -> Result<()> {
    projection::refresh(tx, AccessScope::Group(group), AffectedUsers::One(user))
}

/// Works out anew the effective roles in the projects of a group and of what is below it: what their shares give has
/// changed.
pub fn refresh_projects_in(tx: &mut Tx<'_>, group: NamespaceId) -> Result<()> {
    projection::refresh(tx, AccessScope::Tree(group), AffectedUsers::Everybody)
}

/// As [`refresh_group`], where only what its being shared with another group gives has changed.
pub fn refresh_group_share(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    invited: NamespaceId,
) -> Result<()> {
    projection::refresh(tx, AccessScope::Tree(group), AffectedUsers::MembersOf(invited))
}

/// The mark of a database whose roles were worked out by older rules; the migration that comes with new ones makes it.
const OLD_RULES: &str = "roles by older rules";

/// Works out all roles anew where they follow older rules. To be called before anybody is answered.
///
/// # Errors
/// When the database cannot be written.
pub fn follow_rules(db: &Database) -> Result<()> {
    if !db.read_blocking(|tx| stamp::has(tx, OLD_RULES))? {
        return Ok(());
    }
    db.write_blocking(|tx| {
        lock_access_projection(tx)?;
        if stamp::has(tx, OLD_RULES)? {
            projection::rebuild(tx)?;
            stamp::remove(tx, OLD_RULES)?;
        }
        Ok(())
    })
}

/// The projects where roles were worked out anew.
pub fn projects_within(tx: &mut Tx<'_>, reach: AccessScope) -> Result<Vec<ProjectId>> {
    projection::projects_within(tx, reach)
}
