//! What the API says of itself: the OpenAPI document, and a page to try it that needs nothing from elsewhere.

use std::sync::LazyLock;

use actix_web::{HttpResponse, web::Bytes};
use kernel::access::Anyone;

use crate::{
    app::App, error::ApiResult, extract::Call, openapi, present::Custom, routes, web::html::escaped,
};

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

async fn explorer(app: App, _: Call<Anyone>) -> ApiResult<Custom> {
    let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
                  base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let settings = app.settings();
    let page = match settings.sign_in_text() {
        None => EXPLORER.to_owned(),
        Some(text) => EXPLORER.replacen("<body>", &format!("<body><p>{}</p>", escaped(text)), 1),
    };
    Ok(Custom(
        HttpResponse::Ok()
            .content_type("text/html; charset=utf-8")
            .insert_header(("Content-Security-Policy", policy))
            .body(page),
    ))
}

/// Where the installation sends people who are not signed in, or else the page to try the API.
async fn home(app: App, call: Call<Anyone>) -> ApiResult<Custom> {
    let settings = app.settings();
    let elsewhere = settings.home_page_url().filter(|_| call.caller.user.is_none());
    let place = elsewhere.map_or_else(|| app.urls.at("-/api"), str::to_owned);
    Ok(Custom(HttpResponse::Found().insert_header(("Location", place)).finish()))
}
