//! `/-/graphql-explorer`: a page on which people try queries. It is part of the program and needs nothing from
//! elsewhere; what it asks, it asks with the token that is written on it, which it does not keep.

use actix_web::HttpResponse;
use kernel::access::Anyone;

use crate::{app::App, error::ApiResult, extract::Call, present::Custom, routes};

routes! { "GraphQL" at "//-/graphql-explorer", any scope;
    GET ""              => page   : Anyone,
    GET "/explorer.css" => styles : Anyone,
    GET "/explorer.js"  => script : Anyone,
}

/// Nothing of the page comes from elsewhere, and no script stands in it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

async fn page(_: App, _: Call<Anyone>) -> ApiResult<Custom> {
    Ok(file("text/html; charset=utf-8", include_str!("explorer/explorer.html")))
}

async fn styles(_: App, _: Call<Anyone>) -> ApiResult<Custom> {
    Ok(file("text/css; charset=utf-8", include_str!("explorer/explorer.css")))
}

async fn script(_: App, _: Call<Anyone>) -> ApiResult<Custom> {
    Ok(file("text/javascript; charset=utf-8", include_str!("explorer/explorer.js")))
}

fn file(kind: &'static str, text: &'static str) -> Custom {
    let answer = HttpResponse::Ok()
        .content_type(kind)
        .insert_header(("Content-Security-Policy", POLICY))
        .insert_header(("Referrer-Policy", "no-referrer"))
        .body(text);
    Custom(answer)
}
