//! A token as it is stored: never the secret itself, only its digest.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{ApplicationId, TokenId, UserId},
};
use rand::RngExt;
use sha2::{Digest, Sha256};

use super::Scopes;

kernel::text_enum! { pub enum Kind {
    Personal = "personal", Impersonation = "impersonation", OAuth = "oauth",
    /// Of a project or group; its user is a bot.
    Resource = "resource",
} }

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::access_tokens, check_for_backend(db::AnyBackend))]
pub struct AccessToken {
    pub id: TokenId,
    pub user_id: UserId,
    pub kind: Kind,
    pub name: String,
    #[diesel(column_name = scopes)]
    pub scope_words: String,
    pub created_at: Ts,
    /// Midnight UTC at which it stops working; for OAuth tokens any moment.
    pub expires_at: Option<Ts>,
    pub revoked: bool,
    pub last_used_at: Option<Ts>,
    /// The first token of a chain of rotations.
    pub family_id: Option<TokenId>,
    /// The application that it was given to.
    pub application_id: Option<ApplicationId>,
}

impl AccessToken {
    pub fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope_words)
    }

    /// The id by which a chain of rotations is known.
    pub fn family(&self) -> TokenId {
        self.family_id.unwrap_or(self.id)
    }

    pub fn is_expired(&self, now: Ts) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    pub fn is_active(&self, now: Ts) -> bool {
        !self.revoked && !self.is_expired(now)
    }
}

kernel::text_enum! { pub enum Activity { Active = "active", Inactive = "inactive" } }

kernel::text_enum! {
    /// The sort order of a token list; ties are ordered by id, newest first.
    pub enum TokenOrder {
        CreatedAscending = "created_asc",
        CreatedDescending = "created_desc",
        ExpiresAscending = "expires_asc",
        ExpiresDescending = "expires_desc",
        LastUsedAscending = "last_used_asc",
        LastUsedDescending = "last_used_desc",
        NameAscending = "name_asc",
        NameDescending = "name_desc",
    }
}

/// Which tokens a list shows, and in which order: the oldest first, where nothing else is wanted.
#[derive(Clone, Debug, Default)]
pub struct TokenFilter {
    pub kinds: Vec<Kind>,
    pub user: Option<UserId>,
    /// Whose tokens, where several people are meant.
    pub users: Option<Vec<UserId>>,
    pub revoked: Option<bool>,
    pub activity: Option<Activity>,
    pub search: Option<String>,
    pub created_after: Option<Ts>,
    pub created_before: Option<Ts>,
    pub last_used_after: Option<Ts>,
    pub last_used_before: Option<Ts>,
    pub expires_after: Option<Ts>,
    pub expires_before: Option<Ts>,
    pub order: Option<TokenOrder>,
}

/// The clear value of a token. It is shown once and never stored.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    /// `prefix` and twenty random characters.
    pub fn generate(prefix: &str) -> Self {
        let mut rng = rand::rng();
        let tail = (0..20).map(|_| char::from(Self::ALPHABET[rng.random_range(0..64)]));
        Self(prefix.chars().chain(tail).collect())
    }

    /// 64 hexadecimal digits, as OAuth tokens are.
    pub fn generate_hex() -> Self {
        Self(hex::encode(rand::random::<[u8; 32]>()))
    }

    pub fn given(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// What is stored and looked up.
    pub fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.0.as_bytes()))
    }

    /// The clear value, for the one answer that shows it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}
