//! The OpenAPI document, and a page to explore it that loads nothing from elsewhere.

use std::sync::LazyLock;

use actix_web::{HttpResponse, http::StatusCode, web::Bytes};
use kernel::access::Anyone;

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::Custom,
    routes,
    web::html::{self, escaped},
};

routes! { "Documents" at "", any scope;
    GET "/openapi.json" => document : Anyone,
    GET "//-/api"       => explorer : Anyone,
    GET "//help"        => help     : Anyone,
    GET "//"            => home     : Anyone,
}

const EXPLORER: &str = include_str!("../../../assets/explorer.html");
/// As `cargo xtask dump` writes it from the routes.
const DOCUMENT: &str = include_str!("../../../../docs/openapi.json");

async fn document(_: App, _: Call<Anyone>) -> ApiResult<Custom> {
    // A line of the file is a line for people: to leave out what it begins with halves the document.
    static TEXT: LazyLock<Bytes> =
        LazyLock::new(|| DOCUMENT.lines().map(str::trim_start).collect::<String>().into());
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

/// Where people find help, in the words of the settings.
async fn help(app: App, _: Call<Anyone>) -> ApiResult<Custom> {
    let settings = app.settings();
    let text = settings
        .help_page_text()
        .map_or_else(String::new, |text| format!("<p>{}</p>", escaped(text)));
    let own = app.urls.at("-/api");
    let documentation = settings.help_page_documentation_base_url().unwrap_or(&own);
    let links = [
        (settings.help_page_support_url(), "Get help"),
        (Some(documentation), "Read the documentation"),
    ];
    let links: String = links.into_iter().filter_map(|(place, name)| link(place?, name)).collect();
    Ok(Custom(html::page(StatusCode::OK, "Help", &format!("{text}{links}"))))
}

/// A link for people; nothing where the place is none that a browser may go to.
fn link(place: &str, name: &str) -> Option<String> {
    let is_open = ["http://", "https://", "mailto:"].iter().any(|start| place.starts_with(start));
    is_open.then(|| format!("<p><a href=\"{}\">{name}</a></p>", escaped(place)))
}

/// Where the installation sends people who are not signed in, or else the page to try the API.
async fn home(app: App, call: Call<Anyone>) -> ApiResult<Custom> {
    let settings = app.settings();
    let elsewhere = settings.home_page_url().filter(|_| call.caller.user.is_none());
    let elsewhere = elsewhere.filter(|place| !is_same_page(place, app.urls.base()));
    let place = elsewhere.map_or_else(|| app.urls.at("-/api"), str::to_owned);
    Ok(Custom(HttpResponse::Found().insert_header(("Location", place)).finish()))
}

/// Whether an address is the own one, which would lead to itself for ever.
fn is_same_page(address: &str, own: &str) -> bool {
    let page = |address: &str| {
        let lower = address.trim().to_lowercase();
        let place = lower.split(['?', '#']).next().unwrap_or_default();
        let (port, place) = match place.strip_prefix("https://") {
            Some(rest) => (":443", rest),
            None => (":80", place.strip_prefix("http://").unwrap_or(place)),
        };
        let (host, folder) = place.split_once('/').unwrap_or((place, ""));
        let host = host.strip_suffix(port).unwrap_or(host);
        format!("{host}/{}", folder.trim_matches('/'))
    };
    page(address) == page(own)
}

#[cfg(test)]
mod tests {
    use super::is_same_page;

    #[test]
    fn the_own_address_is_known_in_every_form() {
        let own = "https://forge.example";
        for same in [
            "https://forge.example",
            "https://FORGE.example/",
            "https://forge.example:443/?a=b",
            "http://forge.example:80/#top",
        ] {
            assert!(is_same_page(same, own), "{same}");
        }
        for other in [
            "https://forge.example/-/api",
            "https://forge.example.com",
            "https://forge.example:8443",
        ] {
            assert!(!is_same_page(other, own), "{other}");
        }
    }
}
