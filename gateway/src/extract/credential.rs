//! The caller: finds the credential, looks it up, and refuses one that may not be used.

use std::borrow::Cow;

use actix_web::HttpRequest;
use ci::job::{Job, JobToken};
use forge::{job_token::job_with_user, mail::account_letters::CONFIRM_AGAIN};
use kernel::{Error, Ts};
use org::{
    access::entry::Entry,
    application::ClientToken,
    settings::store::SettingsStore,
    token::{AccessToken, Kind, Scope, Scopes, oauth, store::TokenStore},
    user::{State, User, store::UserStore},
};
use time::Duration;

use super::{
    Caller, Locate,
    credential_sources::{presented, shown_job_token},
    raw::{Raw, RawMap},
};
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    route::MatchedRoute,
};

const REVOKED: &str = "Token was revoked. You have to re-authorize from the user.";
const EXPIRED: &str = "Token is expired. You can either do re-authorization or token refresh.";
const INTERNAL: &str = "This action cannot be performed by internal users";
const PENDING: &str = "Your account is pending approval from your administrator and hence blocked.";
const BLOCKED: &str = "Your account has been blocked.";
const PASSWORD_EXPIRED: &str =
    "Your password expired. Please access GitLab from a web browser to update your password.";
/// `last_used_at` is written at most this often.
const TOUCH: Duration = Duration::minutes(10);
const NO_SUDO: &str = "Must be authenticated using an OAuth or Personal Access Token to use sudo";

/// What a good credential proves.
pub(super) enum Proof<P> {
    Person(Box<Authentication<P>>),
    /// An application that asks for itself, and is nobody.
    Application(ClientToken),
}

impl<P> Proof<P> {
    fn of(authentication: Authentication<P>) -> Self {
        Self::Person(Box::new(authentication))
    }

    pub(super) fn user(&self) -> Option<&User> {
        match self {
            Self::Person(found) => Some(&found.user),
            Self::Application(_) => None,
        }
    }
}

/// A credential that is good, with whoever it is of.
pub(super) struct Authentication<P> {
    user: User,
    credential: Credential<P>,
    now: Ts,
}

enum Credential<P> {
    /// With what was read of the scope on the way.
    Token(AccessToken, Option<P>),
    /// Of a job that runs.
    Job(Box<Job>),
}

/// Authenticates the request; nobody is also an answer. With the caller comes what was read of the scope on the way.
pub(super) async fn authenticate<S: Locate>(
    app: &App,
    req: &HttpRequest,
    params: &RawMap,
    route: &MatchedRoute,
    id: &str,
) -> ApiResult<(Caller, Option<S::Place>)> {
    let proof = find::<S>(app, req, params, route, id).await?;
    let Authentication { user, credential, now } = match proof {
        Some(Proof::Person(found)) => *found,
        _ if sudo_target(req, params).is_some() => return Err(Error::unauthenticated().into()),
        Some(Proof::Application(token)) => {
            ensure_scope(&token.scopes(), req, route)?;
            return Ok((Caller::of_application(token), None));
        }
        None => return Ok((Caller::anonymous(), None)),
    };
    let (token, place) = match credential {
        Credential::Token(token, place) => (token, place),
        Credential::Job(_) if sudo_target(req, params).is_some() => {
            return Err(Error::forbidden().because(NO_SUDO).into());
        }
        Credential::Job(job) => return Ok((Caller::of_job(user, *job), None)),
    };
    // A token that is not made for it gives no administrator's rights.
    let admin =
        user.admin && (!app.settings().admin_mode() || token.scopes().has(Scope::AdminMode));
    let user = User { admin, ..user };
    // The rows of a secondary are copies.
    let is_primary = app.node_identity.is_primary();
    if is_primary && token.kind == Kind::OAuth && token.last_used_at.is_none() {
        let used = token.clone();
        app.db.write(move |tx| oauth::first_use(tx, &used)).await?;
    }
    touch(app, &token, now);
    match sudo_target(req, params) {
        // How the other one stands there was not read.
        Some(target) => Ok((sudo(app, &user, token, target).await?, None)),
        None => {
            ensure_scope(&token.scopes(), req, route)?;
            Ok((Caller::with_token(user, token), place))
        }
    }
}

