//! A trigger as it is stored: found by the digest of its token, and the token itself sealed, since its owner may see it
//! again.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{ProjectId, TriggerId, UserId},
};
use secrets::{Secret, Vault};
use sha2::{Digest as _, Sha256};

/// So many signs of a token are shown to those who may not see all of it.
const SHOWN: usize = 4;

/// A pipeline trigger token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerToken(Secret);

impl TriggerToken {
    /// How every token begins.
    pub const PREFIX: &'static str = "glptt-";

    /// A new one, which nobody can guess.
    pub fn generate() -> Self {
        Self::given(format!("{}{}", Self::PREFIX, hex::encode(rand::random::<[u8; 20]>())))
    }

    /// One given by a client.
    pub fn given(text: impl Into<String>) -> Self {
        Self(Secret::new(text))
    }

    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    pub(super) fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.reveal()))
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::triggers, check_for_backend(db::AnyBackend))]
pub struct Trigger {
    pub id: TriggerId,
    pub project_id: ProjectId,
    /// With whose rights its pipelines are made.
    pub owner_id: UserId,
    pub token_digest: String,
    pub sealed: String,
    pub description: String,
    pub last_used_at: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Trigger {
    /// For what a token is sealed.
    pub(crate) fn place(project: ProjectId, digest: &str) -> String {
        format!("trigger/{project}/{digest}")
    }

    /// The token in clear.
    pub fn token(&self, vault: &Vault) -> Result<TriggerToken> {
        let clear = vault.unseal(&Self::place(self.project_id, &self.token_digest), &self.sealed);
        clear.map(TriggerToken).map_err(Error::internal)
    }

    /// Its beginning, by which people tell tokens apart.
    pub fn short_token(&self, vault: &Vault) -> Result<String> {
        let token = self.token(vault)?;
        let own = token.reveal().trim_start_matches(TriggerToken::PREFIX);
        Ok(own.chars().take(SHOWN).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::TriggerToken;

    #[test]
    fn a_token_is_new_each_time_and_shown_in_no_log() {
        let (one, other) = (TriggerToken::generate(), TriggerToken::generate());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(one.reveal().len(), TriggerToken::PREFIX.len() + 40);
        assert!(!format!("{one:?}").contains(TriggerToken::PREFIX));
    }
}
