//! Reading and keeping PGP keys.

use std::collections::BTreeSet;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{gpg_keys, gpg_subkeys},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{GpgKeyId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};
use signatures::openpgp::PublicKey;

use super::{GpgKey, Subkey};

pub trait GpgKeyStore {
    fn gpg_keys(&mut self, user: UserId, page: PageRequest) -> Result<Page<GpgKey>>;
    fn gpg_key(&mut self, user: UserId, id: GpgKeyId) -> Result<GpgKey>;
    fn find_gpg_key(&mut self, fingerprint: &str) -> Result<Option<GpgKey>>;
    /// Keys that are known by one of these ids or have a subkey that is, with all their subkeys.
    fn gpg_keys_with(&mut self, keyids: &[String]) -> Result<Vec<(GpgKey, Vec<Subkey>)>>;
    fn insert_gpg_key(&mut self, user: UserId, text: &str, key: &PublicKey) -> Result<GpgKey>;
    fn delete_gpg_key(&mut self, id: GpgKeyId) -> Result<()>;
}

impl GpgKeyStore for Tx<'_> {
    fn gpg_keys(&mut self, user: UserId, page: PageRequest) -> Result<Page<GpgKey>> {
        let theirs = gpg_keys::table.filter(gpg_keys::user_id.eq(user));
        let items: Vec<GpgKey> = each_backend!(self, |conn| theirs
            .order(gpg_keys::id)
            .limit(page.per_page)
            .offset(page.offset())
            .select(GpgKey::as_select())
            .load(conn)
            .map_err(error("GPG Key")))?;
        let count = CountOf(theirs.select(gpg_keys::id).limit(COUNT_LIMIT + 1));
        let total = each_backend!(self, |conn| count.get_result(conn).map_err(error("GPG Key")))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn gpg_key(&mut self, user: UserId, id: GpgKeyId) -> Result<GpgKey> {
        let row = gpg_keys::table.find(id).filter(gpg_keys::user_id.eq(user));
        each_backend!(self, |conn| row
            .select(GpgKey::as_select())
            .get_result(conn)
            .map_err(error("GPG Key")))
    }

    fn find_gpg_key(&mut self, fingerprint: &str) -> Result<Option<GpgKey>> {
        let row = gpg_keys::table.filter(gpg_keys::fingerprint.eq(fingerprint));
        each_backend!(self, |conn| row
            .select(GpgKey::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("GPG Key")))
    }

    fn gpg_keys_with(&mut self, keyids: &[String]) -> Result<Vec<(GpgKey, Vec<Subkey>)>> {
        let under = gpg_subkeys::table
            .filter(gpg_subkeys::keyid.one_of(keyids))
            .select(gpg_subkeys::gpg_key_id);
        let under: Vec<GpgKeyId> =
            each_backend!(self, |conn| under.load(conn).map_err(error("GPG Key")))?;
        let first =
            gpg_keys::table.filter(gpg_keys::primary_keyid.one_of(keyids)).select(gpg_keys::id);
        let first: Vec<GpgKeyId> =
            each_backend!(self, |conn| first.load(conn).map_err(error("GPG Key")))?;
        let ids: BTreeSet<GpgKeyId> = under.into_iter().chain(first).collect();
        let ids: Vec<GpgKeyId> = ids.into_iter().collect();
        let keys = gpg_keys::table.filter(gpg_keys::id.one_of(&ids)).order(gpg_keys::id);
        let keys: Vec<GpgKey> = each_backend!(self, |conn| keys
            .select(GpgKey::as_select())
            .load(conn)
            .map_err(error("GPG Key")))?;
        let subkeys = gpg_subkeys::table.filter(gpg_subkeys::gpg_key_id.one_of(&ids));
        let subkeys: Vec<Subkey> = each_backend!(self, |conn| subkeys
            .select(Subkey::as_select())
            .load(conn)
            .map_err(error("GPG Key")))?;
        let of =
            |key: &GpgKey| subkeys.iter().filter(|sub| sub.gpg_key_id == key.id).cloned().collect();
        Ok(keys.into_iter().map(|key| (key.clone(), of(&key))).collect())
    }

    fn insert_gpg_key(&mut self, user: UserId, text: &str, key: &PublicKey) -> Result<GpgKey> {
        let row = (
            gpg_keys::user_id.eq(user),
            gpg_keys::key.eq(text),
            gpg_keys::fingerprint.eq(&key.primary.fingerprint),
            gpg_keys::primary_keyid.eq(&key.primary.keyid),
            gpg_keys::created_at.eq(self.now),
            gpg_keys::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(gpg_keys::table).values(row);
        let made: GpgKey = each_backend!(self, |conn| insert
            .returning(GpgKey::as_returning())
            .get_result(conn)
            .map_err(error("GPG Key")))?;
        let rows: Vec<_> = key
            .subkeys
            .iter()
            .map(|subkey| {
                (
                    gpg_subkeys::gpg_key_id.eq(made.id),
                    gpg_subkeys::keyid.eq(subkey.keyid.clone()),
                    gpg_subkeys::fingerprint.eq(subkey.fingerprint.clone()),
                )
            })
            .collect();
        for rows in rows.chunks(AT_ONCE) {
            let insert = diesel::insert_into(gpg_subkeys::table).values(rows.to_vec());
            each_backend!(self, |conn| insert.execute(conn).map_err(error("GPG Key")))?;
        }
        Ok(made)
    }

    fn delete_gpg_key(&mut self, id: GpgKeyId) -> Result<()> {
        let gone = diesel::delete(gpg_keys::table.find(id));
        each_backend!(self, |conn| gone.execute(conn).map_err(error("GPG Key")))?;
        Ok(())
    }
}

/// Rows of one insert.
const AT_ONCE: usize = 1000;
