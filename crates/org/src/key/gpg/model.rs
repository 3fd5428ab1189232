//! A PGP key as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{GpgKeyId, UserId},
};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::gpg_keys, check_for_backend(db::AnyBackend))]
pub struct GpgKey {
    pub id: GpgKeyId,
    pub user_id: UserId,
    /// Armoured, as it was given.
    pub key: String,
    pub fingerprint: String,
    /// The last sixteen digits of the fingerprint, as signatures name it.
    pub primary_keyid: String,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// A further key that the first one vouches for.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::gpg_subkeys, check_for_backend(db::AnyBackend))]
pub struct Subkey {
    pub id: i64,
    pub gpg_key_id: GpgKeyId,
    pub keyid: String,
    pub fingerprint: String,
}
