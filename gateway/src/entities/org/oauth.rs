//! What the OAuth endpoints answer.

use kernel::Ts;
use org::token::{
    AccessToken, Scope,
    oauth::{LIFETIME, Pair},
};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct PairEntity {
    access_token: String,
    token_type: &'static str,
    expires_in: i64,
    refresh_token: String,
    scope: String,
    created_at: i64,
}

impl From<Pair> for PairEntity {
    fn from(pair: Pair) -> Self {
        Self {
            access_token: pair.access.reveal().to_owned(),
            token_type: "Bearer",
            expires_in: LIFETIME.whole_seconds(),
            refresh_token: pair.refresh.reveal().to_owned(),
            scope: pair.token.scopes().to_string(),
            created_at: pair.token.created_at.unix(),
        }
    }
}

/// Information about an OAuth token. Two fields have a second name for older clients.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenInfo {
    resource_owner_id: i64,
    #[schema(value_type = Vec<String>)]
    scope: Vec<Scope>,
    expires_in: Option<i64>,
    application: Option<String>,
    created_at: i64,
    #[schema(value_type = Vec<String>)]
    scopes: Vec<Scope>,
    expires_in_seconds: Option<i64>,
}

impl TokenInfo {
    pub fn new(token: &AccessToken, now: Ts) -> Self {
        let left = token.expires_at.map(|end| end.unix() - now.unix());
        Self {
            resource_owner_id: token.user_id.0,
            scope: token.scopes().0,
            expires_in: left,
            application: None,
            created_at: token.created_at.unix(),
            scopes: token.scopes().0,
            expires_in_seconds: left,
        }
    }
}

/// An empty object.
#[derive(Debug, Serialize, ToSchema)]
pub struct EmptyObject {}
