//! The page that the link in an invitation opens, and where it is accepted.

use actix_web::{HttpResponse, HttpResponseBuilder};
use forge::{sign_in::Candidate, slots::SlotOwner};
use kernel::{Error, access::Anyone};
use org::{member::invitations, token::Secret, user::User};

use crate::{app::App, error::ApiResult, extract::Call, params, present::Custom, routes};

routes! { "Invitations" at "//-/invites";
    GET  "/{token}" => show   : Anyone,
    POST "/{token}" => accept : Anyone,
}

params! { struct OneInvite { token: String } }
params! {
    struct Accept {
        token: String,
        /// Username or email address of the invited user; not needed with an access token.
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
    found.map(|_| page(HttpResponse::Ok(), FORM)).ok_or_else(|| Error::hidden().into())
}

async fn accept(app: App, call: Call<Anyone, Accept>) -> ApiResult<Custom> {
    let (who, given) = (call.whom(), call.params);
    let secret = Secret::given(&given.token);
    let looked = secret.clone();
    // Before anything slow is done for somebody without an invitation.
    let found = app.db.read(move |tx| invitations::find_by_secret(tx, &looked)).await?;
    found.ok_or_else(Error::hidden)?;
    let user = match call.caller.user {
        Some(user) => User::clone(&user),
        None => by_password(&app, who, given.login, given.password).await?,
    };
    let accepted = app.db.write(move |tx| {
        let found = invitations::find_by_secret(tx, &secret)?;
        found.map(|invitation| invitations::accept(tx, &user, &invitation)).transpose()
    });
    accepted
        .await?
        .map(|()| page(HttpResponse::Created(), DONE))
        .ok_or_else(|| Error::hidden().into())
}

async fn by_password(
    app: &App,
    who: SlotOwner,
    login: Option<String>,
    password: Option<String>,
) -> ApiResult<User> {
    let (login, password) = login.zip(password).ok_or_else(Error::unauthenticated)?;
    let proven = Candidate::named(app, &login).await?.prove(app, password, who).await?;
    Ok(proven.ok_or_else(Error::unauthenticated)?)
}
