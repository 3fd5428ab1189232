//! Access tokens. The secret is there only in the answer that made it.

use kernel::{AccessLevel, Ts, time::date_text};
use org::{
    member::Source,
    token::{AccessToken, Kind, Scope, Secret},
};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct TokenEntity {
    id: i64,
    name: String,
    revoked: bool,
    #[schema(value_type = String)]
    created_at: Ts,
    description: Option<String>,
    #[schema(value_type = Vec<String>)]
    scopes: Vec<Scope>,
    user_id: i64,
    #[schema(value_type = Option<String>)]
    last_used_at: Option<Ts>,
    active: bool,
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    impersonation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl TokenEntity {
    pub fn new(token: &AccessToken, now: Ts) -> Self {
        Self {
            id: token.id.0,
            name: token.name.clone(),
            revoked: token.revoked,
            created_at: token.created_at,
            description: None,
            scopes: token.scopes().0,
            user_id: token.user_id.0,
            last_used_at: token.last_used_at,
            active: token.is_active(now),
            expires_at: token.expires_at.map(|end| date_text(end.date())),
            impersonation: (token.kind == Kind::Impersonation).then_some(true),
            token: None,
        }
    }

    #[must_use]
    pub fn with_secret(self, secret: &Secret) -> Self {
        Self { token: Some(secret.reveal().to_owned()), ..self }
    }
}

/// A project or group access token, with the access level of its bot user.
#[derive(Debug, Serialize, ToSchema)]
pub struct ResourceTokenEntity {
    #[serde(flatten)]
    token: TokenEntity,
    access_level: i32,
    resource_type: &'static str,
    resource_id: i64,
}

impl ResourceTokenEntity {
    pub fn new(token: TokenEntity, level: AccessLevel, source: Source) -> Self {
        let resource_id = match source {
            Source::Project(id) => id.0,
            Source::Group(id) => id.0,
        };
        let access_level = level.number();
        Self { token, access_level, resource_type: source.word(), resource_id }
    }
}
