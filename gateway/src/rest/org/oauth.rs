//! OAuth: tokens for a password, a code or a token, and what a token is good for.

use std::net::IpAddr;

use actix_web::http::StatusCode;
use db::Tx;
use entities::org::oauth::{EmptyObject, Introspection, PairEntity, TokenInfo};
use forge::{openid, sign_in::Candidate, slots::SlotOwner};
use kernel::{access::Anyone, ids::ApplicationId};
use org::{
    application::{
        Application, authorization, client_token,
        exchange::{self, CodeProof, IntrospectionCaller},
    },
    token::{
        Kind, Scopes, Secret,
        oauth::{self, Renewal},
    },
    user::{self, User},
};

use super::oauth_client::{ClientProof, client, invalid_client};
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::Call,
    params,
    present::{Json, WithHeaders},
    routes,
};

routes! { "OAuth" at "//oauth", any scope;
    POST "/token"      => token      : Anyone,
    POST "/revoke"     => revoke     : Anyone,
    POST "/introspect" => introspect : Anyone,
    GET  "/token/info" => info       : Anyone,
}

params! {
    struct AskForToken {
        /// `authorization_code`, `refresh_token`, `password` or `client_credentials`.
        grant_type: Option<String>,
        /// User name or email address, for a password.
        username: Option<String>,
        password: Option<String>,
        refresh_token: Option<String>,
        /// What the application was sent; it is good for ten minutes, once.
        code: Option<String>,
        /// For a code: the URL that it was sent to.
        redirect_uri: Option<String>,
        /// For a code with a challenge (RFC 7636): what meets it, 43 to 128 characters.
        code_verifier: Option<String>,
        /// Scopes, with spaces between: none beyond those of the application, or of the token that is renewed. Default:
        /// `api`, or the scopes of the token that is renewed, or for `client_credentials` those of the application.
        scope: Option<String>,
        /// The application, as it calls itself; Basic authentication does as well.
        client_id: Option<String>,
        client_secret: Option<String>,
    }
}
params! {
    struct RevokeToken {
        token: Option<String>,
        /// The application that the token was given to.
        client_id: Option<String>,
        client_secret: Option<String>,
    }
}
params! {
    struct IntrospectToken {
        token: Option<String>,
        /// The application that the token was given to.
        client_id: Option<String>,
        client_secret: Option<String>,
    }
}

const INVALID_GRANT: &str = "The provided authorization grant is invalid, expired, revoked, does not match the \
                             redirection URI used in the authorization request, or was issued to another client.";
const UNSUPPORTED: &str =
    "The authorization grant type is not supported by the authorization server.";
pub(super) const INCOMPLETE: &str = "The request is missing a required parameter, includes an unsupported parameter \
                                     value, or is otherwise malformed.";
pub(super) const INVALID_SCOPE: &str = "The requested scope is invalid, unknown, or malformed.";
const INVALID_TOKEN: &str = "The access token is invalid";

fn refused(code: &'static str, text: &'static str) -> ApiError {
    ApiError::OAuth { status: StatusCode::BAD_REQUEST, code, text }
}

fn invalid_grant() -> ApiError {
    refused("invalid_grant", INVALID_GRANT)
}

fn incomplete() -> ApiError {
    refused("invalid_request", INCOMPLETE)
}

fn invalid_scope() -> ApiError {
    refused("invalid_scope", INVALID_SCOPE)
}

/// What nobody on the way may keep.
fn unkept<T>(body: T) -> WithHeaders<Json<T>> {
    let headers = vec![("cache-control", "no-store".to_owned()), ("pragma", "no-cache".to_owned())];
    WithHeaders { body: Json(body), headers }
}

