//! Addresses beside the API: those that records call `web_url`, and those that installers, package managers and `go get`
//! fetch.

pub mod address;
pub mod archive;
mod go_get;
pub mod html;
mod page_subject;
pub mod pages;
pub mod raw;
mod release_downloads;

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    dev::Payload,
    http::{Method, StatusCode, header},
};

use crate::{
    app::App,
    route::{Description, MatchedRoute, RouteMatch, RouteRow, Router},
};
use address::{Address, RowPath};

pub(crate) const TABLES: &[&[RouteRow]] =
    &[archive::ROUTES, pages::ROUTES, raw::ROUTES, release_downloads::ROUTES];
pub(crate) const DESCRIPTIONS: &[&[Description]] = &[
    archive::DESCRIPTIONS,
    pages::DESCRIPTIONS,
    raw::DESCRIPTIONS,
    release_downloads::DESCRIPTIONS,
];

/// Answers a request that no row of the API answers; nothing where the address is none of these.
pub async fn answer(app: &App, req: &HttpRequest, router: &Router) -> Option<HttpResponse> {
    if !matches!(*req.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let address = Address::find(req.uri().path())?;
    if let Some(answer) = go_get::answer(app, req).await {
        return Some(answer);
    }
    let mut last = None;
    for path in &address.rows {
        let RouteMatch::Row(row) = router.find("GET", path) else { continue };
        {
            let mut extensions = req.extensions_mut();
            extensions.insert(RowPath(path.clone()));
            extensions.insert(MatchedRoute(row));
        }
        let answer = (row.serve)(app.clone(), req.clone(), Payload::None, MatchedRoute(row)).await;
        let is_absent = answer.status() == StatusCode::NOT_FOUND;
        last = Some(answer);
        if !is_absent {
            break;
        }
    }
    last.map(|answer| if address.is_page { for_people(answer) } else { answer })
}

/// A refusal that people can read. What is hidden reads as what is not there.
fn for_people(answer: HttpResponse) -> HttpResponse {
    let status = answer.status();
    let text = match status {
        StatusCode::NOT_FOUND => "There is nothing here, or you may not see it.",
        StatusCode::UNAUTHORIZED => "The access token is not right, or can no longer be used.",
        StatusCode::FORBIDDEN => "You may not see this.",
        StatusCode::TOO_MANY_REQUESTS => "That was too often. Please try again later.",
        _ if status.is_server_error() => "Something failed in the server. Please try again.",
        _ => return answer,
    };
    let mut page =
        html::page(status, status.canonical_reason().unwrap_or("Error"), &format!("<p>{text}</p>"));
    if let Some(after) = answer.headers().get(header::RETRY_AFTER) {
        page.headers_mut().insert(header::RETRY_AFTER, after.clone());
    }
    page
}
