//! Tokens that say who somebody is, signed with a key that is made when it is first needed.

use kernel::{Error, Result, task::spawn_blocking};
use org::{
    application::exchange,
    openid::{Identity, PublicKey, SigningKey, SigningKeyStore as _},
    token::{AccessToken, Scope, oauth::Pair},
};
use serde::Serialize;
use time::Duration;

use crate::{Forge, urls::Urls};

/// How long an application may take to read who somebody is.
const LIFETIME: Duration = Duration::minutes(2);

/// The claims of a token beside those about the person.
#[derive(Serialize)]
struct RegisteredClaims {
    iss: String,
    sub: String,
    /// What the application calls itself by.
    aud: String,
    exp: i64,
    iat: i64,
    /// When the person signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
}

/// All claims of a token.
#[derive(Serialize)]
struct Claims {
    #[serde(flatten)]
    registered: RegisteredClaims,
    #[serde(flatten)]
    person: PersonClaims,
    /// Full paths of groups.
    groups_direct: Vec<String>,
}

/// The published halves of all keys that may have signed something.
///
/// # Errors
/// When the database cannot be read.
pub async fn public_keys(forge: &Forge) -> Result<Vec<PublicKey>> {
    let stored = forge.db.peek(|tx| tx.signing_keys()).await?;
    stored.iter().map(|key| Ok(key.open(&forge.vault)?.public().clone())).collect()
}

/// Who somebody is, for the holder of a token.
///
/// # Errors
/// When the database cannot be read.
pub async fn identity(forge: &Forge, token: &AccessToken) -> Result<Identity> {
    let (user, scopes) = (token.user_id, token.scopes());
    forge.db.peek(move |tx| Identity::load(tx, user, &scopes)).await
}

/// OpenID claims about a user beside the subject.
#[derive(Clone, Debug, Serialize)]
pub struct PersonClaims {
    pub name: String,
    pub nickname: String,
    pub preferred_username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Whether the address was confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email_verified: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website: Option<String>,
    pub profile: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
}

impl PersonClaims {
    pub fn of(urls: &Urls, identity: &Identity) -> Self {
        let user = &identity.user;
        let uploaded = user.avatar.as_ref();
        let uploaded = uploaded
            .map(|file| urls.at(&format!("uploads/-/system/user/avatar/{}/{file}", user.id)));
        let email = identity.email.clone();
        Self {
            name: user.name.clone(),
            nickname: user.username.clone(),
            preferred_username: user.username.clone(),
            email_verified: email.as_ref().map(|(_, is_verified)| *is_verified),
            email: email.map(|(email, _)| email),
            website: identity.website.clone(),
            profile: urls.at(&user.username),
            picture: uploaded.or_else(|| urls.gravatar(&user.email)),
        }
    }
}

/// The token that comes with a pair whose scopes ask who somebody is; nothing for others, and where no application
/// asks.
///
/// # Errors
/// When the database cannot be read, or no key can be made.
pub async fn id_token(forge: &Forge, pair: &Pair) -> Result<Option<String>> {
    if !pair.token.scopes().has(Scope::OpenId) {
        return Ok(None);
    }
    let application = pair.token.application_id;
    let uid = forge.db.peek(move |tx| exchange::uid_of(tx, application)).await?;
    let Some(aud) = uid else { return Ok(None) };
    let identity = identity(forge, &pair.token).await?;
    let now = forge.db.clock().now();
    let user = &identity.user;
    let registered = RegisteredClaims {
        iss: forge.urls.base().to_owned(),
        sub: user.id.to_string(),
        aud,
        exp: now.plus(LIFETIME).unix(),
        iat: now.unix(),
        auth_time: user.current_sign_in_at.map(kernel::Ts::unix),
        nonce: pair.nonce.clone(),
    };
    let person = PersonClaims::of(&forge.urls, &identity);
    let claims = Claims { registered, person, groups_direct: identity.groups };
    let key = signing_key(forge).await?;
    let signed = spawn_blocking(move || key.sign(&claims));
    signed.await.map_err(Error::internal)?.map(Some)
}

/// The newest key; a new one where there is none.
pub(crate) async fn signing_key(forge: &Forge) -> Result<SigningKey> {
    if let Some(newest) = forge.db.peek(|tx| tx.signing_keys()).await?.first() {
        return newest.open(&forge.vault);
    }
    let made = spawn_blocking(SigningKey::generate).await.map_err(Error::internal)??;
    let (key, vault) = (made.clone(), forge.vault.clone());
    let kept = forge.db.write(move |tx| {
        // Another request may have been faster.
        if tx.signing_keys()?.is_empty() {
            tx.insert_signing_key(&key, &vault)?;
        }
        tx.signing_keys()
    });
    match kept.await?.first() {
        Some(newest) => newest.open(&forge.vault),
        None => Ok(made),
    }
}
