//! Making, renewing and revoking tokens.

use db::{Tx, each_backend, error, schema::access_tokens};
use diesel::prelude::*;
use kernel::{
    Actor, Error, Grant, Result, Ts,
    access::{Administrate, SignedIn},
    audit::{AuditPlace, AuditRecord},
    ids::{TokenId, UserId},
};

use super::{
    AccessToken, Kind, Scope, Scopes, Secret,
    store::{TokenStore, midnight_in},
};
use crate::{faults::Faults, settings::store::SettingsStore, user::store::UserStore};

/// How long a renewed token lives when nobody says otherwise.
const RENEWED_DAYS: i64 = 7;

/// A token as it is first written down.
#[derive(Clone, Debug)]
pub struct NewToken {
    pub user_id: UserId,
    pub kind: Kind,
    pub name: String,
    pub scopes: Scopes,
    pub expires_at: Option<Ts>,
}

/// Keeps the digest of `secret`; the caller shows the clear value once.
pub fn create(tx: &mut Tx<'_>, new: &NewToken, secret: &Secret) -> Result<AccessToken> {
    insert(tx, new, secret, None)
}

fn insert(
    tx: &mut Tx<'_>,
    new: &NewToken,
    secret: &Secret,
    family: Option<TokenId>,
) -> Result<AccessToken> {
    let row = (
        access_tokens::user_id.eq(new.user_id),
        access_tokens::kind.eq(new.kind),
        access_tokens::name.eq(&new.name),
        access_tokens::digest.eq(secret.digest()),
        access_tokens::scopes.eq(new.scopes.to_string()),
        access_tokens::created_at.eq(tx.now),
        access_tokens::expires_at.eq(new.expires_at),
        access_tokens::revoked.eq(false),
        access_tokens::family_id.eq(family),
    );
    let insert = diesel::insert_into(access_tokens::table).values(row);
    let made: AccessToken = each_backend!(tx, |conn| insert
        .returning(AccessToken::as_returning())
        .get_result(conn)
        .map_err(error("Token")))?;
    let is_renewed = family.is_some();
    match made.kind {
        Kind::Personal if is_renewed => record(tx, &made, "personal_access_token_rotated", "add"),
        Kind::Personal => record(tx, &made, "personal_access_token_created", "add"),
        Kind::Impersonation => record(tx, &made, "impersonation_token_created", "add"),
        // The place that it is for tells of these, and the application of those.
        Kind::Resource | Kind::OAuth => {}
    }
    Ok(made)
}

/// Writes down what somebody did with a token.
fn record(tx: &mut Tx<'_>, token: &AccessToken, name: &'static str, verb: &'static str) {
    let place = AuditPlace::User(token.user_id);
    let what = match token.kind {
        Kind::Impersonation => "impersonation_token",
        Kind::Personal | Kind::Resource | Kind::OAuth => "access_token",
    };
    let action = match verb {
        "add" => {
            AuditRecord::addition(name, place, what).detail("scopes", token.scopes().to_string())
        }
        _ => AuditRecord::removal(name, place, what),
    };
    tx.mention(action.target("PersonalAccessToken", token.id.0, &token.name));
}

/// Makes a token with a new secret.
pub fn issue(tx: &mut Tx<'_>, new: &NewToken) -> Result<(AccessToken, Secret)> {
    let secret = Secret::generate(&tx.settings()?.personal_access_token_prefix);
    Ok((create(tx, new, &secret)?, secret))
}

/// What a token must have; OAuth's own scopes are no scopes of other tokens.
pub(crate) fn faults_of(new: &NewToken) -> Faults {
    const OAUTH_ONLY: [Scope; 3] = [Scope::OpenId, Scope::Profile, Scope::Email];
    let mut faults = Faults::default();
    if new.name.trim().is_empty() {
        faults.add("name", "can't be blank");
    }
    faults.at_most("name", Some(&new.name), 255);
    if new.scopes.0.is_empty() {
        faults.add("scopes", "can't be blank");
    }
    if new.scopes.0.iter().any(|scope| OAUTH_ONLY.contains(scope)) {
        faults.add("scopes", "can only contain available scopes");
    }
    faults
}

/// The first fault as a sentence: `Scopes can't be blank`.
pub(crate) fn sentence(faults: Faults) -> Option<String> {
    let (field, texts) = faults.into_fields().into_iter().next()?;
    let mut letters = field.chars();
    let first = letters.next()?.to_ascii_uppercase();
    Some(format!("{first}{} {}", letters.as_str(), texts.first()?))
}

/// A personal token, made by an administrator for somebody.
pub fn issue_personal(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    new: &NewToken,
) -> Result<(AccessToken, Secret)> {
    let user = tx.user(new.user_id)?;
    let mut faults = faults_of(new);
    lifetime_faults(tx, new, &mut faults)?;
    let for_administrators = [Scope::Sudo, Scope::AdminMode];
    if !user.admin && new.scopes.0.iter().any(|scope| for_administrators.contains(scope)) {
        faults.add("scopes", "can only contain available scopes");
    }
    match sentence(faults) {
        Some(why) => Err(Error::unprocessable().whole(why)),
        None => issue(tx, new),
    }
}

