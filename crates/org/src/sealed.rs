//! All rows of this crate that hold something sealed: for whoever opens the vault, and whoever has lost its key.

use db::{Tx, each_backend, error, schema::oauth_signing_keys as keys};
use diesel::prelude::*;
use kernel::Result;
use secrets::Vault;

use crate::openid::SigningKeyStore as _;

const NOUN: &str = "Key";

/// The tables with a column `sealed`; `cargo xtask check` compares them with the schema.
pub const SEALED_TABLES: [&str; 1] = ["oauth_signing_keys"];

/// Whether a vault has the key of what is sealed: of the newest rows one must be readable. `None` where nothing is
/// sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn is_key_of(tx: &mut Tx<'_>, vault: &Vault) -> Result<Option<bool>> {
    let rows = tx.signing_keys()?;
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
    let rows = keys::table.count();
    each_backend!(tx, |conn| rows.get_result(conn).map_err(error(NOUN)))
}

/// Deletes all rows that hold something sealed; returns their number.
///
/// # Errors
/// When the database cannot be written.
pub fn delete_all(tx: &mut Tx<'_>) -> Result<usize> {
    each_backend!(tx, |conn| diesel::delete(keys::table).execute(conn).map_err(error(NOUN)))
}
