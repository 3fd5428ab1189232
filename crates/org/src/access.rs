//! How a caller stands in a project or group: one look into the projection of effective membership.

use db::{
    Tx, each_backend, error,
    schema::{namespace_access, project_access},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Error, Result, Standing,
    access::{Group, Project},
    ids::{NamespaceId, ProjectId},
};

use crate::{
    namespace::{Kind, store::NamespaceStore},
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

/// Finds a project and how the actor stands there. Absent and invisible are the same `NotFound`.
pub fn locate_project(tx: &mut Tx<'_>, actor: Actor, id: &IdOrPath) -> Result<(Project, Standing)> {
    let found = match id {
        IdOrPath::Id(id) => tx.find_project(ProjectId(*id))?,
        IdOrPath::Path(path) if path.contains('/') => tx.find_project_at(path)?,
        IdOrPath::Path(_) => None,
    };
    let project = found.ok_or(Error::NotFound("Project"))?;
    let level = level_in_project(tx, actor, project.id)?;
    let facts = project.facts();
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