/// A token that somebody makes for themselves, for little.
pub fn issue_own(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    new: &NewToken,
) -> Result<(AccessToken, Secret)> {
    if grant.user()? != new.user_id {
        return Err(Error::forbidden());
    }
    let mut faults = faults_of(new);
    lifetime_faults(tx, new, &mut faults)?;
    match sentence(faults) {
        Some(why) => Err(Error::unprocessable().whole(why)),
        None => issue(tx, new),
    }
}

/// What the installation has against the end of a personal token.
fn lifetime_faults(tx: &mut Tx<'_>, new: &NewToken, faults: &mut Faults) -> Result<()> {
    let Some(days) = tx.settings()?.max_personal_access_token_lifetime() else { return Ok(()) };
    match new.expires_at {
        None => faults.add("expires at", "can't be blank"),
        Some(end) if end > midnight_in(tx.now, days) => faults.add("expires at", "is invalid"),
        Some(_) => {}
    }
    Ok(())
}

/// A token with which an administrator acts as somebody.
pub fn issue_impersonation(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    new: &NewToken,
) -> Result<(AccessToken, Secret)> {
    tx.user(new.user_id)?;
    faults_of(new).into_result()?;
    issue(tx, new)
}

/// An impersonation token of this user.
pub fn impersonation(tx: &mut Tx<'_>, user: UserId, id: TokenId) -> Result<AccessToken> {
    tx.user(user)?;
    tx.find_token_by_id(id)?
        .filter(|token| token.user_id == user && token.kind == Kind::Impersonation)
        .ok_or_else(|| Error::not_found("Impersonation Token"))
}

pub fn revoke_impersonation(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    user: UserId,
    id: TokenId,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let token = impersonation(tx, user, id)?;
    token.created_at.ensure_unchanged_since(unless_newer)?;
    tx.revoke_token(token.id)?;
    record(tx, &token, "impersonation_token_revoked", "remove");
    Ok(())
}

/// Whether a token is in the actor's hands: administrators have all but OAuth's, others their own personal ones.
fn is_in_hands_of(token: &AccessToken, actor: Actor) -> bool {
    match token.kind {
        Kind::OAuth => false,
        _ if actor.admin => true,
        Kind::Impersonation => false,
        Kind::Personal | Kind::Resource => actor.id == Some(token.user_id),
    }
}

/// A token, for whoever may see it. Only administrators learn that there is none.
pub fn find_visible(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    id: TokenId,
) -> Result<Option<AccessToken>> {
    let actor = grant.actor();
    match tx.find_token_by_id(id)?.filter(|token| is_in_hands_of(token, actor)) {
        None if !actor.admin => Err(Error::unauthenticated()),
        found => Ok(found),
    }
}

/// Revokes a token; revoking again changes nothing.
pub fn revoke(tx: &mut Tx<'_>, grant: &Grant<SignedIn>, id: TokenId) -> Result<()> {
    let token = tx.find_token_by_id(id)?.filter(|token| token.kind != Kind::OAuth);
    let token = token.ok_or_else(Error::missing)?;
    if !is_in_hands_of(&token, grant.actor()) {
        return Err(Error::bad_request().because("Not permitted to revoke"));
    }
    give_up(tx, &token)
}

/// Revokes the token that the caller has shown.
pub fn give_up(tx: &mut Tx<'_>, token: &AccessToken) -> Result<()> {
    tx.revoke_token(token.id)?;
    record(tx, token, "personal_access_token_revoked", "remove");
    Ok(())
}

/// Replaces a token by a new one; `None` where an administrator named one that is not there.
pub fn rotate(
    tx: &mut Tx<'_>,
    grant: &Grant<SignedIn>,
    id: TokenId,
    expires_at: Option<Ts>,
) -> Result<Option<(AccessToken, Secret)>> {
    let Some(token) = find_visible(tx, grant, id)? else { return Ok(None) };
    replace(tx, &token, expires_at).map(Some)
}

/// Revokes a token and makes its successor.
pub fn replace(
    tx: &mut Tx<'_>,
    token: &AccessToken,
    expires_at: Option<Ts>,
) -> Result<(AccessToken, Secret)> {
    if token.revoked {
        return Err(Error::bad_request().because("Token already revoked"));
    }
    tx.revoke_token(token.id)?;
    let new = NewToken {
        user_id: token.user_id,
        kind: token.kind,
        name: token.name.clone(),
        scopes: token.scopes(),
        expires_at: Some(expires_at.unwrap_or_else(|| midnight_in(tx.now, RENEWED_DAYS))),
    };
    let secret = Secret::generate(&tx.settings()?.personal_access_token_prefix);
    let renewed = insert(tx, &new, &secret, Some(token.family()))?;
    Ok((renewed, secret))
}
