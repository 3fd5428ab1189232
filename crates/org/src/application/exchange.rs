//! Exchange of authorization codes and refresh tokens, and token introspection.

use db::Tx;
use kernel::{Result, Ts, ids::ApplicationId};

use super::{
    Application, ApplicationChange, ApplicationStore as _, AuthorizationCode, actions::record,
    client_token,
};
use crate::{
    token::{
        AccessToken, Kind, Scopes, Secret,
        oauth::{self, Pair, Renewal},
        store::TokenStore as _,
    },
    user::{State, User, store::UserStore as _},
};

/// A code with what has to be shown beside it.
#[derive(Clone, Debug)]
pub struct CodeProof {
    pub code: Secret,
    pub redirect_uri: String,
    pub verifier: Option<String>,
}

/// The first tokens; `None` where the code is not good for them. A code that comes again ends what came of it.
pub fn change_code(
    tx: &mut Tx<'_>,
    client: &Application,
    proof: &CodeProof,
) -> Result<Option<Pair>> {
    let found = tx.find_code(&proof.code)?.filter(|code| code.application_id == client.id);
    let Some(code) = found else { return Ok(None) };
    let user = tx.user(code.user_id)?;
    if let Some(family) = code.family_id {
        if let Some(first) = tx.find_token_by_id(family)? {
            tx.revoke_family(&first)?;
            record(tx, Some(user.id), client, ApplicationChange::Replay((&user).into()));
        }
        return Ok(None);
    }
    if code.expires_at <= tx.now || user.state != State::Active || !is_proven(&code, proof) {
        return Ok(None);
    }
    let pair = oauth::issue_first(tx, user.id, &code.scopes(), Some(client.id))?;
    let pair = Pair { nonce: code.nonce, ..pair };
    Ok(tx.use_code(code.id, pair.token.id)?.then_some(pair))
}

/// Where a challenge was given it must be met; where none was, nothing may be made of one.
fn is_proven(code: &AuthorizationCode, proof: &CodeProof) -> bool {
    let is_met = match (code.challenge(), &proof.verifier) {
        (Some(challenge), Some(verifier)) => challenge.is_met_by(verifier),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    is_met && code.redirect_uri == proof.redirect_uri
}

/// The next tokens of a chain. What is shown a second time ends the chain.
pub fn refresh_tokens(
    tx: &mut Tx<'_>,
    client: Option<&Application>,
    secret: &Secret,
    scopes: Option<&Scopes>,
) -> Result<Renewal> {
    let renewal = oauth::refresh(tx, secret, client.map(|client| client.id), scopes)?;
    if let (Renewal::Replay(user), Some(client)) = (&renewal, client) {
        record(tx, Some(user.id), client, ApplicationChange::Replay(user.as_ref().into()));
    }
    Ok(renewal)
}

/// Ends a chain of tokens, by either half of its last pair, or a token that an application has for itself. One that was given
/// to an application that keeps a secret is that application's to end.
pub fn revoke(tx: &mut Tx<'_>, client: Option<&Application>, secret: &Secret) -> Result<()> {
    let Some((token, _)) = oauth::find_half(tx, secret)? else {
        return revoke_own(tx, client, secret);
    };
    let holder = token.application_id.map(|id| tx.find_application(id)).transpose()?.flatten();
    let is_theirs = client.map(|client| client.id) == token.application_id;
    match holder {
        Some(holder) if holder.confidential && !is_theirs => Ok(()),
        _ => tx.revoke_family(&token),
    }
}

/// Ends a token that an application has for itself.
fn revoke_own(tx: &mut Tx<'_>, client: Option<&Application>, secret: &Secret) -> Result<()> {
    let own = client.map(|client| client.id);
    match client_token::find(tx, secret)?.filter(|token| own == Some(token.application_id)) {
        Some(token) => client_token::revoke(tx, &token),
        None => Ok(()),
    }
}

/// The caller of token introspection.
#[derive(Clone, Debug)]
pub enum IntrospectionCaller {
    Client(ApplicationId),
    /// Whoever has this token.
    Bearer(AccessToken),
}

/// What is known of a token that works.
#[derive(Clone, Debug)]
pub struct ActiveToken {
    pub scopes: Scopes,
    /// What its application calls itself by.
    pub uid: Option<String>,
    /// Nobody where it is the application's own.
    pub user: Option<User>,
    pub created_at: Ts,
    pub expires_at: Option<Ts>,
}

/// A token that works, for the application that it was given to, and for whoever has another token of the same kind.
pub fn introspect(
    tx: &mut Tx<'_>,
    inquirer: &IntrospectionCaller,
    secret: &Secret,
) -> Result<Option<ActiveToken>> {
    let Some((token, user)) = tx.find_token(secret)? else {
        return introspect_own(tx, inquirer, secret);
    };
    let is_theirs = match inquirer {
        IntrospectionCaller::Client(id) => token.application_id == Some(*id),
        IntrospectionCaller::Bearer(own) => {
            own.application_id == token.application_id && own.user_id == token.user_id
        }
    };
    let works = token.kind == Kind::OAuth && token.is_active(tx.now) && user.state == State::Active;
    if !is_theirs || !works {
        return Ok(None);
    }
    Ok(Some(ActiveToken {
        scopes: token.scopes(),
        uid: uid_of(tx, token.application_id)?,
        user: Some(user),
        created_at: token.created_at,
        expires_at: token.expires_at,
    }))
}

/// A token that an application has for itself, and that works; for the application alone.
fn introspect_own(
    tx: &mut Tx<'_>,
    inquirer: &IntrospectionCaller,
    secret: &Secret,
) -> Result<Option<ActiveToken>> {
    let IntrospectionCaller::Client(own) = inquirer else { return Ok(None) };
    let now = tx.now;
    let works = client_token::find(tx, secret)?
        .filter(|token| token.application_id == *own && !token.revoked && !token.is_expired(now));
    let Some(token) = works else { return Ok(None) };
    Ok(Some(ActiveToken {
        scopes: token.scopes(),
        uid: uid_of(tx, Some(token.application_id))?,
        user: None,
        created_at: token.created_at,
        expires_at: Some(token.expires_at),
    }))
}

/// What the application of a token calls itself by.
pub fn uid_of(tx: &mut Tx<'_>, application: Option<ApplicationId>) -> Result<Option<String>> {
    let found = application.map(|id| tx.find_application(id)).transpose()?.flatten();
    Ok(found.map(|application| application.uid))
}
