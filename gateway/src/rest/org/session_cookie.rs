//! The cookie that a browser keeps while somebody is signed in on the pages. The REST API takes no cookie;
//! GraphQL takes it with the CSRF value of the session.

use std::net::IpAddr;

use org::{
    token::Secret,
    user::{User, session},
};

use crate::{app::App, error::ApiResult};

const NAME: &str = "_forgeway_session";
/// The longest that a browser is told to keep it.
const LONGEST_MINUTES: i64 = 366 * 24 * 60;

/// What the browser shows of its session.
pub(crate) fn shown(header: Option<&str>) -> Option<Secret> {
    let cookies = header.into_iter().flat_map(|header| header.split(';'));
    let value =
        cookies.filter_map(|pair| pair.trim().split_once('=')).find(|(name, _)| *name == NAME);
    value.map(|(_, value)| Secret::given(value))
}

/// Who is signed in there, if anybody, and comes from this address.
pub(crate) async fn person(
    app: &App,
    header: Option<&str>,
    address: Option<IpAddr>,
) -> ApiResult<Option<User>> {
    let Some(secret) = shown(header) else { return Ok(None) };
    let found = app.db.write(move |tx| session::resume(tx, &secret)).await?;
    if let Some(user) = &found {
        app.rates.check_user_address(user.id, address, app.db.clock().now())?;
    }
    Ok(found)
}

/// What pages of this site send along with the session, and no page of another site can know.
pub(crate) fn csrf_value(session: &Secret) -> String {
    Secret::given(&format!("csrf:{}", session.reveal())).digest()
}

/// What the browser is to keep: for as long as the settings say, or until it is closed. Requests from other sites come
/// without it unless they only lead here.
pub(super) fn kept(app: &App, secret: &Secret) -> String {
    let minutes = app.settings().session_expire_delay().unwrap_or_default().min(LONGEST_MINUTES);
    let age = if minutes > 0 { format!("; Max-Age={}", minutes * 60) } else { String::new() };
    cookie(app, secret.reveal(), &age)
}

/// What makes the browser forget it.
pub(super) fn forgotten(app: &App) -> String {
    cookie(app, "", "; Max-Age=0")
}

fn cookie(app: &App, value: &str, age: &str) -> String {
    let path = Some(app.urls.folder()).filter(|folder| !folder.is_empty()).unwrap_or("/");
    let secure = if app.urls.base().starts_with("https://") { "; Secure" } else { "" };
    format!("{NAME}={value}; Path={path}; HttpOnly; SameSite=Lax{age}{secure}")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn the_session_is_found_among_other_cookies() {
        let found = shown(Some("theme=dark; _forgeway_session=abc; x=1"));
        assert_eq!(found.map(|secret| secret.reveal().to_owned()).as_deref(), Some("abc"));
        assert!(shown(Some("other_forgeway_session=abc")).is_none() && shown(None).is_none());
    }
}
