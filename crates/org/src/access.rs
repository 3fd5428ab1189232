//! How a caller stands in a project or group: one look into the projection of effective membership.

pub mod bans;
pub(crate) mod changes;
pub mod entry;
mod event;
pub mod projection;
pub mod standings;
pub mod standings_of_one;

use db::{
    Database, Tx, each_backend, error,
    schema::{namespace_access, project_access, project_group_links, projects},
    stamp,
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Error, Result, Standing, Ts,
    access::{Group, Project},
    ids::{NamespaceId, ProjectId, UserId},
};

pub use self::{event::Event, projection::Reach};

use self::projection::Whom;
use crate::{
    ends::living,
    namespace::{Kind, Namespace, networks::shut_out_of_group, seen, store::NamespaceStore},
    project::store::{Located, ProjectStore},
};

/// A role, and when it ends or becomes a lesser one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    pub level: AccessLevel,
    pub until: Ts,
}

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

/// Finds a project and how the actor stands there. Absent and invisible are the same `NotFound`.
pub fn locate_project(tx: &mut Tx<'_>, actor: Actor, id: &IdOrPath) -> Result<(Project, Standing)> {
    let visible = |(facts, level): &Located| Standing::in_project(actor, *level, facts).visible;
    let found = match id {
        IdOrPath::Id(id) => tx.find_scope(actor, ProjectId(*id))?.filter(visible),
        IdOrPath::Path(path) if path.contains('/') => {
            match tx.find_scope_at(actor, path)?.filter(visible) {
                Some(found) => Some(found),
                // What is hidden is looked for as long as what is not there.
                None => tx.find_scope_once_at(actor, path)?.filter(visible),
            }
        }
        IdOrPath::Path(_) => None,
    };
    let (facts, level) = found.ok_or(Error::NotFound("Project"))?;
    let standing = Standing::in_project(actor, level, &facts);
    Ok((Project(facts.into()), standing))
}

/// As [`locate_project`] by ids, for a few at once; what is absent or invisible is left out.
pub fn locate_projects(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
) -> Result<Vec<(Project, Standing)>> {
    let found = tx.find_scopes(actor, ids)?.into_iter().filter_map(|(facts, level)| {
        let standing = Standing::in_project(actor, level, &facts);
        standing.visible.then(|| (Project(facts.into()), standing))
    });
    Ok(found.collect())
}

/// Finds a group and how the actor stands there. Absent, invisible and personal are the same `NotFound`.
pub fn locate_group(tx: &mut Tx<'_>, actor: Actor, id: &IdOrPath) -> Result<(Group, Standing)> {
    let found = find(tx, id)?;
    stand_in(tx, actor, found.as_ref())
}

fn find(tx: &mut Tx<'_>, id: &IdOrPath) -> Result<Option<Namespace>> {
    match id {
        IdOrPath::Id(id) => tx.find_namespace(NamespaceId(*id)),
        IdOrPath::Path(path) => tx.find_namespace_at(path),
    }
}

/// A group that was looked for, and how the actor stands there.
fn stand_in(tx: &mut Tx<'_>, actor: Actor, found: Option<&Namespace>) -> Result<(Group, Standing)> {
    let Some(group) = found.filter(|namespace| namespace.kind == Kind::Group) else {
        // What is not there is looked for as long as what is hidden.
        level_in_namespace(tx, actor, NamespaceId(0))?;
        seen::is_way(tx, actor, NamespaceId(0))?;
        return Err(Error::NotFound("Group"));
    };
    let level = level_in_namespace(tx, actor, group.id)?;
    let mut standing = in_group(actor, level, group);
    if !standing.visible {
        standing.visible = seen::is_way(tx, actor, group.id)?;
    }
    if !standing.visible || shut_out_of_group(actor, standing.level, group) {
        return Err(Error::NotFound("Group"));
    }
    Ok((Group(group.facts().into()), standing))
}

/// How somebody with this role stands in a group.
fn in_group(actor: Actor, level: AccessLevel, group: &Namespace) -> Standing {
    let mut standing = Standing::in_scope(actor, level, group.visibility);
    standing.features.wiki = group.settings().wiki_access_level.into();
    standing
}

/// A group that the actor sees, or a personal namespace where they have a role. Absent and invisible are the same
/// `NotFound`.
pub fn seen_namespace(tx: &mut Tx<'_>, actor: Actor, id: &IdOrPath) -> Result<Namespace> {
    let found = find(tx, id)?;
    let seen = match &found {
        Some(home) if home.kind == Kind::User => {
            actor.admin || level_in_namespace(tx, actor, home.id)? > AccessLevel::NoAccess
        }
        group => match stand_in(tx, actor, group.as_ref()) {
            Ok(_) => true,
            Err(Error::NotFound(_)) => false,
            Err(cause) => return Err(cause),
        },
    };
    found.filter(|_| seen).ok_or(Error::NotFound("Namespace"))
}

/// Works out anew who has which effective role in a project. Call it in the transaction of whatever changed that.
pub fn refresh_project(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    projection::refresh(tx, Reach::Project(project), Whom::Everybody)
}

/// As [`refresh_project`], where only one person's membership changed.
pub fn refresh_project_member(tx: &mut Tx<'_>, project: ProjectId, user: UserId) -> Result<()> {
    projection::refresh(tx, Reach::Project(project), Whom::One(user))
}

/// As [`refresh_project`], where only what its being shared with a group gives has changed.
pub fn refresh_project_share(
    tx: &mut Tx<'_>,
    project: ProjectId,
    invited: NamespaceId,
) -> Result<()> {
    projection::refresh(tx, Reach::Project(project), Whom::PeopleIn(invited))
}

/// Works out anew the effective roles in a group, in everything below it, in whatever these were invited to, and in the
/// projects of all of these.
pub fn refresh_group(tx: &mut Tx<'_>, group: NamespaceId) -> Result<()> {
    projection::refresh(tx, Reach::Group(group), Whom::Everybody)
}

/// As [`refresh_group`], where only one person's membership changed.
pub fn refresh_group_member(tx: &mut Tx<'_>, group: NamespaceId, user: UserId) -> Result<()> {
    projection::refresh(tx, Reach::Group(group), Whom::One(user))
}

/// Works out anew the effective roles in the projects of a group and of what is below it: what their shares give has
/// changed.
pub fn refresh_projects_in(tx: &mut Tx<'_>, group: NamespaceId) -> Result<()> {
    projection::refresh(tx, Reach::Tree(group), Whom::Everybody)
}

/// As [`refresh_group`], where only what its being shared with another group gives has changed.
pub fn refresh_group_share(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    invited: NamespaceId,
) -> Result<()> {
    projection::refresh(tx, Reach::Tree(group), Whom::MembersOf(invited))
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
        projection::alone(tx)?;
        if stamp::has(tx, OLD_RULES)? {
            projection::rebuild(tx)?;
            stamp::remove(tx, OLD_RULES)?;
        }
        Ok(())
    })
}

/// The projects where roles were worked out anew.
pub fn projects_within(tx: &mut Tx<'_>, reach: Reach) -> Result<Vec<ProjectId>> {
    projection::projects_within(tx, reach)
}

/// To be asked for by whoever changes addresses and roles in one transaction, before the first of these.
pub fn alone(tx: &mut Tx<'_>) -> Result<()> {
    projection::alone(tx)
}
