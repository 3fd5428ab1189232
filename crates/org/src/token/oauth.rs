//! Pairs of an access token and the token that renews it.

use std::net::IpAddr;

use db::{Tx, each_backend, error, schema::access_tokens};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{ApplicationId, TokenId, UserId},
};
use time::Duration;

use super::{AccessToken, Kind, Scopes, Secret, store::TokenStore};
use crate::{
    settings::store::SettingsStore,
    user::{State, User, account::AccountStore, actions, store::UserStore},
};

/// How long an access token works.
pub const LIFETIME: Duration = Duration::hours(2);

/// A new pair, in clear for the one answer that shows it.
#[derive(Clone, Debug)]
pub struct Pair {
    pub token: AccessToken,
    pub access: Secret,
    pub refresh: Secret,
    /// What the application wants to find again in what says who the person is.
    pub nonce: Option<String>,
}

/// Whether a password alone is enough for this account, now.
pub fn may_sign_in(tx: &mut Tx<'_>, user: &User) -> Result<bool> {
    let in_use = user.state == State::Active && user.is_person();
    if !in_use || tx.account(user.id)?.two_factor {
        return Ok(false);
    }
    let setting = tx.settings()?.email_confirmation_setting;
    Ok(user.confirmed_at.is_some() || !setting.keeps_out(user.created_at, tx.now))
}

/// Whoever has this user name or address.
pub fn find_account(tx: &mut Tx<'_>, login: &str) -> Result<Option<User>> {
    match tx.find_user_named(login)? {
        Some(user) => Ok(Some(user)),
        None if login.contains('@') => tx.find_user_with_email(login),
        None => Ok(None),
    }
}

/// A pair for somebody who proved a password.
pub fn sign_in(
    tx: &mut Tx<'_>,
    user: &User,
    scopes: &Scopes,
    (application, address): (Option<ApplicationId>, Option<IpAddr>),
) -> Result<Pair> {
    actions::record_sign_in(tx, user, address)?;
    issue_first(tx, user.id, scopes, application)
}

/// The outcome of refreshing a token.
#[derive(Clone, Debug)]
pub enum Renewal {
    Pair(Box<Pair>),
    /// It renews nothing, or nothing for this application.
    Invalid,
    /// More is asked for than there was.
    ScopeGrowth,
    /// It was renewed before, by somebody who used what they got: either of the two may be a thief, so that nothing is left
    /// of the chain.
    Replay(Box<User>),
}

/// The next pair, for the application that the old one was given to, with no more scopes. The old pair works until the new
/// one is used; renewed again before that, it ends the one that nobody used.
pub fn refresh(
    tx: &mut Tx<'_>,
    secret: &Secret,
    application: Option<ApplicationId>,
    scopes: Option<&Scopes>,
) -> Result<Renewal> {
    let found = tx.find_refreshable(secret)?;
    let Some((old, user)) = found.filter(|(old, _)| old.application_id == application) else {
        return Ok(Renewal::Invalid);
    };
    if old.revoked {
        tx.revoke_family(&old)?;
        return Ok(Renewal::Replay(Box::new(user)));
    }
    if user.state != State::Active {
        return Ok(Renewal::Invalid);
    }
    let own = old.scopes();
    let scopes = scopes.unwrap_or(&own);
    if scopes.0.iter().any(|scope| !own.has(*scope)) {
        return Ok(Renewal::ScopeGrowth);
    }
    if old.last_used_at.is_none() {
        first_use(tx, &old)?;
    }
    tx.revoke_newer(&old)?;
    let pair = issue(tx, (user.id, application), scopes, Some(old.family()))?;
    Ok(Renewal::Pair(Box::new(pair)))
}

/// Ends the pairs that came before, now that this one is in use.
pub fn first_use(tx: &mut Tx<'_>, token: &AccessToken) -> Result<()> {
    tx.revoke_older(token)?;
    tx.touch_token(token.id)
}

/// The pair that one of its halves belongs to, with its user.
pub fn find_half(tx: &mut Tx<'_>, secret: &Secret) -> Result<Option<(AccessToken, User)>> {
    match tx.find_token(secret)?.filter(|(token, _)| token.kind == Kind::OAuth) {
        Some(found) => Ok(Some(found)),
        None => tx.find_refreshable(secret),
    }
}

/// The first pair of a chain.
pub fn issue_first(
    tx: &mut Tx<'_>,
    user: UserId,
    scopes: &Scopes,
    application: Option<ApplicationId>,
) -> Result<Pair> {
    issue(tx, (user, application), scopes, None)
}

fn issue(
    tx: &mut Tx<'_>,
    (user, application): (UserId, Option<ApplicationId>),
    scopes: &Scopes,
    family: Option<TokenId>,
) -> Result<Pair> {
    let (access, refresh) = (Secret::generate_hex(), Secret::generate_hex());
    let row = (
        access_tokens::user_id.eq(user),
        access_tokens::kind.eq(Kind::OAuth),
        access_tokens::name.eq("OAuth"),
        access_tokens::digest.eq(access.digest()),
        access_tokens::refresh_digest.eq(Some(refresh.digest())),
        access_tokens::scopes.eq(scopes.to_string()),
        access_tokens::created_at.eq(tx.now),
        access_tokens::expires_at.eq(Some(tx.now.plus(LIFETIME))),
        access_tokens::revoked.eq(false),
        access_tokens::family_id.eq(family),
        access_tokens::application_id.eq(application),
    );
    let insert = diesel::insert_into(access_tokens::table).values(row);
    let token = each_backend!(tx, |conn| insert
        .returning(AccessToken::as_returning())
        .get_result(conn)
        .map_err(error("Token")))?;
    Ok(Pair { token, access, refresh, nonce: None })
}
