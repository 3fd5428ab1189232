//! OpenID Connect: who the user of a token is, and with which keys that is signed.

use entities::org::openid::{KeySet, UserInfo};
use forge::openid;
use kernel::access::Anyone;
use org::token::{Kind, Scope};

use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::Call,
    present::Json,
    routes,
};

routes! { "OAuth" at "//oauth", any scope;
    GET  "/discovery/keys" => keys     : Anyone,
    GET  "/userinfo"       => identify : Anyone,
    POST "/userinfo"       => identify : Anyone,
}

const INVALID_TOKEN: &str = "The access token is invalid";

async fn keys(app: App, _: Call<Anyone>) -> ApiResult<Json<KeySet>> {
    Ok(Json(openid::public_keys(&app).await?.into()))
}

async fn identify(app: App, call: Call<Anyone>) -> ApiResult<Json<UserInfo>> {
    let token = call.caller.token.filter(|token| token.kind == Kind::OAuth);
    let token = token.ok_or(ApiError::Token(INVALID_TOKEN))?;
    if !token.scopes().has(Scope::OpenId) {
        return Err(ApiError::Scope(Scope::OpenId.to_string()));
    }
    let identity = openid::identity(&app, &token).await?;
    Ok(Json(UserInfo::new(&app.urls, identity)))
}

pub mod discovery {
    use entities::org::openid::ProviderMetadata;
    use kernel::access::Anyone;

    use crate::{app::App, error::ApiResult, extract::Call, present::Json, routes};

    routes! { "OAuth" at "//.well-known", any scope;
        GET "/openid-configuration" => describe : Anyone,
    }

    async fn describe(app: App, _: Call<Anyone>) -> ApiResult<Json<ProviderMetadata>> {
        Ok(Json(ProviderMetadata::new(&app.urls)))
    }
}