async fn token(
    app: App,
    call: Call<Anyone, AskForToken>,
) -> ApiResult<WithHeaders<Json<PairEntity>>> {
    let given = &call.params;
    let shown = ClientProof::shown(&call, given.client_id.as_ref(), given.client_secret.as_ref());
    let client = client(&app, shown).await?;
    let (address, given) = (call.address(), call.params);
    let pair = match given.grant_type.as_deref() {
        Some("password") => by_password(&app, given, client, address).await?,
        Some("authorization_code") => by_code(&app, given, client).await?,
        Some("refresh_token") => by_refresh(&app, given, client).await?,
        Some("client_credentials") => return for_client(&app, given, client).await,
        Some(_) => return Err(refused("unsupported_grant_type", UNSUPPORTED)),
        None => return Err(incomplete()),
    };
    let id_token = openid::id_token(&app, &pair).await?;
    Ok(unkept(PairEntity::new(&pair, id_token)))
}

/// The scopes that are asked for, within those of the application; without any it is the whole API.
fn scopes(words: Option<&str>, client: Option<&Application>) -> Result<Scopes, ApiError> {
    let found = match client {
        Some(client) => authorization::requested_scopes(words, client),
        None => Scopes::read(words.filter(|words| !words.trim().is_empty()).unwrap_or("api")),
    };
    found.ok_or_else(invalid_scope)
}

/// A token for the application itself. One that keeps no secret could be anybody.
async fn for_client(
    app: &App,
    given: AskForToken,
    client: Option<Application>,
) -> ApiResult<WithHeaders<Json<PairEntity>>> {
    let client = client.filter(|client| client.confidential).ok_or_else(invalid_client)?;
    let scopes = match given.scope.filter(|words| !words.trim().is_empty()) {
        Some(words) => scopes(Some(&words), Some(&client))?,
        None => client.scopes(),
    };
    let made = app.db.write(move |tx| client_token::issue(tx, &client, &scopes)).await?;
    Ok(unkept(PairEntity::of_client(&made.0, &made.1)))
}

/// Whoever has the name and the password, where passwords are accepted; `None` where they do not fit.
pub(super) async fn proven(
    app: &App,
    login: &str,
    clear: String,
    address: Option<IpAddr>,
) -> ApiResult<Option<User>> {
    if !app.settings().password_authentication_enabled_for_web() {
        return Ok(None);
    }
    let candidate = Candidate::named(app, login).await?;
    let account = candidate.account().cloned();
    let proven = candidate.prove(app, clear, SlotOwner::Address(address)).await?;
    if let (None, Some(account)) = (&proven, account) {
        record_wrong_password(app, account);
    }
    if let Some(user) = &proven {
        app.rates.check_user_address(user.id, address, app.db.clock().now())?;
    }
    Ok(proven)
}

/// Writes down a wrong password. Nobody waits for it: the longer answer would tell a stranger that there is such an account.
fn record_wrong_password(app: &App, account: User) {
    // The rows of a secondary are copies.
    if !app.node_identity.is_primary() {
        return;
    }
    let database = app.db.clone();
    let written = async move {
        let record = move |tx: &mut Tx<'_>| {
            user::actions::record_wrong_password(tx, &account);
            Ok(())
        };
        if let Err(cause) = database.write(record).await {
            tracing::error!(error = %cause, "a wrong password is in no audit event");
        }
    };
    drop(db::spawn(written));
}

async fn by_password(
    app: &App,
    given: AskForToken,
    client: Option<Application>,
    address: Option<IpAddr>,
) -> ApiResult<oauth::Pair> {
    let (Some(login), Some(clear)) = (given.username, given.password) else {
        return Err(incomplete());
    };
    let scopes = scopes(given.scope.as_deref(), client.as_ref())?;
    let user = proven(app, &login, clear, address).await?.ok_or_else(invalid_grant)?;
    let application = client.map(|client| client.id);
    let pair = app.db.write(move |tx| {
        if oauth::may_sign_in(tx, &user)? {
            return oauth::sign_in(tx, &user, &scopes, (application, address)).map(Some);
        }
        if user.state.is_blocked() {
            user::actions::record_refused_sign_in(tx, &user)?;
        }
        Ok(None)
    });
    pair.await?.ok_or_else(invalid_grant)
}