/// What the credential that is shown proves, where it may be used; `None` where none is shown.
pub(super) async fn find<S: Locate>(
    app: &App,
    req: &HttpRequest,
    params: &RawMap,
    route: &MatchedRoute,
    id: &str,
) -> ApiResult<Option<Proof<S::Place>>> {
    let shown = presented(req, params)?;
    if route.0.for_jobs
        && let Some(token) = shown_job_token(req, params, &shown)?
    {
        return of_job(app, token).await.map(|found| Some(Proof::of(found)));
    }
    if shown.is_empty() {
        return Ok(None);
    }
    let id = id.to_owned();
    let found = app.db.peek(move |tx| {
        let entry = shown.find::<S>(tx, &id)?;
        let client = if entry.is_none() { shown.find_client(tx)? } else { None };
        Ok((entry, client, tx.now))
    });
    let (entry, now) = match found.await? {
        (Some(entry), _, now) => (entry, now),
        (None, Some(client), now) => {
            ensure_lasting(client.is_expired(now), client.revoked)?;
            return Ok(Some(Proof::Application(client)));
        }
        (None, None, _) => return Err(Error::unauthenticated().into()),
    };
    if let Err(refusal) = ensure_usable(&entry.token, &entry.user, app, now).await {
        // Whoever renews a token that is gone may have stolen it: nothing that came from it is to be trusted.
        if entry.token.revoked && route.0.pattern.ends_with("/rotate") {
            app.db.write(move |tx| tx.revoke_family(&entry.token)).await?;
        }
        return Err(refusal);
    }
    let Entry { token, user, place } = entry;
    app.rates.check_user_address(user.id, app.proxies.client(req), now)?;
    let credential = Credential::Token(token, place);
    Ok(Some(Proof::of(Authentication { user, credential, now })))
}

/// A job that runs, with whoever it runs for.
async fn of_job<P>(app: &App, token: JobToken) -> ApiResult<Authentication<P>> {
    let found = app.db.peek(move |tx| Ok((job_with_user(tx, &token)?, tx.now))).await?;
    let (Some((job, user)), now) = found else { return Err(Error::unauthenticated().into()) };
    ensure_may_sign_in(app, &user).await?;
    Ok(Authentication { user, credential: Credential::Job(Box::new(job)), now })
}

fn ensure_lasting(is_expired: bool, is_revoked: bool) -> ApiResult<()> {
    match (is_expired, is_revoked) {
        (true, _) => Err(ApiError::Token(EXPIRED)),
        (false, true) => Err(ApiError::Token(REVOKED)),
        (false, false) => Ok(()),
    }
}

async fn ensure_usable(token: &AccessToken, user: &User, app: &App, now: Ts) -> ApiResult<()> {
    ensure_lasting(token.is_expired(now), token.revoked)?;
    if token.kind == Kind::Personal && app.settings().disable_personal_access_tokens() {
        return Err(Error::unauthenticated().into());
    }
    ensure_may_sign_in(app, user).await
}

/// Refuses people whose account is not in use, each with its sentence; the first that fits.
pub async fn ensure_may_sign_in(app: &App, user: &User) -> ApiResult<()> {
    match why_not(app, user).await? {
        Some(why) => Err(Error::forbidden().because(why).into()),
        None => Ok(()),
    }
}

async fn why_not(app: &App, user: &User) -> Result<Option<String>, Error> {
    let now = app.db.clock().now();
    let why = if user.internal {
        INTERNAL.to_owned()
    } else if user.state == State::PendingApproval {
        PENDING.to_owned()
    } else if user.state == State::Deactivated {
        format!(
            "Your account has been deactivated by your administrator. Please log back in from a web browser to \
             reactivate your account at {}",
            app.urls.base()
        )
    } else if user.confirmed_at.is_none() && must_confirm(app, user, now).await? {
        format!(
            "Your primary email address is not confirmed. Please check your inbox for the confirmation \
             instructions. In case the link is expired, you can request a new confirmation email at {}",
            app.urls.at(CONFIRM_AGAIN)
        )
    } else if user.state != State::Active {
        BLOCKED.to_owned()
    } else if user.has_expired_password(now) {
        PASSWORD_EXPIRED.to_owned()
    } else {
        return Ok(None);
    };
    Ok(Some(why))
}

