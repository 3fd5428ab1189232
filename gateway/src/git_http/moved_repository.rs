//! Repositories that are asked for by another address than theirs: git follows, and tells its user where it went.

use actix_web::{HttpRequest, HttpResponse, http::header};

use super::{authorize::AuthorizedRepository, kind::Kind, wiki};
use crate::app::App;

/// Whether this may be the path of a project or a wiki. Nothing else is repeated in an answer.
pub(super) fn is_address(path: &str) -> bool {
    let is_name = |part: &str| {
        let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        !part.is_empty() && !part.starts_with(['-', '.']) && part.bytes().all(usual)
    };
    (path.contains('/') || path.ends_with(wiki::SUFFIX)) && path.split('/').all(is_name)
}

/// The address that a place has now, where it was found by an earlier one.
pub(super) fn present(place: &AuthorizedRepository, address: &str) -> Option<String> {
    let suffix = if matches!(place.kind, Kind::Wiki(_)) { wiki::SUFFIX } else { "" };
    let present = format!("{}{suffix}", place.full_path);
    (!present.eq_ignore_ascii_case(address)).then_some(present)
}

/// Git prints `warning: redirecting to …`, and goes on there with everything that follows. The host stays the one that
/// the client knows.
pub(super) fn redirect(app: &App, req: &HttpRequest, address: &str) -> HttpResponse {
    let folder = app.urls.folder();
    let location = format!("{folder}/{address}.git/info/refs?{}", req.query_string());
    HttpResponse::MovedPermanently()
        .insert_header((header::LOCATION, location))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .content_type("text/plain; charset=utf-8")
        .body("The repository has another address.\n")
}
