//! The initial protection of default branches in a group's new repositories.

use db::{Tx, each_backend, error, schema::namespaces};
use diesel::prelude::*;
use kernel::{AccessLevel, Result, ids::NamespaceId};

use crate::settings::{Settings, store::SettingsStore};

/// The protection as its number: the group's own, else the installation's.
pub fn protection(tx: &mut Tx<'_>, namespace: NamespaceId) -> Result<i64> {
    let own = namespaces::table.find(namespace).select(namespaces::default_branch_protection);
    let own: Option<i32> =
        each_backend!(tx, |conn| own.get_result(conn).map_err(error("Namespace")))?;
    match own {
        Some(own) => Ok(own.into()),
        None => Ok(tx.settings()?.default_branch_protection.into()),
    }
}

/// The role that may make the first push to an empty repository: as its group says, else as the installation's settings
/// do, which are text.
pub(crate) fn first_push(own: Option<i32>, installation: Option<&str>) -> Result<AccessLevel> {
    let number = match own {
        Some(own) => own,
        None => Settings::stored(installation)?.default_branch_protection,
    };
    Ok(match number {
        0 | 1 | 4 => AccessLevel::Developer,
        _ => AccessLevel::Maintainer,
    })
}
