//! Keys of people.

use forge::urls::Urls;
use kernel::Ts;
use org::{
    key::{
        gpg::GpgKey,
        ssh::{SshKey, Usage},
    },
    user::User,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::user::AdminUser;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SshKeyEntity {
    id: i64,
    title: String,
    #[schema(value_type = String)]
    created_at: Ts,
    #[schema(value_type = Option<String>)]
    expires_at: Option<Ts>,
    key: String,
    #[schema(value_type = String)]
    usage_type: Usage,
}

impl SshKeyEntity {
    /// A key's own comment often is an address: everybody may see keys, so the owner's name takes its place.
    pub fn new(urls: &Urls, key: &SshKey, owner: &User) -> Self {
        let host = urls.host();
        let host = host.rsplit_once(':').map_or(host, |(name, _port)| name);
        Self {
            id: key.id.0,
            title: key.title.clone(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            key: format!("{} {} ({host})", key.key, owner.name),
            usage_type: key.usage,
        }
    }
}

/// An SSH key with its owner.
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnedSshKeyEntity {
    #[serde(flatten)]
    pub key: SshKeyEntity,
    pub user: AdminUser,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct GpgKeyEntity {
    id: i64,
    key: String,
    #[schema(value_type = String)]
    created_at: Ts,
}

impl From<GpgKey> for GpgKeyEntity {
    fn from(key: GpgKey) -> Self {
        Self { id: key.id.0, key: key.key, created_at: key.created_at }
    }
}
