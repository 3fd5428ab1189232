//! The token that the caller shows: whatever its scopes, it may be looked at, renewed and given up.

use entities::org::token::TokenEntity;
use kernel::{Error, Ts, access::SignedIn};
use org::token::{self, AccessToken, Kind, Scope};
use time::Date;

use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{Call, Caller},
    params,
    present::{Json, NoContent},
    routes,
};

routes! { "Token in use" at "/personal_access_tokens/self", any scope;
    GET    ""        => show   : SignedIn,
    DELETE ""        => revoke : SignedIn,
    POST   "/rotate" => rotate_own : SignedIn,
}

params! { struct RotateOwn { expires_at: Option<Date> } }

const OTHER_CREDENTIAL: &str = "This endpoint requires token type to be a personal access token";

/// The token, where the caller came with one of this kind.
fn access_token(caller: &Caller) -> Option<AccessToken> {
    let token = caller.token.as_deref().filter(|token| token.kind != Kind::OAuth);
    token.cloned()
}

async fn show(app: App, call: Call<SignedIn>) -> ApiResult<Json<TokenEntity>> {
    let token =
        access_token(&call.caller).ok_or_else(|| Error::bad_request().because(OTHER_CREDENTIAL))?;
    Ok(Json(TokenEntity::new(&token, app.db.clock().now())))
}

async fn revoke(app: App, call: Call<SignedIn>) -> ApiResult<NoContent> {
    let token =
        access_token(&call.caller).ok_or_else(|| Error::bad_request().because(OTHER_CREDENTIAL))?;
    app.db.write(move |tx| token::actions::give_up(tx, &token)).await?;
    Ok(NoContent)
}

async fn rotate_own(app: App, call: Call<SignedIn, RotateOwn>) -> ApiResult<Json<TokenEntity>> {
    let not_offered = Error::not_allowed;
    let token = access_token(&call.caller).ok_or_else(not_offered)?;
    let scopes = token.scopes();
    if !scopes.has(Scope::Api) && !scopes.has(Scope::SelfRotate) {
        return Err(ApiError::Scope("self_rotate api read_api".to_owned()));
    }
    let expires_at = call.params.expires_at.map(Ts::from_date);
    let done =
        app.db.write(move |tx| Ok((token::actions::replace(tx, &token, expires_at)?, tx.now)));
    let ((token, secret), now) = done.await?;
    Ok(Json(TokenEntity::new(&token, now).with_secret(&secret)))
}
