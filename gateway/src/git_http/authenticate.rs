//! Authentication of git clients: a token, or a user name with a password or token.

use std::{net::IpAddr, sync::Arc};

use actix_web::{HttpRequest, http::header};
use base64::{Engine, prelude::BASE64_STANDARD};
use ci::job::JobToken;
use forge::{job_token::job_with_user, sign_in::Candidate, slots::SlotOwner};
use kernel::{
    Actor,
    error::{Kind, Message},
    ids::ProjectId,
};
use org::{
    token::{AccessToken, Kind as TokenKind, Scope, Scopes, Secret, store::TokenStore},
    user::{User, account::AccountStore, store::UserStore},
};

use super::Refusal;
use crate::{
    app::App,
    error::ApiError,
    extract::{ensure_may_sign_in, touch_user},
    rate_limit::Area,
};

const LONGEST_SECRET: usize = 8192;
const EXPIRED: &str = "This access token has expired. Please make a new one.";
const REVOKED: &str = "This access token was revoked. Please make a new one.";
const NO_HTTP: &str = "Git access over HTTP is not allowed";
const NO_PASSWORDS: &str =
    "Passwords are not accepted here. Please use an access token as the password.";
const MANY_ADDRESSES: &str = "403 Forbidden";
const TWO_FACTOR: &str =
    "This account wants more than a password. Please use an access token as the password.";

/// Somebody, or nobody, with what they may be used for.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) user: Option<Arc<User>>,
    /// `None` after a password, which opens everything.
    pub(super) scopes: Option<Scopes>,
    /// Of a job, the project that it is of.
    pub(super) job_of: Option<ProjectId>,
    address: Option<IpAddr>,
}

impl Visitor {
    pub(super) fn actor(&self) -> Actor {
        self.user.as_deref().map_or(Actor::ANONYMOUS, User::actor).at(self.address)
    }
}

enum GitCredential {
    Nothing,
    Token(Secret),
    Pair { name: String, secret: String },
}

fn shown(req: &HttpRequest) -> Result<GitCredential, Refusal> {
    let header = |name: &str| req.headers().get(name).and_then(|value| value.to_str().ok());
    let Some(value) = header(header::AUTHORIZATION.as_str()) else {
        return Ok(header("PRIVATE-TOKEN")
            .map_or(GitCredential::Nothing, |token| GitCredential::Token(Secret::given(token))));
    };
    if value.len() > LONGEST_SECRET {
        return Err(Refusal::WrongCredential);
    }
    let (kind, rest) = value.split_once(' ').ok_or(Refusal::WrongCredential)?;
    if kind.eq_ignore_ascii_case("bearer") {
        return Ok(GitCredential::Token(Secret::given(rest.trim())));
    }
    if !kind.eq_ignore_ascii_case("basic") {
        return Err(Refusal::WrongCredential);
    }
    let decoded = BASE64_STANDARD.decode(rest.trim()).or(Err(Refusal::WrongCredential))?;
    let text = String::from_utf8(decoded).or(Err(Refusal::WrongCredential))?;
    let (name, secret) = text.split_once(':').ok_or(Refusal::WrongCredential)?;
    Ok(match (name, secret) {
        ("", "") => GitCredential::Nothing,
        // Some clients give the token as the name and no password.
        (token, "" | "x-oauth-basic") => GitCredential::Token(Secret::given(token)),
        (name, secret) => GitCredential::Pair { name: name.to_owned(), secret: secret.to_owned() },
    })
}

/// Finds out who sent a request. Who has a good credential counts as a person, everybody else by address.
pub(super) async fn enter(app: &App, req: &HttpRequest) -> Result<Visitor, Refusal> {
    let (address, area) = (app.proxies.client(req), area(req));
    let visitor = match identify(app, req).await {
        Ok(Credential::Good(visitor)) => visitor,
        Ok(Credential::Password { name, secret }) => {
            with_password(app, address, &name, secret).await?
        }
        Ok(Credential::None) => {
            count_address(app, address)?;
            Visitor { user: None, scopes: None, job_of: None, address }
        }
        Err(refusal) => {
            count_address(app, address)?;
            return Err(refusal);
        }
    };
    // Jobs fetch by HTTP, whatever people use.
    if visitor.job_of.is_none() {
        ensure_http(app)?;
    }
    if let Some(user) = &visitor.user {
        app.rates.check_user(user.id, area).map_err(|refusal| too_fast(app, refusal))?;
        ensure_in_use(app, user).await?;
        // The use of tokens is noted with them.
        if visitor.scopes.is_none() {
            touch_user(app, user, app.db.clock().now());
        }
    }
    // Runners have addresses of their own.
    if let Some(user) = visitor.user.as_deref().filter(|_| visitor.job_of.is_none()) {
        ensure_few_addresses(app, user, address)?;
    }
    Ok(Visitor { address, ..visitor })
}

