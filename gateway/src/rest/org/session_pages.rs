//! The pages on which people sign in and out.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use kernel::access::Anyone;
use org::{
    token::oauth as tokens,
    user::{self, session},
};

use super::{oauth::proven, own_forms, session_cookie};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::Custom,
    routes,
    web::html::{self, escaped},
};

routes! { "Session pages" at "//users", any scope;
    GET  "/sign_in"  => ask      : Anyone,
    POST "/sign_in"  => sign_in  : Anyone,
    GET  "/sign_out" => ask_out  : Anyone,
    POST "/sign_out" => sign_out : Anyone,
}

params! {
    struct SignIn {
        /// User name or email address.
        username: Option<String>,
        password: Option<String>,
    }
}

const TITLE: &str = "Sign in";
const OUT_TITLE: &str = "Sign out";
const WRONG: &str =
    "Invalid login or password, or a password alone is not enough for this account.";
const OFTEN: &str = "There were too many attempts to sign in. Please try again later.";

fn form(app: &App, status: StatusCode, wrong: &str) -> HttpResponse {
    let settings = app.settings();
    let note = settings
        .sign_in_text()
        .map_or_else(String::new, |text| format!("<p>{}</p>", escaped(text)));
    let wrong = match wrong {
        "" => String::new(),
        text => format!("<p role=\"alert\">{text}</p>"),
    };
    let register = match settings.signup_enabled() {
        true => format!("<p><a href=\"{}\">Make an account</a></p>", app.urls.at("users/sign_up")),
        false => String::new(),
    };
    let body = format!(
        "{wrong}{note}<form method=\"post\" action=\"{}\"><label for=\"username\">User name or email</label><input \
         id=\"username\" name=\"username\" autocomplete=\"username\" required><label for=\"password\">Password\
         </label><input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"current-password\" \
         required><button>Sign in</button></form>{register}",
        app.urls.at("users/sign_in")
    );
    html::page(status, TITLE, &body)
}

/// Sends the browser on, with what it is to keep of its session.
fn leading_to(address: String, cookie: String) -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, address))
        .insert_header((header::SET_COOKIE, cookie))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .finish()
}

async fn ask(app: App, call: Call<Anyone>) -> ApiResult<Custom> {
    let known = session_cookie::person(&app, call.header("cookie"), call.address()).await?;
    Ok(Custom(match known {
        None => form(&app, StatusCode::OK, ""),
        Some(user) => {
            let body = format!("<p>You are signed in as {}.</p>", escaped(&user.username));
            html::page(StatusCode::OK, TITLE, &body)
        }
    }))
}

async fn sign_in(app: App, call: Call<Anyone, SignIn>) -> ApiResult<Custom> {
    if let Some(refused) = own_forms::refusal(&app, &call, TITLE) {
        return Ok(Custom(refused));
    }
    let address = call.address();
    let login = call.params.username.unwrap_or_default();
    let clear = call.params.password.unwrap_or_default();
    let user = match proven(&app, &login, clear, address).await {
        Ok(Some(user)) => user,
        Ok(None) => return Ok(Custom(form(&app, StatusCode::UNPROCESSABLE_ENTITY, WRONG))),
        Err(failure) => {
            let Some(retry_after) = failure.retry_after() else { return Err(failure) };
            let mut page = form(&app, StatusCode::TOO_MANY_REQUESTS, OFTEN);
            page.headers_mut().insert(header::RETRY_AFTER, retry_after.into());
            return Ok(Custom(page));
        }
    };
    let begun = app.db.write(move |tx| {
        let user = user::life::reactivate(tx, &user)?;
        if !tokens::may_sign_in(tx, &user)? {
            if user.state.is_blocked() {
                user::actions::record_refused_sign_in(tx, &user)?;
            }
            return Ok(None);
        }
        user::actions::record_sign_in(tx, &user, address)?;
        session::begin(tx, user.id).map(Some)
    });
    Ok(Custom(match begun.await? {
        Some(secret) => leading_to(app.urls.at(""), session_cookie::kept(&app, &secret)),
        None => form(&app, StatusCode::UNPROCESSABLE_ENTITY, WRONG),
    }))
}

async fn ask_out(app: App, _: Call<Anyone>) -> ApiResult<Custom> {
    let action = app.urls.at("users/sign_out");
    let body =
        format!("<form method=\"post\" action=\"{action}\"><button>Sign out</button></form>");
    Ok(Custom(html::page(StatusCode::OK, OUT_TITLE, &body)))
}

/// Ends the session, and sends the person to where the settings say. On a secondary, whose rows are copies, the browser
/// forgets the session, which ends at the primary.
async fn sign_out(app: App, call: Call<Anyone>) -> ApiResult<Custom> {
    if let Some(refused) = own_forms::refusal(&app, &call, OUT_TITLE) {
        return Ok(Custom(refused));
    }
    let secret = session_cookie::shown(call.header("cookie"));
    if let Some(secret) = secret.filter(|_| app.node_identity.is_primary()) {
        app.db.write(move |tx| session::end(tx, &secret)).await?;
    }
    let settings = app.settings();
    let next = match settings.after_sign_out_path() {
        Some(place) if place.starts_with("http://") || place.starts_with("https://") => {
            place.to_owned()
        }
        Some(path) => app.urls.at(path.trim_start_matches('/')),
        None => app.urls.at("users/sign_in"),
    };
    Ok(Custom(leading_to(next, session_cookie::forgotten(&app))))
}
