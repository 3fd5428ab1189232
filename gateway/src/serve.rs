//! The one way in: finds the row, runs it, and adds what every answer carries.

use std::{
    sync::{Arc, LazyLock},
    time::Instant,
};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse, ResponseError,
    body::{BodySize, BoxBody, MessageBody},
    dev::Payload,
    http::{Method, StatusCode, header},
    web::{Data, ServiceConfig},
};

use tracing::Instrument;
use twox_hash::XxHash3_64;

use crate::{
    alert_intake,
    app::App,
    error::ApiError,
    extract::ensure_known,
    git_http::{self, registry_token},
    metrics, rest,
    route::{MatchedRoute, RouteMatch, Router},
    web::{self, address::RowPath},
    write_refusal,
};

/// Puts everything that serves requests into an actix application.
pub fn configure(app: App) -> impl FnOnce(&mut ServiceConfig) {
    static ROUTER: LazyLock<Arc<Router>> = LazyLock::new(|| Arc::new(Router::new(&rest::tables())));
    move |config| {
        config.app_data(Data::new(app));
        config.app_data(Data::from(Arc::clone(&ROUTER)));
        config.default_service(actix_web::web::to(handle));
    }
}

async fn handle(
    req: HttpRequest,
    payload: actix_web::web::Payload,
    app: Data<App>,
    router: Data<Router>,
) -> HttpResponse {
    let began = Instant::now();
    let id = request_id();
    let app = app.get_ref().clone();
    let response = if is_preflight(&req) {
        HttpResponse::NoContent().finish()
    } else {
        let span = tracing::error_span!("request", id);
        route(&req, payload.into_inner(), app.clone(), &router).instrument(span).await
    };
    finish(&req, &app, response, &id, began)
}