async fn by_code(
    app: &App,
    given: AskForToken,
    client: Option<Application>,
) -> ApiResult<oauth::Pair> {
    let client = client.ok_or_else(invalid_client)?;
    let (Some(code), Some(redirect_uri)) = (given.code, given.redirect_uri) else {
        return Err(incomplete());
    };
    let code = Secret::given(&code);
    let verifier = given.code_verifier.filter(|verifier| !verifier.is_empty());
    let proof = CodeProof { code, redirect_uri, verifier };
    let pair = app.db.write(move |tx| exchange::change_code(tx, &client, &proof)).await?;
    pair.ok_or_else(invalid_grant)
}

async fn by_refresh(
    app: &App,
    given: AskForToken,
    client: Option<Application>,
) -> ApiResult<oauth::Pair> {
    let secret = Secret::given(&given.refresh_token.ok_or_else(incomplete)?);
    let words = given.scope.filter(|words| !words.trim().is_empty());
    let scopes = match words {
        Some(words) => Some(Scopes::read(&words).ok_or_else(invalid_scope)?),
        None => None,
    };
    let renewal = app
        .db
        .write(move |tx| exchange::refresh_tokens(tx, client.as_ref(), &secret, scopes.as_ref()))
        .await?;
    match renewal {
        Renewal::Pair(pair) => Ok(*pair),
        Renewal::ScopeGrowth => Err(invalid_scope()),
        Renewal::Invalid | Renewal::Replay(_) => Err(invalid_grant()),
    }
}

/// Says the same whatever it did, so that nobody learns which tokens there are.
async fn revoke(app: App, call: Call<Anyone, RevokeToken>) -> ApiResult<Json<EmptyObject>> {
    let given = &call.params;
    let shown = ClientProof::shown(&call, given.client_id.as_ref(), given.client_secret.as_ref());
    let client = match client(&app, shown).await {
        Ok(client) => client,
        Err(ApiError::OAuth { .. }) => return Ok(Json(EmptyObject {})),
        Err(failure) => return Err(failure),
    };
    if let Some(token) = call.params.token {
        let secret = Secret::given(&token);
        app.db.write(move |tx| exchange::revoke(tx, client.as_ref(), &secret)).await?;
    }
    Ok(Json(EmptyObject {}))
}

async fn introspect(
    app: App,
    call: Call<Anyone, IntrospectToken>,
) -> ApiResult<WithHeaders<Json<Introspection>>> {
    let given = &call.params;
    let shown = ClientProof::shown(&call, given.client_id.as_ref(), given.client_secret.as_ref());
    let own = call.caller.application.as_ref();
    let inquirer = match (client(&app, shown).await?, own) {
        (Some(client), _) if client.confidential => IntrospectionCaller::Client(client.id),
        // The name of an application without a secret is known to everybody.
        (Some(_), _) => return Err(invalid_client()),
        (None, Some(own)) => IntrospectionCaller::Client(own.application_id),
        (None, None) => {
            let own = call.caller.token.filter(|token| token.kind == Kind::OAuth);
            IntrospectionCaller::Bearer(own.ok_or_else(invalid_client)?.as_ref().clone())
        }
    };
    let secret = Secret::given(&call.params.token.ok_or_else(incomplete)?);
    let found = app.db.peek(move |tx| exchange::introspect(tx, &inquirer, &secret)).await?;
    Ok(unkept(Introspection::from(found)))
}

async fn info(app: App, call: Call<Anyone>) -> ApiResult<Json<TokenInfo>> {
    let now = app.db.clock().now();
    if let Some(own) = call.caller.application {
        let uid = uid_of(&app, Some(own.application_id)).await?;
        return Ok(Json(TokenInfo::of_client(&own, uid, now)));
    }
    let token = call.caller.token.filter(|token| token.kind == Kind::OAuth);
    let token = token.ok_or(ApiError::Token(INVALID_TOKEN))?;
    let uid = uid_of(&app, token.application_id).await?;
    Ok(Json(TokenInfo::new(&token, uid, now)))
}

/// What an application calls itself by.
async fn uid_of(app: &App, application: Option<ApplicationId>) -> ApiResult<Option<String>> {
    Ok(app.db.peek(move |tx| exchange::uid_of(tx, application)).await?)
}
