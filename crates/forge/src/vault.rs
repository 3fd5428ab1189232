//! The vault of a data folder: the server refuses to start when the database holds secrets that `secrets.key` did not
//! seal, instead of making a second key beside them.

use std::path::Path;

use ci::sealed;
use db::{Database, Location, Tx, stamp};
use kernel::{Clock, Error, Result};
use secrets::{KEY_FILE, Vault};

use crate::{Forge, server_key::ServerKey, settings};

/// Under which the database keeps the number of the key that sealed its secrets.
const KEY: &str = "secrets.key";
/// Number of secrets of each table to try: a single damaged row must not keep the server from starting.
const TRIED: i64 = 3;
/// Values sealed in one transaction.
const AT_ONCE: i64 = 500;

/// Whether the key of a data folder opens the sealed values of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyMatch {
    /// The database has the number of this key.
    Known,
    /// Nothing speaks against this key: nothing is sealed, or the database has no number and the key opens what is.
    Open,
    /// Another key sealed what is there.
    Foreign,
}

/// Opens the vault of a data folder. The first start creates its key, and the database keeps the key's number.
///
/// # Errors
/// When another key than the folder's sealed what the database holds; the message says what to do.
pub fn open(db: &Database, data: &Path, folder: &ServerKey) -> Result<Vault> {
    let Some(vault) = Vault::find(data).map_err(Error::internal)? else {
        if db.read_blocking(has_any)? {
            return Err(refusal(data, "is not there"));
        }
        let vault = Vault::find_or_make(data).map_err(Error::internal)?;
        save_number(db, &vault, folder)?;
        return Ok(vault);
    };
    match db.read_blocking(|tx| fit(tx, &vault))? {
        KeyMatch::Known => {}
        KeyMatch::Open => save_number(db, &vault, folder)?,
        KeyMatch::Foreign => {
            return Err(refusal(data, "is not the key with which they were sealed"));
        }
    }
    Ok(vault)
}

fn has_any(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(sealed::has_any(tx)?
        || security::sealed::has_any(tx)?
        || admin::sealed::has_any(tx)?
        || geo::sealed::has_any(tx)?
        || org::sealed::has_any(tx)?
        || settings::has_sealed(tx)?)
}

/// As each domain says of its own; one that says no is enough.
fn is_key_of(tx: &mut Tx<'_>, vault: &Vault) -> Result<Option<bool>> {
    let all = [
        sealed::is_key_of(tx, vault, TRIED)?,
        security::sealed::is_key_of(tx, vault, TRIED)?,
        settings::is_key_of(tx, vault)?,
        admin::sealed::is_key_of(tx, vault, TRIED)?,
        geo::sealed::is_key_of(tx, vault, TRIED)?,
        org::sealed::is_key_of(tx, vault)?,
    ];
    Ok(all.into_iter().flatten().reduce(|one, other| one && other))
}

fn fit(tx: &mut Tx<'_>, vault: &Vault) -> Result<KeyMatch> {
    Ok(match stamp::of(tx, KEY)? {
        Some(number) if number == vault.number() => KeyMatch::Known,
        number => match is_key_of(tx, vault)? {
            // Nothing is lost with a key that sealed nothing.
            None => KeyMatch::Open,
            Some(true) if number.is_none() => KeyMatch::Open,
            Some(_) => KeyMatch::Foreign,
        },
    })
}

/// A database that belongs to another data folder is refused a moment later, and gets no number of this one's key.
fn save_number(db: &Database, vault: &Vault, folder: &ServerKey) -> Result<()> {
    let (number, folder) = (vault.number(), folder.clone());
    let keep = move |tx: &mut Tx<'_>| match folder.is_foreign_to(tx)? {
        true => Ok(()),
        false => stamp::keep(tx, KEY, number),
    };
    // A forge may be opened in asynchronous code, whose threads cannot wait for a write.
    let done = std::thread::scope(|scope| scope.spawn(|| db.write_blocking(keep)).join());
    done.map_err(|_panic| Error::internal("the number of the key was not kept"))?
}

fn refusal(data: &Path, what: &str) -> Error {
    Error::unavailable(format!(
        "the database holds secrets, and {} {what}: restore the file from a backup, or check the settings `data` and \
         `database_url`; if the key is lost for good, `forgeway adopt --forget-secrets` deletes the secrets; nothing \
         was changed",
        data.join(KEY_FILE).display()
    ))
}

/// Seals what older versions stored in clear: the variables of pipelines and jobs. For the start of the server, when it is
/// certain that database and data folder belong together.
///
/// # Errors
/// When the database cannot be written.
pub async fn seal_clear(forge: &Forge) -> Result<()> {
    loop {
        let vault = forge.vault.clone();
        if !forge.db.write(move |tx| sealed::seal_clear(tx, &vault, AT_ONCE)).await? {
            return Ok(());
        }
    }
}

/// The number of sealed values that would be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Secrets in the database.
    pub secrets: i64,
    /// Whether the key of the data folder opens them.
    pub is_readable: bool,
    /// Whether the database belongs to another data folder.
    pub is_foreign: bool,
}

/// Looks at the secrets of a database.
///
/// # Errors
/// When the database or the data folder cannot be read.
pub fn survey(location: &Location, data: &Path) -> Result<Survey> {
    let (db, folder) = (connect(location)?, ServerKey::open(data)?);
    let vault = Vault::find(data).map_err(Error::internal)?;
    db.read_blocking(|tx| {
        let secrets = sealed::count(tx)?
            + security::sealed::count(tx)?
            + admin::sealed::count(tx)?
            + geo::sealed::count(tx)?
            + org::sealed::count(tx)?
            + settings::count_sealed(tx)?;
        let is_readable = match &vault {
            Some(vault) => secrets > 0 && fit(tx, vault)? != KeyMatch::Foreign,
            None => false,
        };
        Ok(Survey { secrets, is_readable, is_foreign: folder.is_foreign_to(tx)? })
    })
}

/// Deletes all secrets, and the number of the key that sealed them, for an operator who has lost the key. Returns the
/// number of secrets.
///
/// # Errors
/// When the database cannot be written.
pub async fn forget(location: &Location) -> Result<usize> {
    let forget = |tx: &mut Tx<'_>| {
        stamp::remove(tx, KEY)?;
        Ok(sealed::delete_all(tx)?
            + security::sealed::delete_all(tx)?
            + admin::sealed::delete_all(tx)?
            + geo::sealed::delete_all(tx)?
            + org::sealed::delete_all(tx)?
            + settings::forget_sealed(tx)?)
    };
    connect(location)?.write(forget).await
}

fn connect(location: &Location) -> Result<Database> {
    Database::open(location, std::sync::Arc::new(Clock::system()))
}
