//! What the API says of itself: the OpenAPI document, and a page to try it that needs nothing from elsewhere.

use std::sync::LazyLock;

use actix_web::{HttpResponse, web::Bytes};
use kernel::access::Anyone;

use crate::{app::App, error::ApiResult, extract::Call, openapi, present::Custom, routes};

routes! { "Documents" at "", any scope;
    GET "/openapi.json" => document : Anyone,
    GET "//-/api"       => explorer : Anyone,
    GET "//"            => home     : Anyone,
}

const EXPLORER: &str = include_str!("../../../assets/explorer.html");

async fn document(_: App, _: Call<Anyone>) -> ApiResult<Custom> {
    static TEXT: LazyLock<Bytes> =
        LazyLock::new(|| openapi::document(&crate::rest::tables()).to_string().into());
    Ok(Custom(HttpResponse::Ok().content_type("application/json").body(TEXT.clone())))
}

async fn explorer(_: App, _: Call<Anyone>) -> ApiResult<Custom> {
    let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
                  base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    Ok(Custom(
        HttpResponse::Ok()
            .content_type("text/html; charset=utf-8")
            .insert_header(("Content-Security-Policy", policy))
            .body(EXPLORER),
    ))
}

async fn home(app: App, _: Call<Anyone>) -> ApiResult<Custom> {
    let explorer = app.urls.at("-/api");
    Ok(Custom(HttpResponse::Found().insert_header(("Location", explorer)).finish()))
}
