//! Responses of the OAuth endpoints.

use kernel::Ts;
use org::{
    application::{ClientToken, exchange::ActiveToken},
    token::{
        AccessToken, Scope, Secret,
        oauth::{LIFETIME, Pair},
    },
};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct PairEntity {
    access_token: String,
    token_type: &'static str,
    expires_in: i64,
    /// Absent where the token is the application's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    scope: String,
    created_at: i64,
    /// Signed claims about the user (OpenID Connect); with the scope `openid` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token: Option<String>,
}

impl PairEntity {
    pub fn new(pair: &Pair, id_token: Option<String>) -> Self {
        Self {
            access_token: pair.access.reveal().to_owned(),
            token_type: "Bearer",
            expires_in: LIFETIME.whole_seconds(),
            refresh_token: Some(pair.refresh.reveal().to_owned()),
            scope: pair.token.scopes().to_string(),
            created_at: pair.token.created_at.unix(),
            id_token,
        }
    }

    /// A token that an application has for itself.
    pub fn of_client(token: &ClientToken, secret: &Secret) -> Self {
        Self {
            access_token: secret.reveal().to_owned(),
            token_type: "Bearer",
            expires_in: LIFETIME.whole_seconds(),
            refresh_token: None,
            scope: token.scopes().to_string(),
            created_at: token.created_at.unix(),
            id_token: None,
        }
    }
}

/// The application that a token was given to.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApplicationUid {
    /// Client ID of the application.
    uid: String,
}

/// What an application may know of a token: of one that does not work, or is not its own, only that.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Introspection {
    Active {
        active: bool,
        scope: String,
        /// Client ID of the token's application.
        client_id: Option<String>,
        /// Absent, as `sub`, where the token is the application's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        username: Option<String>,
        token_type: &'static str,
        /// When the token ends, in seconds since 1970.
        exp: Option<i64>,
        /// When the token was made, in seconds since 1970.
        iat: i64,
        /// ID of the user.
        #[serde(skip_serializing_if = "Option::is_none")]
        sub: Option<String>,
    },
    Inactive {
        active: bool,
    },
}

impl From<Option<ActiveToken>> for Introspection {
    fn from(found: Option<ActiveToken>) -> Self {
        let Some(token) = found else { return Self::Inactive { active: false } };
        Self::Active {
            active: true,
            scope: token.scopes.to_string(),
            client_id: token.uid,
            sub: token.user.as_ref().map(|user| user.id.to_string()),
            username: token.user.map(|user| user.username),
            token_type: "Bearer",
            exp: token.expires_at.map(Ts::unix),
            iat: token.created_at.unix(),
        }
    }
}

/// Information about an OAuth token. Two fields have a second name for older clients.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenInfo {
    /// ID of the user; null where the token is the application's own.
    resource_owner_id: Option<i64>,
    #[schema(value_type = Vec<String>)]
    scope: Vec<Scope>,
    expires_in: Option<i64>,
    application: Option<ApplicationUid>,
    created_at: i64,
    #[schema(value_type = Vec<String>)]
    scopes: Vec<Scope>,
    expires_in_seconds: Option<i64>,
}

impl TokenInfo {
    /// `uid` is what the application of the token calls itself by.
    pub fn new(token: &AccessToken, uid: Option<String>, now: Ts) -> Self {
        let left = token.expires_at.map(|end| end.unix() - now.unix());
        Self {
            resource_owner_id: Some(token.user_id.0),
            scope: token.scopes().0,
            expires_in: left,
            application: uid.map(|uid| ApplicationUid { uid }),
            created_at: token.created_at.unix(),
            scopes: token.scopes().0,
            expires_in_seconds: left,
        }
    }

    /// As [`new`](Self::new), of a token that an application has for itself.
    pub fn of_client(token: &ClientToken, uid: Option<String>, now: Ts) -> Self {
        let left = Some(token.expires_at.unix() - now.unix());
        Self {
            resource_owner_id: None,
            scope: token.scopes().0,
            expires_in: left,
            application: uid.map(|uid| ApplicationUid { uid }),
            created_at: token.created_at.unix(),
            scopes: token.scopes().0,
            expires_in_seconds: left,
        }
    }
}

/// An empty object.
#[derive(Debug, Serialize, ToSchema)]
pub struct EmptyObject {}
