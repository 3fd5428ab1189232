//! Tokens for a registry of images that others run beside this server, which asks here who may pull and push what.

use kernel::{Error, Result, Ts, task::spawn_blocking};
use serde::Serialize;
use time::Duration;

use crate::{Forge, openid::signing_key};

/// The name under which a registry asks.
pub const SERVICE: &str = "container_registry";

/// How far the clock of the registry may be behind.
const EARLY: Duration = Duration::seconds(5);

/// A user's access to the images of one repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImageAccess {
    pub r#type: &'static str,
    /// The full path of the project, with what follows it in the name of the image.
    pub name: String,
    pub actions: Vec<&'static str>,
}

/// A token with the time for which it counts.
#[derive(Clone, Debug, Serialize)]
pub struct RegistryToken {
    pub token: String,
    /// In seconds.
    pub expires_in: i64,
    pub issued_at: String,
}

#[derive(Serialize)]
struct Claims {
    access: Vec<ImageAccess>,
    jti: String,
    aud: &'static str,
    sub: String,
    /// Not that of OpenID Connect, whose tokens the same key signs.
    iss: String,
    iat: i64,
    nbf: i64,
    exp: i64,
}

/// Signs what somebody may do. The token counts for as many minutes as `container_registry_token_expire_delay` says.
///
/// # Errors
/// When the database cannot be read, or no key can be made.
pub async fn sign(forge: &Forge, sub: String, access: Vec<ImageAccess>) -> Result<RegistryToken> {
    let now: Ts = forge.db.clock().now();
    let minutes = forge.settings().container_registry_token_expire_delay().unwrap_or(1);
    let expires_in = minutes.saturating_mul(60);
    let claims = Claims {
        access,
        jti: hex::encode(rand::random::<[u8; 16]>()),
        aud: SERVICE,
        sub,
        iss: forge.urls.at("jwt/auth"),
        iat: now.unix(),
        nbf: now.plus(-EARLY).unix(),
        exp: now.unix().saturating_add(expires_in),
    };
    let key = signing_key(forge).await?;
    let signed = spawn_blocking(move || key.sign(&claims));
    let token = signed.await.map_err(Error::internal)??;
    Ok(RegistryToken { token, expires_in, issued_at: now.iso() })
}
