//! The project row of an import: its creation and its status.

use db::{Tx, each_backend, error, schema::projects};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Error, Result,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::home;
use crate::{
    access::{self, IdOrPath},
    namespace::{Kind, Namespace, store::NamespaceStore as _},
};

const NO_NAMESPACE: &str = "Namespace or group to import repository into does not exist.";
const NOT_ALLOWED: &str = "You are not allowed to import projects in this namespace.";

/// The namespace that somebody names for an import.
///
/// # Errors
/// `Unprocessable` where it is not there, `Forbidden` where it is not theirs to fill.
pub fn namespace_for(tx: &mut Tx<'_>, actor: Actor, path: &str) -> Result<NamespaceId> {
    fillable_namespace(tx, actor, path).map(|home| home.id)
}

/// As [`namespace_for`], for an archive. Members, rules for branches, webhooks and integrations come with one, which
/// Developers of a group may not set, also where they may create projects in it.
///
/// # Errors
/// `Unprocessable` where it is not there, `Forbidden` where it is not theirs to fill, or a group of which they are no
/// Maintainer.
pub fn namespace_for_archive(tx: &mut Tx<'_>, actor: Actor, path: &str) -> Result<NamespaceId> {
    let home = fillable_namespace(tx, actor, path)?;
    let is_open = actor.admin || home.kind == Kind::User;
    match is_open || access::level_in_namespace(tx, actor, home.id)? >= AccessLevel::Maintainer {
        true => Ok(home.id),
        false => Err(Error::forbidden().whole(NOT_ALLOWED)),
    }
}

fn fillable_namespace(tx: &mut Tx<'_>, actor: Actor, path: &str) -> Result<Namespace> {
    let path = IdOrPath::Path(path.trim().trim_matches('/').to_owned());
    let missing = || Error::unprocessable().whole(NO_NAMESPACE);
    let home = access::seen_namespace(tx, actor, &path).map_err(|cause| match cause.is_ours() {
        true => cause,
        false => missing(),
    })?;
    let may = home::is_own(actor, &home) || home::may_create_in(tx, actor, &home)?;
    match may {
        true => Ok(home),
        false => Err(Error::forbidden().whole(NOT_ALLOWED)),
    }
}

/// The personal namespace of somebody who names none.
///
/// # Errors
/// `Unprocessable` for people who have none.
pub fn own_namespace(tx: &mut Tx<'_>, user: UserId) -> Result<NamespaceId> {
    let own = tx.personal_namespace(user)?;
    own.map(|own| own.id).ok_or_else(|| Error::unprocessable().whole(NO_NAMESPACE))
}

/// Moves the import of a project from one status to another; whether it was there.
pub fn move_status(tx: &mut Tx<'_>, project: ProjectId, from: &str, to: &str) -> Result<bool> {
    let row = projects::table
        .filter(projects::id.eq(project).and(projects::import_status.eq(from)))
        .filter(projects::deleted_at.is_null());
    let set = (projects::import_status.eq(to), projects::updated_at.eq(tx.now));
    let count = each_backend!(tx, |conn| diesel::update(row)
        .set(set)
        .execute(conn)
        .map_err(error("Project")))?;
    Ok(count == 1)
}
