//! All rows of this crate that hold something sealed: for whoever opens the vault, and whoever has lost its key.

use db::{Tx, each_backend, error, schema::alert_integrations as integrations};
use diesel::prelude::*;
use kernel::Result;
use secrets::Vault;

use crate::integration::AlertIntegration;

const NOUN: &str = "Alert Integration";

/// The tables with a column `sealed`; `cargo xtask check` compares them with the schema.
pub const SEALED_TABLES: [&str; 1] = ["alert_integrations"];

/// Whether a vault has the key of what is sealed: of the newest `most` rows one must be readable. `None` where nothing is
/// sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn is_key_of(tx: &mut Tx<'_>, vault: &Vault, most: i64) -> Result<Option<bool>> {
    let rows = newest(tx, most)?;
    Ok((!rows.is_empty()).then(|| rows.iter().any(|row| row.key(vault).is_ok())))
}

/// Whether anything is sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn has_any(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(!newest(tx, 1)?.is_empty())
}

fn newest(tx: &mut Tx<'_>, most: i64) -> Result<Vec<AlertIntegration>> {
    let rows = integrations::table.order(integrations::id.desc()).limit(most);
    each_backend!(tx, |conn| rows
        .select(AlertIntegration::as_select())
        .load(conn)
        .map_err(error(NOUN)))
}

/// How many rows hold something sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn count(tx: &mut Tx<'_>) -> Result<i64> {
    let rows = integrations::table.count();
    each_backend!(tx, |conn| rows.get_result(conn).map_err(error(NOUN)))
}

/// Deletes all rows that hold something sealed; returns their number.
///
/// # Errors
/// When the database cannot be written.
pub fn delete_all(tx: &mut Tx<'_>) -> Result<usize> {
    let rows = diesel::delete(integrations::table);
    each_backend!(tx, |conn| rows.execute(conn).map_err(error(NOUN)))
}