fn area(req: &HttpRequest) -> Area {
    if req.path().contains(".git/info/lfs/") { Area::Lfs } else { Area::Web }
}

fn ensure_few_addresses(app: &App, user: &User, address: Option<IpAddr>) -> Result<(), Refusal> {
    let admitted = app.rates.check_user_address(user.id, address, app.db.clock().now());
    admitted.map_err(|_full| Refusal::Account(MANY_ADDRESSES.to_owned()))
}

/// Where only SSH is wanted, nobody comes in here.
fn ensure_http(app: &App) -> Result<(), Refusal> {
    match app.settings().enabled_git_access_protocol() {
        Some("ssh") => Err(Refusal::Account(NO_HTTP.to_owned())),
        _ => Ok(()),
    }
}

fn too_fast(app: &App, refusal: crate::rate_limit::Refusal) -> Refusal {
    Refusal::TooFast(refusal, app.db.clock().now())
}

fn count_address(app: &App, address: Option<IpAddr>) -> Result<(), Refusal> {
    app.rates.check_address(address, Area::Web).map_err(|refusal| too_fast(app, refusal))
}

/// A presented credential, before any hashing.
enum Credential {
    None,
    Good(Visitor),
    /// No token: perhaps a password.
    Password {
        name: String,
        secret: String,
    },
}

async fn identify(app: &App, req: &HttpRequest) -> Result<Credential, Refusal> {
    Ok(match shown(req)? {
        GitCredential::Nothing => Credential::None,
        GitCredential::Token(secret) => {
            let found = with_token(app, secret).await?;
            Credential::Good(found.ok_or(Refusal::WrongCredential)?)
        }
        GitCredential::Pair { secret, .. } if secret.starts_with(JobToken::PREFIX) => {
            let found = with_job_token(app, &secret).await?;
            Credential::Good(found.ok_or(Refusal::WrongCredential)?)
        }
        GitCredential::Pair { name, secret } => {
            match with_token(app, Secret::given(&secret)).await? {
                Some(visitor) => Credential::Good(visitor),
                None => Credential::Password { name, secret },
            }
        }
    })
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
    if token.kind == TokenKind::Personal && app.settings().disable_personal_access_tokens() {
        return Ok(None);
    }
    crate::extract::touch(app, &token, now);
    let scopes = AccessToken::scopes(&token);
    Ok(Some(Visitor { user: Some(user.into()), scopes: Some(scopes), job_of: None, address: None }))
}

/// A job acts for whoever it runs for, as long as it runs.
async fn with_job_token(app: &App, secret: &str) -> Result<Option<Visitor>, Refusal> {
    let token = JobToken::given(secret);
    let found = app.db.peek(move |tx| job_with_user(tx, &token)).await?;
    let Some((job, user)) = found else { return Ok(None) };
    let scopes = Some(Scopes(vec![Scope::ReadRepository]));
    let job_of = Some(job.project_id);
    Ok(Some(Visitor { user: Some(user.into()), scopes, job_of, address: None }))
}

/// Whoever guesses is counted before anything is hashed for them; a clone's further requests are no guesses.
async fn with_password(
    app: &App,
    address: Option<IpAddr>,
    name: &str,
    clear: String,
) -> Result<Visitor, Refusal> {
    if !app.settings().password_authentication_enabled_for_git() {
        return Err(Refusal::Spent(NO_PASSWORDS));
    }
    let candidate = Candidate::named(app, name).await?;
    if !candidate.is_remembered(app, &clear) {
        count_address(app, address)?;
    }
    let user = candidate.prove(app, clear, SlotOwner::Address(address)).await?;
    let user = user.ok_or(Refusal::WrongCredential)?;
    let id = user.id;
    if app.db.peek(move |tx| tx.account(id)).await?.two_factor {
        return Err(Refusal::Spent(TWO_FACTOR));
    }
    Ok(Visitor { user: Some(user.into()), scopes: None, job_of: None, address })
}

async fn ensure_in_use(app: &App, user: &User) -> Result<(), Refusal> {
    match ensure_may_sign_in(app, user).await {
        Ok(()) => Ok(()),
        Err(ApiError::Kernel(refused)) if refused.kind == Kind::Forbidden => {
            Err(match refused.into_message() {
                Message::Reason(why) => Refusal::Account(why),
                _ => Refusal::WrongCredential,
            })
        }
        Err(ApiError::Kernel(failure)) if failure.is_ours() => Err(Refusal::Failed(failure)),
        Err(_) => Err(Refusal::WrongCredential),
    }
}

/// As [`ensure_in_use`], of somebody whose account may have been closed since they came in.
pub(super) async fn ensure_still_in_use(app: &App, visitor: &Visitor) -> Result<(), Refusal> {
    let Some(id) = visitor.user.as_ref().map(|user| user.id) else { return Ok(()) };
    let user = app.db.peek(move |tx| tx.user(id)).await?;
    ensure_in_use(app, &user).await
}
