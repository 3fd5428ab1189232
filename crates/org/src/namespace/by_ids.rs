//! Namespaces by their ids, whoever asks.

use db::{OneOf as _, Tx, each_backend, error, schema::namespaces};
use diesel::prelude::*;
use kernel::{Result, ids::NamespaceId};

use super::Namespace;

/// Those of these groups and personal namespaces that are not being deleted, in the order of their ids.
///
/// # Errors
/// When the database cannot be read.
pub fn by_ids(tx: &mut Tx<'_>, ids: &[NamespaceId]) -> Result<Vec<Namespace>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = namespaces::table
        .filter(namespaces::id.one_of(ids))
        .filter(namespaces::deleted_at.is_null())
        .order(namespaces::id);
    each_backend!(tx, |conn| rows
        .select(Namespace::as_select())
        .load(conn)
        .map_err(error("Namespace")))
}
