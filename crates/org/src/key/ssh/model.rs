//! An SSH key as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{SshKeyId, UserId},
};

kernel::text_enum! {
    /// The permitted uses of a key.
    #[derive(Default)]
    pub enum Usage { #[default] Both = "auth_and_signing", Auth = "auth", Signing = "signing" }
}

impl Usage {
    pub fn signs(self) -> bool {
        matches!(self, Self::Both | Self::Signing)
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::ssh_keys, check_for_backend(db::AnyBackend))]
pub struct SshKey {
    pub id: SshKeyId,
    pub user_id: UserId,
    pub title: String,
    /// Kind and data, without a comment.
    pub key: String,
    pub fingerprint_sha256: String,
    #[diesel(column_name = usage_type)]
    pub usage: Usage,
    pub created_at: Ts,
    pub updated_at: Ts,
    pub expires_at: Option<Ts>,
    pub last_used_at: Option<Ts>,
}
