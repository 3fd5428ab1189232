//! A node as it is stored, its secret key sealed.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{ApplicationId, GeoNodeId},
};
use secrets::{Secret, UnsealError, Vault};

use super::{KeyPair, SecretKey};

kernel::text_enum! {
    /// By what a secondary chooses, where it copies only a part.
    pub enum SelectiveSync { Namespaces = "namespaces", Shards = "shards" }
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::geo_nodes, check_for_backend(db::AnyBackend))]
pub struct GeoNode {
    pub id: GeoNodeId,
    pub name: String,
    /// Ends with a slash.
    pub url: String,
    /// How other nodes reach it, where that is not its URL; ends with a slash.
    pub internal_url: Option<String>,
    #[diesel(column_name = is_primary)]
    pub primary: bool,
    pub enabled: bool,
    pub files_max_capacity: i64,
    pub repos_max_capacity: i64,
    pub verification_max_capacity: i64,
    pub container_repositories_max_capacity: i64,
    /// In days.
    pub minimum_reverification_interval: i64,
    pub selective_sync_type: Option<SelectiveSync>,
    /// A JSON list of names.
    pub selective_sync_shards: String,
    pub sync_object_storage: bool,
    pub access_key: String,
    pub sealed: String,
    pub oauth_application_id: Option<ApplicationId>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl GeoNode {
    pub fn shards(&self) -> Vec<String> {
        serde_json::from_str(&self.selective_sync_shards).unwrap_or_default()
    }

    /// Where other nodes reach it.
    pub fn internal_url(&self) -> &str {
        self.internal_url.as_deref().unwrap_or(&self.url)
    }

    /// Where people come back to after they signed in at the primary.
    pub(super) fn callback(&self) -> String {
        format!("{}oauth/geo/callback", self.url)
    }

    // Another row's key in this row's place cannot be unsealed.
    fn place(&self) -> String {
        format!("geo_node/{}", self.access_key)
    }

    pub(super) fn seal(&mut self, vault: &Vault, keys: KeyPair) -> Result<()> {
        self.access_key = keys.access_key;
        self.sealed = vault.seal(&self.place(), keys.secret.secret()).map_err(Error::internal)?;
        Ok(())
    }

    pub(crate) fn unseal(&self, vault: &Vault) -> Result<Secret, UnsealError> {
        vault.unseal(&self.place(), &self.sealed)
    }

    /// The key with which this node signs.
    pub fn secret_key(&self, vault: &Vault) -> Result<SecretKey> {
        self.unseal(vault).map(SecretKey::new).map_err(Error::internal)
    }
}