async fn route(req: &HttpRequest, payload: Payload, app: App, router: &Router) -> HttpResponse {
    let path = req.uri().path();
    let matched = matched(req, router);
    if let Some(refusal) = write_refusal::refusal(&app, req, &matched).await {
        return refusal;
    }
    if let Some(wanted) = git_http::GitRequest::find(path) {
        return git_http::answer(app, req, payload, wanted).await;
    }
    if path.len() + req.query_string().len() > LONGEST_URL {
        return ApiError::LongUrl.error_response();
    }
    if registry_token::is_asked(req) {
        return registry_token::answer(&app, req).await;
    }
    if let Some(to) = alert_intake::Address::find(req.method(), path) {
        return alert_intake::answer(&app, req, payload, to).await;
    }
    match matched {
        RouteMatch::Row(row) => {
            req.extensions_mut().insert(MatchedRoute(row));
            match rest::geo::admit_node(&app, req, row).await {
                Ok(()) => (row.serve)(app, req.clone(), payload, MatchedRoute(row)).await,
                Err(refusal) => refusal.error_response(),
            }
        }
        RouteMatch::Only(allowed, row) if req.method() == Method::OPTIONS => {
            match ensure_known(&app, req, &MatchedRoute(row)).await {
                Ok(()) => HttpResponse::NoContent()
                    .insert_header((header::ALLOW, allowed.join(", ")))
                    .finish(),
                Err(refusal) => refusal.error_response(),
            }
        }
        RouteMatch::Only(allowed, _) => ApiError::Method(allowed).error_response(),
        RouteMatch::Nothing if path == "/api/v3" || path.starts_with("/api/v3/") => {
            HttpResponse::Gone()
                .content_type("application/json")
                .body(r#"{"error":"API V3 is no longer supported. Use API V4 instead."}"#)
        }
        RouteMatch::Nothing => match web::answer(&app, req, router).await {
            Some(answer) => answer,
            None => ApiError::NoRoute.error_response(),
        },
    }
}

/// Where a request leads. Empty parts of a path say nothing, where no row has such a path: a known client asks for
/// `/features//name`.
fn matched(req: &HttpRequest, router: &Router) -> RouteMatch {
    let (method, path) = (req.method().as_str(), req.uri().path());
    let found = router.find(method, path);
    if !matches!(found, RouteMatch::Nothing) || !path.starts_with("/api/") || !path.contains("//") {
        return found;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = format!("/{}", parts.join("/"));
    let found = router.find(method, &path);
    if matches!(found, RouteMatch::Row(_)) {
        req.extensions_mut().insert(RowPath(path));
    }
    found
}

/// Room for the longest path of a file, every byte of it encoded.
const LONGEST_URL: usize = 32 << 10;

fn is_preflight(req: &HttpRequest) -> bool {
    req.method() == Method::OPTIONS
        && req.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn request_id() -> String {
    hex::encode(rand::random::<[u8; 16]>())
}

const EXPOSED: &str = "Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, X-Gitlab-Blob-Id, \
                       X-Gitlab-Commit-Id, X-Gitlab-Content-Sha256, X-Gitlab-Encoding, X-Gitlab-File-Name, \
                       X-Gitlab-File-Path, X-Gitlab-Last-Commit-Id, X-Gitlab-Ref, X-Gitlab-Size, X-Request-Id, ETag, \
                       Accept-Ranges, Content-Range";

fn finish(
    req: &HttpRequest,
    app: &App,
    response: HttpResponse,
    id: &str,
    began: Instant,
) -> HttpResponse {
    let mut response = tagged(req, app, response);
    let has_body = !matches!(response.body().size(), BodySize::None | BodySize::Sized(0));
    let caching = if has_body { "max-age=0, private, must-revalidate" } else { "no-cache" };
    let seconds = began.elapsed();
    let headers = response.headers_mut();
    let mut set = |name: header::HeaderName, value: &str| {
        if let Ok(value) = header::HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    set(header::HeaderName::from_static("x-request-id"), id);
    set(header::HeaderName::from_static("x-runtime"), &format!("{:.6}", seconds.as_secs_f64()));
    for_other_origins(req, app, &mut set);
    for (name, value) in [
        (header::VARY, "Origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static(caching));
    }
    let route = req.extensions().get::<MatchedRoute>().map_or("none", |matched| matched.0.pattern);
    metrics::answered(req.method().as_str(), route, response.status().as_u16(), seconds);
    tracing::debug!(
        request_id = id,
        method = %req.method(),
        route,
        address = app.proxies.client(req).map(tracing::field::display),
        status = response.status().as_u16(),
        milliseconds = seconds.as_secs_f64() * 1_000.0,
        "answered"
    );
    response
}

/// Where pages of other origins are told of what they may not keep: no cookie and no credential goes there with them.
const OPEN_TO_ALL: [&str; 5] = [
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/token/info",
    "/oauth/userinfo",
    "/.well-known/openid-configuration",
];

/// Lets pages of other origins call the API.
fn for_other_origins(req: &HttpRequest, app: &App, set: &mut impl FnMut(header::HeaderName, &str)) {
    let origin = req.headers().get(header::ORIGIN).and_then(|value| value.to_str().ok());
    let path = req.uri().path();
    let is_api = path.starts_with("/api/");
    let Some(origin) = origin.filter(|_| is_api || OPEN_TO_ALL.contains(&path)) else { return };
    if is_api && origin == app.urls.origin() {
        set(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        set(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
    } else {
        set(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    }
    set(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    if is_preflight(req) {
        set(header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        let wanted = req.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS);
        let wanted = wanted.and_then(|value| value.to_str().ok());
        set(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.unwrap_or("*"));
        set(header::ACCESS_CONTROL_MAX_AGE, "7200");
    }
}

/// Gives a successful read a weak tag, and answers 304 to who already has it.
fn tagged(req: &HttpRequest, app: &App, response: HttpResponse) -> HttpResponse {
    let reads = matches!(*req.method(), Method::GET | Method::HEAD);
    let small = matches!(response.body().size(), BodySize::Sized(size) if size < 4 << 20);
    if !reads || !small || response.status() != StatusCode::OK {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let bytes = match body.try_into_bytes() {
        Ok(bytes) => bytes,
        Err(body) => return head.set_body(body),
    };
    // Equal bytes give equal tags, in this process and the next, until the installation renews what was rendered.
    let version = app.settings().local_markdown_version().unwrap_or_default();
    let seed = u64::try_from(version).unwrap_or_default();
    let tag = format!("W/\"{:016x}\"", XxHash3_64::oneshot_with_seed(seed, &bytes));
    let known = req.headers().get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag)) {
        let mut response = HttpResponse::NotModified();
        return response.insert_header((header::ETAG, tag)).finish();
    }
    if let Ok(tag) = header::HeaderValue::from_str(&tag) {
        head.headers_mut().insert(header::ETAG, tag);
    }
    head.set_body(BoxBody::new(bytes))
}
