//! All rows of this crate that hold something sealed: for whoever opens the vault, and whoever has lost its key.

use db::{
    Tx, each_backend, error,
    schema::{archive_exports, bulk_imports, hooks, imports, integrations},
};
use diesel::prelude::*;
use kernel::Result;
use secrets::Vault;

use crate::{
    archive::ArchiveExport, bulk_import::BulkImport, hook::Hook, import::Import,
    integration::Integration,
};

const NOUN: &str = "Hook";

/// The tables with a column `sealed`; `cargo xtask check` compares them with the schema.
pub const SEALED_TABLES: [&str; 5] =
    ["archive_exports", "bulk_imports", "hooks", "imports", "integrations"];

/// Whether a vault has the key of what is sealed: of the newest `most` rows of each table one must be readable. `None`
/// where nothing is sealed.
///
/// # Errors
/// When the database cannot be read.
pub fn is_key_of(tx: &mut Tx<'_>, vault: &Vault, most: i64) -> Result<Option<bool>> {
    let hooks = hooks::table.order(hooks::id.desc()).limit(most);
    let hooks: Vec<Hook> =
        each_backend!(tx, |conn| hooks.select(Hook::as_select()).load(conn).map_err(error(NOUN)))?;
    let rows = integrations::table.order(integrations::id.desc()).limit(most);
    let rows: Vec<Integration> = each_backend!(tx, |conn| rows
        .select(Integration::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    let sources = imports::table
        .filter(imports::sealed.is_not_null())
        .order(imports::created_at.desc())
        .limit(most);
    let sources: Vec<Import> = each_backend!(tx, |conn| sources
        .select(Import::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    let of_hooks = (!hooks.is_empty()).then(|| hooks.iter().any(|row| row.unseal(vault).is_ok()));
    let of_rows = (!rows.is_empty()).then(|| rows.iter().any(|row| row.unseal(vault).is_ok()));
    let of_sources = (!sources.is_empty())
        .then(|| sources.iter().any(|row| row.unseal(vault).is_some_and(|clear| clear.is_ok())));
    let of_archives = archives_fit(tx, vault, most)?;
    let of_bulk = bulk_imports_fit(tx, vault, most)?;
    let all = [of_hooks, of_rows, of_sources, of_archives, of_bulk];
    Ok(all.into_iter().flatten().reduce(|one, other| one && other))
}

fn archives_fit(tx: &mut Tx<'_>, vault: &Vault, most: i64) -> Result<Option<bool>> {
    let rows = archive_exports::table
        .filter(archive_exports::sealed.is_not_null())
        .order(archive_exports::id.desc())
        .limit(most);
    let rows: Vec<ArchiveExport> = each_backend!(tx, |conn| rows
        .select(ArchiveExport::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    let fits = |row: &ArchiveExport| row.unseal(vault).is_some_and(|clear| clear.is_ok());
    Ok((!rows.is_empty()).then(|| rows.iter().any(fits)))
}

fn bulk_imports_fit(tx: &mut Tx<'_>, vault: &Vault, most: i64) -> Result<Option<bool>> {
    let rows = bulk_imports::table
        .filter(bulk_imports::sealed.is_not_null())
        .order(bulk_imports::id.desc())
        .limit(most);
    let rows: Vec<BulkImport> = each_backend!(tx, |conn| rows
        .select(BulkImport::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    let fits = |row: &BulkImport| row.unseal(vault).is_some_and(|clear| clear.is_ok());
    Ok((!rows.is_empty()).then(|| rows.iter().any(fits)))
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
    each_backend!(tx, |conn| {
        let hooks: i64 = hooks::table.count().get_result(conn).map_err(error(NOUN))?;
        let rows: i64 = integrations::table.count().get_result(conn).map_err(error(NOUN))?;
        let sources: i64 = imports::table
            .filter(imports::sealed.is_not_null())
            .count()
            .get_result(conn)
            .map_err(error(NOUN))?;
        let archives: i64 = archive_exports::table
            .filter(archive_exports::sealed.is_not_null())
            .count()
            .get_result(conn)
            .map_err(error(NOUN))?;
        let bulk: i64 = bulk_imports::table
            .filter(bulk_imports::sealed.is_not_null())
            .count()
            .get_result(conn)
            .map_err(error(NOUN))?;
        Ok(hooks + rows + sources + archives + bulk)
    })
}

/// Deletes all rows that hold something sealed, and the credentials of imports; returns their number.
///
/// # Errors
/// When the database cannot be written.
pub fn delete_all(tx: &mut Tx<'_>) -> Result<usize> {
    each_backend!(tx, |conn| {
        let hooks = diesel::delete(hooks::table).execute(conn).map_err(error(NOUN))?;
        let rows = diesel::delete(integrations::table).execute(conn).map_err(error(NOUN))?;
        let sources = imports::table.filter(imports::sealed.is_not_null());
        let sources = diesel::update(sources)
            .set(imports::sealed.eq(None::<String>))
            .execute(conn)
            .map_err(error(NOUN))?;
        let archives = archive_exports::table.filter(archive_exports::sealed.is_not_null());
        let archives = diesel::update(archives)
            .set(archive_exports::sealed.eq(None::<String>))
            .execute(conn)
            .map_err(error(NOUN))?;
        let bulk = bulk_imports::table.filter(bulk_imports::sealed.is_not_null());
        let bulk = diesel::update(bulk)
            .set(bulk_imports::sealed.eq(None::<String>))
            .execute(conn)
            .map_err(error(NOUN))?;
        Ok(hooks + rows + sources + archives + bulk)
    })
}
