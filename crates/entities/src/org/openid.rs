//! Responses of OpenID Connect.

use forge::{openid::PersonClaims, urls::Urls};
use kernel::TextEnum as _;
use org::{
    openid::{Identity, PublicKey},
    token::Scope,
};
use serde::Serialize;
use utoipa::ToSchema;

/// What is known of the user of a token.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserInfo {
    /// ID of the user.
    sub: String,
    name: String,
    nickname: String,
    preferred_username: String,
    /// The primary address with the scope `email`, else the public one.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    /// Whether the address was confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    email_verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    website: Option<String>,
    profile: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<String>,
    /// Full paths of the groups that the user is a direct member of, at most 1000.
    groups: Vec<String>,
}

impl UserInfo {
    pub fn new(urls: &Urls, identity: Identity) -> Self {
        let claims = PersonClaims::of(urls, &identity);
        Self {
            sub: identity.user.id.to_string(),
            name: claims.name,
            nickname: claims.nickname,
            preferred_username: claims.preferred_username,
            email: claims.email,
            email_verified: claims.email_verified,
            website: claims.website,
            profile: claims.profile,
            picture: claims.picture,
            groups: identity.groups,
        }
    }
}

/// Keys with which `id_token` can be checked.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeySet {
    keys: Vec<WebKey>,
}

/// An RSA key (RFC 7517).
#[derive(Debug, Serialize, ToSchema)]
pub struct WebKey {
    kty: &'static str,
    kid: String,
    e: String,
    n: String,
    #[serde(rename = "use")]
    purpose: &'static str,
    alg: &'static str,
}

impl From<Vec<PublicKey>> for KeySet {
    fn from(keys: Vec<PublicKey>) -> Self {
        let key = |key: PublicKey| WebKey {
            kty: "RSA",
            kid: key.id,
            e: key.exponent,
            n: key.modulus,
            purpose: "sig",
            alg: "RS256",
        };
        Self { keys: keys.into_iter().map(key).collect() }
    }
}

/// Where an application finds what it needs to sign people in (OpenID Connect Discovery 1.0).
#[derive(Debug, Serialize, ToSchema)]
pub struct ProviderMetadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    revocation_endpoint: String,
    introspection_endpoint: String,
    userinfo_endpoint: String,
    jwks_uri: String,
    #[schema(value_type = Vec<String>)]
    scopes_supported: Vec<Scope>,
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 4],
    token_endpoint_auth_methods_supported: [&'static str; 2],
    subject_types_supported: [&'static str; 1],
    id_token_signing_alg_values_supported: [&'static str; 1],
    claim_types_supported: [&'static str; 1],
    claims_supported: [&'static str; 15],
    code_challenge_methods_supported: [&'static str; 2],
}

impl ProviderMetadata {
    pub fn new(urls: &Urls) -> Self {
        let at = |path: &str| urls.at(&format!("oauth/{path}"));
        Self {
            issuer: urls.base().to_owned(),
            authorization_endpoint: at("authorize"),
            token_endpoint: at("token"),
            revocation_endpoint: at("revoke"),
            introspection_endpoint: at("introspect"),
            userinfo_endpoint: at("userinfo"),
            jwks_uri: at("discovery/keys"),
            scopes_supported: Scope::ALL.to_vec(),
            response_types_supported: ["code"],
            response_modes_supported: ["query"],
            grant_types_supported: [
                "authorization_code",
                "password",
                "client_credentials",
                "refresh_token",
            ],
            token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: ["RS256"],
            claim_types_supported: ["normal"],
            claims_supported: [
                "iss",
                "sub",
                "aud",
                "exp",
                "iat",
                "auth_time",
                "nonce",
                "name",
                "nickname",
                "preferred_username",
                "email",
                "email_verified",
                "website",
                "profile",
                "picture",
            ],
            code_challenge_methods_supported: ["plain", "S256"],
        }
    }
}
