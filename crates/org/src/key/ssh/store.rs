//! Reading and keeping SSH keys.

use db::{CountOf, OneOf as _, Tx, each_backend, error, schema::ssh_keys};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{SshKeyId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};
use signatures::ssh::PublicKey;

use super::{SshKey, Usage};

/// A key as it is first written down.
#[derive(Clone, Debug)]
pub struct NewSshKey {
    pub user_id: UserId,
    pub title: String,
    pub usage: Usage,
    pub expires_at: Option<Ts>,
}

pub trait SshKeyStore {
    fn ssh_keys(&mut self, user: UserId, page: PageRequest) -> Result<Page<SshKey>>;
    fn ssh_key(&mut self, user: UserId, id: SshKeyId) -> Result<SshKey>;
    /// Whosever it is.
    fn any_ssh_key(&mut self, id: SshKeyId) -> Result<SshKey>;
    fn find_ssh_key(&mut self, sha256: &str) -> Result<Option<SshKey>>;
    /// Those with one of these SHA-256 fingerprints.
    fn ssh_keys_with(&mut self, sha256: &[String]) -> Result<Vec<SshKey>>;
    fn find_ssh_key_by_md5(&mut self, md5: &str) -> Result<Option<SshKey>>;
    fn insert_ssh_key(&mut self, new: &NewSshKey, key: &PublicKey) -> Result<SshKey>;
    fn delete_ssh_key(&mut self, id: SshKeyId) -> Result<()>;
}

impl SshKeyStore for Tx<'_> {
    fn ssh_keys(&mut self, user: UserId, page: PageRequest) -> Result<Page<SshKey>> {
        let theirs = ssh_keys::table.filter(ssh_keys::user_id.eq(user));
        let items: Vec<SshKey> = each_backend!(self, |conn| theirs
            .order(ssh_keys::id)
            .limit(page.per_page)
            .offset(page.offset())
            .select(SshKey::as_select())
            .load(conn)
            .map_err(error("Key")))?;
        let count = CountOf(theirs.select(ssh_keys::id).limit(COUNT_LIMIT + 1));
        let total = each_backend!(self, |conn| count.get_result(conn).map_err(error("Key")))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn ssh_key(&mut self, user: UserId, id: SshKeyId) -> Result<SshKey> {
        let row = ssh_keys::table.find(id).filter(ssh_keys::user_id.eq(user));
        each_backend!(self, |conn| row
            .select(SshKey::as_select())
            .get_result(conn)
            .map_err(error("Key")))
    }

    fn any_ssh_key(&mut self, id: SshKeyId) -> Result<SshKey> {
        let row = ssh_keys::table.find(id);
        each_backend!(self, |conn| row
            .select(SshKey::as_select())
            .get_result(conn)
            .map_err(error("Key")))
    }

    fn find_ssh_key(&mut self, sha256: &str) -> Result<Option<SshKey>> {
        let row = ssh_keys::table.filter(ssh_keys::fingerprint_sha256.eq(sha256));
        each_backend!(self, |conn| row
            .select(SshKey::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Key")))
    }

    fn ssh_keys_with(&mut self, sha256: &[String]) -> Result<Vec<SshKey>> {
        let rows = ssh_keys::table.filter(ssh_keys::fingerprint_sha256.one_of(sha256));
        each_backend!(self, |conn| rows
            .select(SshKey::as_select())
            .load(conn)
            .map_err(error("Key")))
    }

    fn find_ssh_key_by_md5(&mut self, md5: &str) -> Result<Option<SshKey>> {
        let row =
            ssh_keys::table.filter(ssh_keys::fingerprint_md5.eq(md5)).order(ssh_keys::id).limit(1);
        each_backend!(self, |conn| row
            .select(SshKey::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Key")))
    }

    fn insert_ssh_key(&mut self, new: &NewSshKey, key: &PublicKey) -> Result<SshKey> {
        let row = (
            ssh_keys::user_id.eq(new.user_id),
            ssh_keys::title.eq(&new.title),
            ssh_keys::key.eq(&key.text),
            ssh_keys::fingerprint_sha256.eq(&key.sha256),
            ssh_keys::fingerprint_md5.eq(&key.md5),
            ssh_keys::usage_type.eq(new.usage),
            ssh_keys::created_at.eq(self.now),
            ssh_keys::updated_at.eq(self.now),
            ssh_keys::expires_at.eq(new.expires_at),
        );
        let insert = diesel::insert_into(ssh_keys::table).values(row);
        each_backend!(self, |conn| insert
            .returning(SshKey::as_returning())
            .get_result(conn)
            .map_err(error("Key")))
    }

    fn delete_ssh_key(&mut self, id: SshKeyId) -> Result<()> {
        let gone = diesel::delete(ssh_keys::table.find(id));
        each_backend!(self, |conn| gone.execute(conn).map_err(error("Key")))?;
        Ok(())
    }
}
