//! Requests that write are refused while the installation is maintained, and always on a secondary: one question, asked of
//! every request before anything else, with all exceptions in one table.

use actix_web::{
    HttpRequest, HttpResponse, ResponseError as _,
    http::{Method, header},
};
use forge::geo::{WriteRefusal, primary_url};

use crate::{alert_intake, app::App, error::ApiError, git_http::GitRequest, route::RouteMatch};

/// Writing requests that are allowed while the server is read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exemption {
    /// It changes nothing, whatever its method.
    Always,
    /// It ends the maintenance, or lets somebody in who does.
    InMaintenance,
}

/// What is answered all the same: methods and patterns of routes.
const EXEMPT: &[(&str, &str, Exemption)] = &[
    ("POST", "/markdown", Exemption::Always),
    // The schema refuses what changes something by itself.
    ("POST", "//api/graphql", Exemption::Always),
    // A paused secondary reports as well, and its report is no work of anybody's.
    ("POST", "/geo/status", Exemption::Always),
    ("PUT", "/application/settings", Exemption::InMaintenance),
    ("POST", "//oauth/authorize", Exemption::InMaintenance),
    ("POST", "//oauth/token", Exemption::InMaintenance),
    ("POST", "//oauth/revoke", Exemption::InMaintenance),
    ("POST", "//oauth/introspect", Exemption::InMaintenance),
    ("POST", "//oauth/userinfo", Exemption::Always),
    ("POST", "//users/sign_in", Exemption::InMaintenance),
    // On a secondary only the browser forgets its session: the row is a copy.
    ("POST", "//users/sign_out", Exemption::Always),
];

/// The refusal of a request that writes; `None` where it may go on. Git has its own words for it. `matched` must be what the
/// request is answered by: a path that is read in two ways could be let through as one route and served as another.
pub(crate) async fn refusal(
    app: &App,
    req: &HttpRequest,
    matched: &RouteMatch,
) -> Option<HttpResponse> {
    if req.method().is_safe() && GitRequest::find(req.uri().path()).is_none() {
        return None;
    }
    let reason = app.write_refusal()?;
    let (method, path) = (req.method(), req.uri().path());
    if let Some(wanted) = GitRequest::find(path) {
        if !wanted.writes(method, req.query_string()) {
            return None;
        }
        let elsewhere = match reason {
            WriteRefusal::Secondary => redirect_to_primary(app, req).await,
            WriteRefusal::Maintenance(_) => None,
        };
        return Some(elsewhere.unwrap_or_else(|| wanted.refuse_write(&reason)));
    }
    match is_exempt(method, path, matched, &reason) {
        true => None,
        false => Some(ApiError::from(reason).error_response()),
    }
}

/// Sends a push to the primary, where that is known: clients of git follow, and show their credential there.
async fn redirect_to_primary(app: &App, req: &HttpRequest) -> Option<HttpResponse> {
    let url = primary_url(app).await.ok()??;
    // Both may be reached by one address; then it would go in a circle.
    if url.trim_end_matches('/') == app.urls.base().trim_end_matches('/') {
        return None;
    }
    let path = req.uri().path_and_query()?.as_str();
    let place = format!("{url}{}", path.trim_start_matches('/'));
    Some(HttpResponse::TemporaryRedirect().insert_header((header::LOCATION, place)).finish())
}

fn is_exempt(method: &Method, path: &str, matched: &RouteMatch, reason: &WriteRefusal) -> bool {
    if alert_intake::Address::find(method, path).is_some() {
        return false;
    }
    match matched {
        RouteMatch::Row(row) => {
            let is_this = |(verb, pattern, _): &&(&str, &str, Exemption)| {
                (*verb, *pattern) == (row.method, row.pattern)
            };
            match EXEMPT.iter().find(is_this) {
                Some((_, _, Exemption::Always)) => true,
                Some((_, _, Exemption::InMaintenance)) => {
                    matches!(reason, WriteRefusal::Maintenance(_))
                }
                None => row.reads(),
            }
        }
        // What does not exist is told so, and a sign-in page is no route of the table.
        RouteMatch::Only(..) => true,
        RouteMatch::Nothing => true,
    }
}

impl From<WriteRefusal> for ApiError {
    fn from(reason: WriteRefusal) -> Self {
        match reason {
            WriteRefusal::Maintenance(text) => Self::Maintenance(text),
            WriteRefusal::Secondary => Self::Kernel(reason.into()),
        }
    }
}
