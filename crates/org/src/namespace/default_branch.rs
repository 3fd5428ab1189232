//! How far the default branches of a group's new repositories are protected.

use db::{
    Tx, each_backend, error,
    schema::{instance_settings, namespaces},
};
use diesel::prelude::*;
use kernel::{AccessLevel, Result, ids::NamespaceId};

/// Maintainers push and merge, where nothing else is set.
const FULL: i64 = 2;

/// The protection as its number: the group's own, else the installation's.
pub fn protection(tx: &mut Tx<'_>, namespace: NamespaceId) -> Result<i64> {
    let own = namespaces::table.find(namespace).select(namespaces::default_branch_protection);
    let own: Option<i32> =
        each_backend!(tx, |conn| own.get_result(conn).map_err(error("Namespace")))?;
    if let Some(own) = own {
        return Ok(own.into());
    }
    let settings = instance_settings::table.select(instance_settings::settings);
    let settings: Option<String> =
        each_backend!(tx, |conn| settings.first(conn).optional().map_err(error("Settings")))?;
    let settings: serde_json::Value =
        settings.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    Ok(settings["default_branch_protection"].as_i64().unwrap_or(FULL))
}

/// The role that may make the first push to an empty repository.
pub fn first_push(tx: &mut Tx<'_>, namespace: NamespaceId) -> Result<AccessLevel> {
    Ok(match protection(tx, namespace)? {
        0 | 1 | 4 => AccessLevel::Developer,
        _ => AccessLevel::Maintainer,
    })
}
