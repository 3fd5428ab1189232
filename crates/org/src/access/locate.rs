//! Projects and groups as callers name them, and how each caller stands there.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Error, Result, Standing,
    access::{Group, Project},
    ids::{NamespaceId, ProjectId},
};

use super::{level_in_namespace, levels_in_namespaces};
use crate::{
    hierarchy::known_groups,
    namespace::{
        Kind, Namespace, networks::shut_out_of_group, store::NamespaceStore, visible_groups,
    },
    project::store::{ProjectStore, ProjectWithLevel},
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
            // No path has a zero byte, and PostgreSQL cannot be asked for one.
            _ if text.contains('\0') => Self::Id(-1),
            // A number too large for any id names nothing.
            Err(_) if numeric => Self::Id(-1),
            Ok(id) if numeric => Self::Id(id),
            _ => Self::Path(text.to_owned()),
        }
    }
}

/// Finds a project and how the actor stands there. Absent and invisible are the same `NotFound`.
pub fn locate_project(tx: &mut Tx<'_>, actor: Actor, id: &IdOrPath) -> Result<(Project, Standing)> {
    let visible =
        |(facts, level): &ProjectWithLevel| Standing::in_project(actor, *level, facts).visible;
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
    let (facts, level) = found.ok_or_else(|| Error::not_found("Project"))?;
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

/// As [`locate_group`] by ids, for several at once; what is absent, personal or invisible is left out.
pub fn locate_groups(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[NamespaceId],
) -> Result<Vec<(Namespace, Standing)>> {
    let known = known_groups(tx, actor, ids)?;
    let levels = levels_in_namespaces(tx, actor, ids)?;
    let stand = |group: Namespace| {
        let level = levels.get(&group.id).copied().unwrap_or_default();
        let standing = Standing { visible: true, ..in_group(actor, level, &group) };
        (group, standing)
    };
    Ok(known.into_iter().map(stand).collect())
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
        visible_groups::is_way(tx, actor, NamespaceId(0))?;
        return Err(Error::not_found("Group"));
    };
    let level = level_in_namespace(tx, actor, group.id)?;
    let mut standing = in_group(actor, level, group);
    if !standing.visible {
        standing.visible = visible_groups::is_way(tx, actor, group.id)?;
    }
    if !standing.visible || shut_out_of_group(actor, standing.level, group) {
        return Err(Error::not_found("Group"));
    }
    Ok((Group(group.facts().into()), standing))
}

/// How somebody with this role stands in a group.
pub(super) fn in_group(actor: Actor, level: AccessLevel, group: &Namespace) -> Standing {
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
            Err(gone) if gone.is_gone() => false,
            Err(cause) => return Err(cause),
        },
    };
    found.filter(|_| seen).ok_or_else(|| Error::not_found("Namespace"))
}
