//! An application as it is stored, and a code that it may change for tokens.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{ApplicationId, TokenId, UserId},
};

use super::{Challenge, ChallengeMethod};
use crate::token::{Scopes, Secret};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::oauth_applications, check_for_backend(db::AnyBackend))]
pub struct Application {
    pub id: ApplicationId,
    /// What it calls itself by in requests, its `client_id`.
    pub uid: String,
    pub name: String,
    pub secret_digest: String,
    /// Where people may be sent back to: one or more, with white space between.
    pub redirect_uri: String,
    #[diesel(column_name = scopes)]
    pub scope_words: String,
    /// Whether people are not asked before it acts for them.
    pub trusted: bool,
    /// Whether it can keep its secret, and so must show it.
    pub confidential: bool,
    pub created_at: Ts,
    pub updated_at: Ts,
    /// Whose it is; `None` for one of the installation.
    pub owner_id: Option<UserId>,
}

impl Application {
    /// The most that it may ever do for anybody.
    pub fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope_words)
    }

    /// Whether people may be sent there: to the letter, or else a code can be led astray.
    pub fn may_lead_to(&self, address: &str) -> bool {
        self.redirect_uri.split_whitespace().any(|known| known == address)
    }

    /// Whether it is who it says. One that cannot keep a secret needs none, but a wrong one is wrong.
    pub fn is_proven_by(&self, secret: Option<&Secret>) -> bool {
        match secret {
            Some(secret) => same(&self.secret_digest, &secret.digest()),
            None => !self.confidential,
        }
    }
}

/// Whether two texts are the same, in a time that depends on their lengths alone.
pub(super) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let differences = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}

/// An authorization code, until the application exchanges it for tokens.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::oauth_codes, check_for_backend(db::AnyBackend))]
pub struct AuthorizationCode {
    pub id: i64,
    pub application_id: ApplicationId,
    pub user_id: UserId,
    pub redirect_uri: String,
    #[diesel(column_name = scopes)]
    pub scope_words: String,
    #[diesel(column_name = challenge)]
    challenge_text: Option<String>,
    challenge_method: Option<ChallengeMethod>,
    /// The first token that came of it; nothing before.
    pub family_id: Option<TokenId>,
    pub expires_at: Ts,
    pub nonce: Option<String>,
}

impl AuthorizationCode {
    pub fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope_words)
    }

    pub fn challenge(&self) -> Option<Challenge> {
        let text = self.challenge_text.clone()?;
        Some(Challenge { text, method: self.challenge_method.unwrap_or(ChallengeMethod::Plain) })
    }
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn texts_are_the_same_to_the_last_letter() {
        assert!(same("", "") && same("abc", "abc"));
        assert!(!same("abc", "abd") && !same("abc", "ab") && !same("", "a"));
    }
}
