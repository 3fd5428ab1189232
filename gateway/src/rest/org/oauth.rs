//! OAuth: tokens for a password, tokens for tokens, and what a token is good for.

use std::net::IpAddr;

use actix_web::http::StatusCode;
use forge::{sign_in::Candidate, slots::SlotOwner};
use kernel::{TextEnum, access::Anyone};
use org::{
    token::{Kind, Scope, Scopes, Secret, oauth},
    user,
};

use crate::{
    app::App,
    entities::org::oauth::{EmptyObject, PairEntity, TokenInfo},
    error::{ApiError, ApiResult},
    extract::Call,
    params,
    present::{Json, WithHeaders},
    routes,
};

routes! { "OAuth" at "//oauth", any scope;
    POST "/token"      => token  : Anyone,
    POST "/revoke"     => revoke : Anyone,
    GET  "/token/info" => info   : Anyone,
}

params! {
    struct AskForToken {
        grant_type: Option<String>,
        username: Option<String>,
        password: Option<String>,
        refresh_token: Option<String>,
        scope: Option<String>,
        client_id: Option<String>,
    }
}
params! { struct RevokeToken { token: Option<String> } }

const INVALID_GRANT: &str = "The provided authorization grant is invalid, expired, revoked, does not match the \
                             redirection URI used in the authorization request, or was issued to another client.";
const INVALID_CLIENT: &str = "Client authentication failed due to unknown client, no client authentication included, \
                              or unsupported authentication method.";
const UNSUPPORTED: &str =
    "The authorization grant type is not supported by the authorization server.";
const INCOMPLETE: &str = "The request is missing a required parameter, includes an unsupported parameter value, or is \
                          otherwise malformed.";
const INVALID_SCOPE: &str = "The requested scope is invalid, unknown, or malformed.";
const INVALID_TOKEN: &str = "The access token is invalid";

fn refused(code: &'static str, text: &'static str) -> ApiError {
    ApiError::OAuth { status: StatusCode::BAD_REQUEST, code, text }
}

type Pair = WithHeaders<Json<PairEntity>>;

async fn token(app: App, call: Call<Anyone, AskForToken>) -> ApiResult<Pair> {
    let basic = call.header("Authorization").is_some_and(|value| value.starts_with("Basic "));
    let (address, given) = (call.address(), call.params);
    if given.client_id.is_some() || basic {
        let (status, code) = (StatusCode::UNAUTHORIZED, "invalid_client");
        return Err(ApiError::OAuth { status, code, text: INVALID_CLIENT });
    }
    let pair = match given.grant_type.as_deref() {
        Some("password") => by_password(&app, given, address).await?,
        Some("refresh_token") => by_refresh(&app, given).await?,
        Some(_) => return Err(refused("unsupported_grant_type", UNSUPPORTED)),
        None => return Err(refused("invalid_request", INCOMPLETE)),
    };
    let headers = vec![("cache-control", "no-store".to_owned()), ("pragma", "no-cache".to_owned())];
    Ok(WithHeaders { body: Json(pair.into()), headers })
}

/// The scopes that are asked for; without any it is the whole API.
fn scopes(asked: Option<&str>) -> Result<Scopes, ApiError> {
    let asked = asked.filter(|words| !words.trim().is_empty()).unwrap_or("api");
    let known: Option<Vec<Scope>> = asked.split_whitespace().map(Scope::find).collect();
    known.map(Scopes).ok_or_else(|| refused("invalid_scope", INVALID_SCOPE))
}

async fn by_password(
    app: &App,
    given: AskForToken,
    address: Option<IpAddr>,
) -> ApiResult<oauth::Pair> {
    let (Some(login), Some(clear)) = (given.username, given.password) else {
        return Err(refused("invalid_request", INCOMPLETE));
    };
    let scopes = scopes(given.scope.as_deref())?;
    if !app.settings().password_authentication_enabled_for_web() {
        return Err(refused("invalid_grant", INVALID_GRANT));
    }
    let candidate = Candidate::named(app, &login).await?;
    let proven = candidate.prove(app, clear, SlotOwner::Address(address)).await?;
    let user = proven.ok_or_else(|| refused("invalid_grant", INVALID_GRANT))?;
    let pair = app.db.write(move |tx| {
        if oauth::may_sign_in(tx, &user)? {
            return oauth::sign_in(tx, &user, &scopes, address).map(Some);
        }
        if user.state.is_blocked() {
            user::actions::record_refused_sign_in(tx, &user)?;
        }
        Ok(None)
    });
    pair.await?.ok_or_else(|| refused("invalid_grant", INVALID_GRANT))
}

async fn by_refresh(app: &App, given: AskForToken) -> ApiResult<oauth::Pair> {
    let secret = given.refresh_token.ok_or_else(|| refused("invalid_request", INCOMPLETE))?;
    let secret = Secret::given(&secret);
    let pair = app.db.write(move |tx| oauth::refresh(tx, &secret)).await?;
    pair.ok_or_else(|| refused("invalid_grant", INVALID_GRANT))
}

async fn revoke(app: App, call: Call<Anyone, RevokeToken>) -> ApiResult<Json<EmptyObject>> {
    if let Some(token) = call.params.token {
        let secret = Secret::given(&token);
        app.db.write(move |tx| oauth::revoke(tx, &secret)).await?;
    }
    Ok(Json(EmptyObject {}))
}

async fn info(app: App, call: Call<Anyone>) -> ApiResult<Json<TokenInfo>> {
    let token = call.caller.token.filter(|token| token.kind == Kind::OAuth);
    let token = token.ok_or(ApiError::Token(INVALID_TOKEN))?;
    Ok(Json(TokenInfo::new(&token, app.db.clock().now())))
}
