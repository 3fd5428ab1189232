//! An application asks somebody to let it act for them.

use db::Tx;
use kernel::{Result, Ts, ids::UserId};
use time::Duration;

use super::{Application, ApplicationChange, ApplicationStore as _, Challenge, actions::record};
use crate::{
    settings::store::SettingsStore as _,
    token::{Scope, Scopes, Secret},
    user::User,
};

/// How long a code can be changed for tokens.
pub const CODE_LIFETIME: Duration = Duration::minutes(10);

/// An authorization request before validation.
#[derive(Clone, Debug, Default)]
pub struct AuthorizationRequest {
    pub response_type: Option<String>,
    pub client_id: Option<String>,
    pub redirect_uri: Option<String>,
    pub scope: Option<String>,
    pub code_challenge: Option<String>,
    pub code_challenge_method: Option<String>,
    pub nonce: Option<String>,
}

/// Reasons for which a user is not asked for consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorizationRefusal {
    /// No such application.
    Client,
    /// It may not lead there, so nobody is sent there.
    Redirect,
    /// Something is missing or malformed.
    Request,
    ResponseType,
    Scope,
    /// The person does not want it, or may not.
    Denial,
}

/// The consent that a user is asked for.
#[derive(Clone, Debug)]
pub struct Consent {
    pub application: Application,
    pub redirect_uri: String,
    pub scopes: Scopes,
    pub challenge: Option<Challenge>,
    pub nonce: Option<String>,
}

/// Reads a request. Where the application and the address are right, the address is told of what is not.
pub fn read(
    tx: &mut Tx<'_>,
    request: &AuthorizationRequest,
) -> Result<Result<Consent, AuthorizationRefusal>> {
    use AuthorizationRefusal as Refusal;
    let uid = request.client_id.as_deref().unwrap_or_default();
    let Some(application) = tx.find_client(uid)? else { return Ok(Err(Refusal::Client)) };
    let address = request.redirect_uri.clone().unwrap_or_default();
    if !application.may_lead_to(&address) {
        return Ok(Err(Refusal::Redirect));
    }
    Ok(terms(request, &application).map(|(scopes, challenge)| Consent {
        application,
        redirect_uri: address,
        scopes,
        challenge,
        nonce: request.nonce.clone().filter(|nonce| !nonce.is_empty()),
    }))
}

fn terms(
    request: &AuthorizationRequest,
    application: &Application,
) -> Result<(Scopes, Option<Challenge>), AuthorizationRefusal> {
    use AuthorizationRefusal as Refusal;
    match request.response_type.as_deref() {
        Some("code") => {}
        None | Some("") => return Err(Refusal::Request),
        Some(_) => return Err(Refusal::ResponseType),
    }
    let (text, method) =
        (request.code_challenge.as_deref(), request.code_challenge_method.as_deref());
    let challenge = Challenge::read(text, method).map_err(|()| Refusal::Request)?;
    // Without a secret nothing else says that who changes the code is who asked for it.
    if challenge.is_none() && !application.confidential {
        return Err(Refusal::Request);
    }
    let scopes = requested_scopes(request.scope.as_deref(), application).ok_or(Refusal::Scope)?;
    Ok((scopes, challenge))
}

/// The scopes that an application asks for, none of them beyond its own; the whole API where it does not say.
pub fn requested_scopes(words: Option<&str>, application: &Application) -> Option<Scopes> {
    let words = words.filter(|words| !words.trim().is_empty()).unwrap_or("api");
    let (scopes, own) = (Scopes::read(words)?, application.scopes());
    scopes.0.iter().all(|scope| own.has(*scope)).then_some(scopes)
}

/// A code that is to be written down.
pub struct NewCode<'a> {
    pub(super) secret: &'a Secret,
    pub(super) consent: &'a Consent,
    pub(super) user: UserId,
    pub(super) scopes: Scopes,
    pub(super) expires_at: Ts,
}

/// Notes that somebody agreed, and makes the code that says so. Scopes that the person's account has no use for are
/// left out.
pub fn agree(
    tx: &mut Tx<'_>,
    consent: &Consent,
    user: &User,
) -> Result<Result<Secret, AuthorizationRefusal>> {
    // It may be gone, or made anew, since it was read.
    let known = tx.find_application(consent.application.id)?;
    let Some(application) = known.filter(|known| known.may_lead_to(&consent.redirect_uri)) else {
        return Ok(Err(AuthorizationRefusal::Client));
    };
    if user.admin && !application.trusted && is_dangerous(&consent.scopes) {
        let is_forbidden = tx.settings()?.disable_admin_oauth_scopes();
        if is_forbidden {
            return Ok(Err(AuthorizationRefusal::Denial));
        }
    }
    let for_administrators = [Scope::Sudo, Scope::AdminMode];
    let is_of_use = |scope: &Scope| user.admin || !for_administrators.contains(scope);
    let scopes = Scopes(consent.scopes.0.iter().copied().filter(is_of_use).collect());
    if scopes.0.is_empty() {
        return Ok(Err(AuthorizationRefusal::Scope));
    }
    let now = tx.now;
    tx.delete_codes_before(now)?;
    let secret = Secret::generate_hex();
    let expires_at = now.plus(CODE_LIFETIME);
    tx.insert_code(&NewCode { secret: &secret, consent, user: user.id, scopes, expires_at })?;
    let change = ApplicationChange::Authorization(user.into());
    record(tx, Some(user.id), &application, change);
    Ok(Ok(secret))
}

/// Whether an administrator's account could be taken over with such a token.
fn is_dangerous(scopes: &Scopes) -> bool {
    let dangerous = [
        Scope::Api,
        Scope::ReadApi,
        Scope::ReadRepository,
        Scope::WriteRepository,
        Scope::ReadRegistry,
        Scope::WriteRegistry,
        Scope::Sudo,
    ];
    dangerous.into_iter().any(|scope| scopes.has(scope))
}
