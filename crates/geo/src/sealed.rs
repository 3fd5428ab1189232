//! All rows of this crate that hold something sealed: for whoever opens the vault, and whoever has lost its key.

use db::{Tx, each_backend, error, schema::geo_nodes as nodes};
use diesel::prelude::*;
use kernel::{Result, ids::GeoNodeId};
use secrets::Vault;

use crate::{event_log, node::GeoNode};

const NOUN: &str = "GeoNode";

/// The tables with a column `sealed`; `cargo xtask check` compares them with the schema.
pub const SEALED_TABLES: [&str; 1] = ["geo_nodes"];

/// Whether a vault has the key of what is sealed: of the newest `most` rows one must be readable. `None` where nothing
/// is sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn is_key_of(tx: &mut Tx<'_>, vault: &Vault, most: i64) -> Result<Option<bool>> {
    let rows = nodes::table.order(nodes::id.desc()).limit(most);
    let rows: Vec<GeoNode> = each_backend!(tx, |conn| rows
        .select(GeoNode::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    Ok((!rows.is_empty()).then(|| rows.iter().any(|row| row.unseal(vault).is_ok())))
}

/// Whether anything is sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn has_any(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(count(tx)? > 0)
}

/// How many rows hold something sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn count(tx: &mut Tx<'_>) -> Result<i64> {
    let rows = nodes::table.count();
    each_backend!(tx, |conn| rows.get_result(conn).map_err(error(NOUN)))
}

/// Deletes all rows that hold something sealed, with the cursors of these nodes; returns their number.
///
/// # Errors
/// When the database cannot be written.
pub fn delete_all(tx: &mut Tx<'_>) -> Result<usize> {
    let ids = nodes::table.select(nodes::id);
    let ids: Vec<GeoNodeId> = each_backend!(tx, |conn| ids.load(conn).map_err(error(NOUN)))?;
    for id in ids {
        event_log::close(tx, id)?;
    }
    each_backend!(tx, |conn| diesel::delete(nodes::table).execute(conn).map_err(error(NOUN)))
}
