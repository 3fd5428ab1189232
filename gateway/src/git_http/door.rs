//! Who is at the door: git clients show a token, or a user name with a password or token.

use std::{net::IpAddr, sync::Arc};

use actix_web::{HttpRequest, http::header};
use base64::{Engine, prelude::BASE64_STANDARD};
use kernel::{Actor, Error};
use org::{
    token::{AccessToken, Scopes, Secret, store::TokenStore},
    user::{User, store::UserStore},
};

use super::Refusal;
use crate::{app::App, error::ApiError, extract::ensure_may_sign_in};

const LONGEST_SECRET: usize = 8192;
const EXPIRED: &str = "This access token has expired. Please make a new one.";
const REVOKED: &str = "This access token was revoked. Please make a new one.";

/// Somebody, or nobody, with what they may be used for.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) user: Option<Arc<User>>,
    /// `None` after a password, which opens everything.
    pub(super) scopes: Option<Scopes>,
    address: Option<IpAddr>,
}

impl Visitor {
    pub(super) fn actor(&self) -> Actor {
        self.user.as_deref().map_or(Actor::ANONYMOUS, User::actor).at(self.address)
    }
}

enum Shown {
    Nothing,
    Token(Secret),
    Pair { name: String, secret: String },
}

fn shown(req: &HttpRequest) -> Result<Shown, Refusal> {
    let header = |name: &str| req.headers().get(name).and_then(|value| value.to_str().ok());
    let Some(value) = header(header::AUTHORIZATION.as_str()) else {
        return Ok(header("PRIVATE-TOKEN")
            .map_or(Shown::Nothing, |token| Shown::Token(Secret::given(token))));
    };
    if value.len() > LONGEST_SECRET {
        return Err(Refusal::WrongCredential);
    }
    let (kind, rest) = value.split_once(' ').ok_or(Refusal::WrongCredential)?;
    if kind.eq_ignore_ascii_case("bearer") {
        return Ok(Shown::Token(Secret::given(rest.trim())));
    }
    if !kind.eq_ignore_ascii_case("basic") {
        return Err(Refusal::WrongCredential);
    }
    let decoded = BASE64_STANDARD.decode(rest.trim()).or(Err(Refusal::WrongCredential))?;
    let text = String::from_utf8(decoded).or(Err(Refusal::WrongCredential))?;
    let (name, secret) = text.split_once(':').ok_or(Refusal::WrongCredential)?;
    Ok(match (name, secret) {
        ("", "") => Shown::Nothing,
        // Some clients give the token as the name and no password.
        (token, "" | "x-oauth-basic") => Shown::Token(Secret::given(token)),
        (name, secret) => Shown::Pair { name: name.to_owned(), secret: secret.to_owned() },
    })
}

/// Finds out who sent a request.
pub(super) async fn enter(app: &App, req: &HttpRequest) -> Result<Visitor, Refusal> {
    let visitor = match shown(req)? {
        Shown::Nothing => Visitor { user: None, scopes: None, address: None },
        Shown::Token(secret) => with_token(app, secret).await?.ok_or(Refusal::WrongCredential)?,
        Shown::Pair { name, secret } => match with_token(app, Secret::given(&secret)).await? {
            Some(visitor) => visitor,
            None => with_password(app, name, secret).await?,
        },
    };
    let address = app.proxies.client(req);
    let visitor = Visitor { address, ..visitor };
    let rate = match &visitor.user {
        Some(user) => app.rates.check_user(user.id),
        None => app.rates.check_address(address),
    };
    rate.map_err(|refusal| Refusal::TooFast(refusal, app.db.clock().now()))?;
    if let Some(user) = &visitor.user {
        ensure_in_use(app, user).await?;
    }
    Ok(visitor)
}

async fn with_token(app: &App, secret: Secret) -> Result<Option<Visitor>, Refusal> {
    let found = app.db.peek(move |tx| Ok((tx.find_token(&secret)?, tx.now))).await?;
    let (Some((token, user)), now) = found else { return Ok(None) };
    if token.is_expired(now) {
        return Err(Refusal::Spent(EXPIRED));
    }
    if token.revoked {
        return Err(Refusal::Spent(REVOKED));
    }
    crate::extract::touch(app, &token, now);
    let scopes = AccessToken::scopes(&token);
    Ok(Some(Visitor { user: Some(user.into()), scopes: Some(scopes), address: None }))
}

async fn with_password(app: &App, name: String, secret: String) -> Result<Visitor, Refusal> {
    let user = app.db.peek(move |tx| tx.find_user_named(&name)).await?;
    let stored = user.as_ref().and_then(|user| user.password_hash.clone());
    let same = app.transport.passwords.verify(secret, stored).await?;
    match user {
        Some(user) if same => Ok(Visitor { user: Some(user.into()), scopes: None, address: None }),
        _ => Err(Refusal::WrongCredential),
    }
}

async fn ensure_in_use(app: &App, user: &User) -> Result<(), Refusal> {
    match ensure_may_sign_in(app, user).await {
        Ok(()) => Ok(()),
        Err(ApiError::Kernel(Error::Refused(why))) => Err(Refusal::Account(why)),
        Err(_) => Err(Refusal::WrongCredential),
    }
}
