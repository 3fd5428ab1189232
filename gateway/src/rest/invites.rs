//! The page that the link in an invitation opens, and where it is accepted.

use actix_web::{HttpResponse, HttpResponseBuilder};
use kernel::{Error, access::Anyone};
use org::{
    member::invitations,
    token::{Secret, oauth},
    user::User,
};
use tokio::task::spawn_blocking;

use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::Call,
    params,
    present::Custom,
    routes,
};

routes! { "Invitations" at "//-/invites";
    GET  "/{token}" => show   : Anyone,
    POST "/{token}" => accept : Anyone,
}

params! { struct OneInvite { token: String } }
params! {
    struct Accept {
        token: String,
        /// Who accepts, where no access token says so: a user name or an e-mail address.
        login: Option<String>,
        password: Option<String>,
    }
}

const FORM: &str = "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Invitation</title>\n\
    <h1>You are invited</h1>\n<form method=\"post\">\n\
    <p><label>User name or e-mail <input name=\"login\" autocomplete=\"username\" required></label>\n\
    <p><label>Password <input name=\"password\" type=\"password\" autocomplete=\"current-password\" required></label>\n\
    <p><button>Accept the invitation</button>\n</form>\n";
const DONE: &str = "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Invitation</title>\n<p>You are a member now.\n";

/// The pages hold no name: whoever only guesses learns nothing.
fn page(mut response: HttpResponseBuilder, text: &'static str) -> Custom {
    let page = response
        .content_type("text/html; charset=utf-8")
        .insert_header(("Referrer-Policy", "no-referrer"))
        .insert_header(("Cache-Control", "no-store"))
        .insert_header(("Content-Security-Policy", "default-src 'none'; form-action 'self'"))
        .body(text);
    Custom(page)
}

async fn show(app: App, call: Call<Anyone, OneInvite>) -> ApiResult<Custom> {
    let secret = Secret::given(&call.params.token);
    let found = app.db.read(move |tx| invitations::find_by_secret(tx, &secret)).await?;
    found.map(|_| page(HttpResponse::Ok(), FORM)).ok_or(ApiError::Nothing)
}

async fn accept(app: App, call: Call<Anyone, Accept>) -> ApiResult<Custom> {
    let given = call.params;
    let user = match call.caller.user {
        Some(user) => User::clone(&user),
        None => by_password(&app, given.login, given.password).await?,
    };
    let secret = Secret::given(&given.token);
    let accepted = app.db.write(move |tx| {
        let found = invitations::find_by_secret(tx, &secret)?;
        found.map(|invitation| invitations::accept(tx, &user, &invitation)).transpose()
    });
    accepted.await?.map(|()| page(HttpResponse::Created(), DONE)).ok_or(ApiError::Nothing)
}

async fn by_password(
    app: &App,
    login: Option<String>,
    password: Option<String>,
) -> ApiResult<User> {
    let (Some(login), Some(password)) = (login, password) else {
        return Err(Error::Unauthenticated.into());
    };
    app.sign_ins.ensure_not_tried_too_often(&login, app.db.clock().now())?;
    let wanted = login.clone();
    let user = app.db.peek(move |tx| oauth::find_account(tx, &wanted)).await?;
    let checked = spawn_blocking(move || {
        let proven = oauth::proves(user.as_ref(), &password);
        user.filter(|_| proven)
    });
    let Some(user) = checked.await.map_err(Error::internal)? else {
        app.sign_ins.note_failure(&login, app.db.clock().now());
        return Err(Error::Unauthenticated.into());
    };
    app.sign_ins.forget(&login);
    Ok(user)
}