/// Whether the installation lets nobody in before the address is confirmed.
async fn must_confirm(app: &App, user: &User, now: Ts) -> Result<bool, Error> {
    let setting = app.db.peek(|tx| tx.settings()).await?.email_confirmation_setting;
    Ok(setting.keeps_out(user.created_at, now))
}

/// Whether the scopes of a token reach this route with this method.
fn ensure_scope(scopes: &Scopes, req: &HttpRequest, route: &MatchedRoute) -> ApiResult<()> {
    if route.any_scope() {
        return Ok(());
    }
    let method = req.method().as_str();
    let reads = matches!(method, "GET" | "HEAD") || (route.0.method == method && route.0.reads());
    let also = route.also();
    let enough = scopes.has(Scope::Api)
        || (reads && scopes.has(Scope::ReadApi))
        || (reads && also.iter().any(|scope| scopes.has(*scope)));
    if enough {
        return Ok(());
    }
    let mut words: Vec<&str> = also.iter().map(|scope| kernel::TextEnum::as_str(*scope)).collect();
    words.extend(["api", "read_api"]);
    Err(ApiError::Scope(words.join(" ")))
}

/// Whom the caller wants to act as. What is no text names nobody, and is not the same as asking for nobody.
fn sudo_target(req: &HttpRequest, params: &RawMap) -> Option<String> {
    let param = params.get("sudo").and_then(|raw| match raw {
        Raw::Text(text) => Some(text.clone()),
        Raw::Number(number) => Some(number.to_string()),
        Raw::Null => None,
        odd => Some(format!("{odd:?}")),
    });
    let header = req.headers().get("Sudo").map(|value| String::from_utf8_lossy(value.as_bytes()));
    param.or(header.map(Cow::into_owned)).filter(|target| !target.is_empty())
}

async fn sudo(app: &App, user: &User, token: AccessToken, target: String) -> ApiResult<Caller> {
    if !user.admin {
        return Err(Error::forbidden().because("Must be admin to use sudo").into());
    }
    if !token.scopes().has(Scope::Sudo) {
        return Err(ApiError::Scope("sudo".to_owned()));
    }
    let wanted = target.clone();
    let found = app.db.peek(move |tx| match wanted.parse() {
        Ok(id) => tx.find_user(kernel::ids::UserId(id)),
        Err(_) => tx.find_user_named(&wanted),
    });
    match found.await? {
        Some(other) => {
            ensure_may_sign_in(app, &other).await?;
            Ok(Caller::with_token(other, token))
        }
        None => Err(Error::missing().named(format!("User with ID or username '{target}'")).into()),
    }
}

/// Notes that the token was used, without making the request wait for it.
pub fn touch(app: &App, token: &AccessToken, now: Ts) {
    let due = token.last_used_at.is_none_or(|last| last.plus(TOUCH) <= now);
    if due && token.kind != Kind::OAuth && app.node_identity.is_primary() {
        let (db, id) = (app.db.clone(), token.id);
        kernel::task::spawn(async move {
            if let Err(cause) = db.write(move |tx| tx.touch_token(id)).await {
                tracing::warn!(error = %cause, "the use of a token was not noted");
            }
        });
    }
}

/// Notes that somebody used their account by its password, without making the request wait for it.
pub fn touch_user(app: &App, user: &User, now: Ts) {
    let due = user.last_activity_at.is_none_or(|last| last.plus(TOUCH) <= now);
    if due && app.node_identity.is_primary() {
        let (db, id) = (app.db.clone(), user.id);
        kernel::task::spawn(async move {
            if let Err(cause) = db.write(move |tx| tx.record_activity(id)).await {
                tracing::warn!(error = %cause, "the use of an account was not noted");
            }
        });
    }
}
