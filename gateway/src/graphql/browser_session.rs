//! The caller of a GraphQL request: by token, or by a browser session with its CSRF value.

use actix_web::{HttpRequest, http::header::COOKIE};
use org::{token::Secret, user::User};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Caller, RawMap, ensure_open_across, identify},
    rest::org::session_cookie,
    route::MatchedRoute,
};

/// The header in which pages send the CSRF value of their session.
const CSRF_HEADER: &str = "X-CSRF-Token";

/// The caller by their token, or else by their session; nobody is also an answer.
///
/// # Errors
/// For a token that is not good, and while a service is asked who may enter projects. A session or a CSRF value that is not good leaves the caller anonymous.
pub(super) async fn caller_of(
    app: &App,
    req: &HttpRequest,
    given: &RawMap,
    route: &MatchedRoute,
) -> ApiResult<Caller> {
    let mut caller = identify(app, req, given, route).await?;
    if caller.user.is_none()
        && let Some(user) = session_user(app, req).await?
    {
        caller.user = Some(user.into());
    }
    ensure_open_across(app, caller.actor())?;
    Ok(caller)
}

/// The person of the request's session, where the CSRF value is the session's.
async fn session_user(app: &App, req: &HttpRequest) -> ApiResult<Option<User>> {
    let Some(value) = header(req, CSRF_HEADER) else { return Ok(None) };
    let cookie = header(req, COOKIE.as_str());
    let is_right = session_cookie::shown(cookie).is_some_and(|session| is_csrf(&session, value));
    if !is_right {
        return Ok(None);
    }
    let user = session_cookie::person(app, cookie, app.proxies.client(req)).await?;
    // As a token without the scope of administrators, a session gives no administrator's rights in that mode.
    let may_administer = !app.settings().admin_mode();
    Ok(user.map(|user| User { admin: user.admin && may_administer, ..user }))
}

/// Digests are compared, so that the time that it takes tells nothing of the value.
fn is_csrf(session: &Secret, value: &str) -> bool {
    let expected = session_cookie::csrf_value(session);
    Secret::given(value).digest() == Secret::given(&expected).digest()
}

fn header<'r>(req: &'r HttpRequest, name: &str) -> Option<&'r str> {
    req.headers().get(name).and_then(|value| value.to_str().ok())
}
