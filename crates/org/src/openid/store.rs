//! Signing keys in the database.

use db::{Tx, each_backend, error, schema::oauth_signing_keys as keys};
use diesel::prelude::*;
use kernel::{Error, Result, Ts};
use secrets::{Secret, UnsealError, Vault};

use super::SigningKey;

const NOUN: &str = "Key";
/// Where keys are sealed for.
const PLACE: &str = "oauth_signing_key";
/// Keys that are published.
const MOST: i64 = 10;

/// A key as it is stored.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = keys, check_for_backend(db::AnyBackend))]
pub struct SealedKey {
    pub id: i64,
    sealed: String,
    pub created_at: Ts,
}

impl SealedKey {
    pub(crate) fn unseal(&self, vault: &Vault) -> Result<Secret, UnsealError> {
        vault.unseal(PLACE, &self.sealed)
    }

    /// # Errors
    /// When it was sealed with another key than the data folder's.
    pub fn open(&self, vault: &Vault) -> Result<SigningKey> {
        SigningKey::from_text(self.unseal(vault).map_err(Error::internal)?.reveal())
    }
}

pub trait SigningKeyStore {
    /// The newest first.
    fn signing_keys(&mut self) -> Result<Vec<SealedKey>>;
    fn insert_signing_key(&mut self, key: &SigningKey, vault: &Vault) -> Result<()>;
}

impl SigningKeyStore for Tx<'_> {
    fn signing_keys(&mut self) -> Result<Vec<SealedKey>> {
        let newest = keys::table.order(keys::id.desc()).limit(MOST);
        each_backend!(self, |conn| newest
            .select(SealedKey::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn insert_signing_key(&mut self, key: &SigningKey, vault: &Vault) -> Result<()> {
        let sealed = vault.seal(PLACE, &Secret::new(key.to_text())).map_err(Error::internal)?;
        let row = (keys::sealed.eq(sealed), keys::created_at.eq(self.now));
        let insert = diesel::insert_into(keys::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
