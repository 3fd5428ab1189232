//! The few pages of a browser that letters lead to: confirming an address, setting a password. They need nothing from
//! elsewhere, and tell nobody who has an account.

use actix_web::http::StatusCode;
use forge::mail::account_letters::CONFIRM_AGAIN;
use kernel::{access::Anyone, error::Kind};
use org::{token::Secret, user::links};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::Custom,
    routes,
    web::html::{self, escaped},
};

routes! { "Account pages" at "", any scope;
    GET  "//users/confirmation"                          => confirm            : Anyone,
    POST "//users/confirmation"                          => send_confirmation  : Anyone,
    GET  "//users/confirmation/new"                      => ask_confirmation   : Anyone,
    POST "//users/password"                              => send_password_link : Anyone,
    GET  "//users/password/new"                          => ask_password_link  : Anyone,
    GET  "//users/password/edit"                         => ask_password       : Anyone,
    POST "//users/password/edit"                         => set_password       : Anyone,
}

params! { struct Confirm { confirmation_token: Option<String> } }
params! { struct Address { email: Option<String> } }
params! { struct PasswordLink { reset_password_token: Option<String> } }
params! {
    struct NewPassword {
        reset_password_token: Option<String>,
        password: Option<String>,
        password_confirmation: Option<String>,
    }
}

const DEAD: &str = "<p>This link is not valid. It may have been used, or be too old.</p>";
const SENT: &str = "<p>If an account waits for it, a letter is on its way. Please look into your inbox in a few \
                    minutes.</p>";

fn page(status: StatusCode, title: &str, body: &str) -> Custom {
    Custom(html::page(status, title, body))
}

fn given(text: Option<String>) -> String {
    text.unwrap_or_default()
}

async fn confirm(app: App, call: Call<Anyone, Confirm>) -> ApiResult<Custom> {
    let secret = Secret::given(&given(call.params.confirmation_token));
    match app.db.write(move |tx| links::confirm(tx, &secret)).await {
        Ok(_) => Ok(page(
            StatusCode::OK,
            "Address confirmed",
            "<p>Your email address has been successfully confirmed.</p>",
        )),
        Err(unknown) if unknown.kind == Kind::NotFound => {
            let again = app.urls.at(CONFIRM_AGAIN);
            let body = format!("{DEAD}<p><a href=\"{again}\">Ask for another letter</a></p>");
            Ok(page(StatusCode::UNPROCESSABLE_ENTITY, "Confirmation", &body))
        }
        Err(other) => {
            let text = other.into_whole(Kind::Conflict)?;
            let body = format!("<p>{}</p>", escaped(&text));
            Ok(page(StatusCode::UNPROCESSABLE_ENTITY, "Confirmation", &body))
        }
    }
}

fn address_form(title: &str, action: &str) -> Custom {
    let body = format!(
        "<form method=\"post\" action=\"{action}\"><label for=\"email\">Email</label><input id=\"email\" \
         name=\"email\" type=\"email\" autocomplete=\"email\" required><button>Send the letter</button></form>"
    );
    page(StatusCode::OK, title, &body)
}

async fn ask_confirmation(app: App, _: Call<Anyone>) -> ApiResult<Custom> {
    Ok(address_form("Confirm your address", &app.urls.at("users/confirmation")))
}

async fn ask_password_link(app: App, _: Call<Anyone>) -> ApiResult<Custom> {
    Ok(address_form("Reset your password", &app.urls.at("users/password")))
}

async fn send_confirmation(app: App, call: Call<Anyone, Address>) -> ApiResult<Custom> {
    let address = given(call.params.email);
    app.db.write(move |tx| links::confirm_again(tx, address.trim())).await?;
    Ok(page(StatusCode::OK, "Confirm your address", SENT))
}

async fn send_password_link(app: App, call: Call<Anyone, Address>) -> ApiResult<Custom> {
    let address = given(call.params.email);
    app.db.write(move |tx| links::forgot_password(tx, address.trim())).await?;
    Ok(page(StatusCode::OK, "Reset your password", SENT))
}

async fn ask_password(app: App, call: Call<Anyone, PasswordLink>) -> ApiResult<Custom> {
    let token = given(call.params.reset_password_token);
    let secret = Secret::given(&token);
    match app.db.peek(move |tx| links::whose_password(tx, &secret)).await {
        Ok(_) => Ok(password_form(&app, StatusCode::OK, &token, &[])),
        Err(unknown) if unknown.kind == Kind::NotFound => {
            Ok(page(StatusCode::UNPROCESSABLE_ENTITY, "Set a password", DEAD))
        }
        Err(other) => Err(other.into()),
    }
}

fn password_form(app: &App, status: StatusCode, token: &str, wrong: &[String]) -> Custom {
    let wrong: String = wrong
        .iter()
        .map(|text| format!("<p role=\"alert\">Password {}</p>", escaped(text)))
        .collect();
    let body = format!(
        "{wrong}<form method=\"post\" action=\"{}\"><input type=\"hidden\" name=\"reset_password_token\" \
         value=\"{}\"><label for=\"password\">New password</label><input id=\"password\" name=\"password\" \
         type=\"password\" autocomplete=\"new-password\" required><label for=\"again\">Once more</label><input \
         id=\"again\" name=\"password_confirmation\" type=\"password\" autocomplete=\"new-password\" \
         required><button>Set the password</button></form>",
        app.urls.at("users/password/edit"),
        escaped(token)
    );
    page(status, "Set a password", &body)
}

async fn set_password(app: App, call: Call<Anyone, NewPassword>) -> ApiResult<Custom> {
    let (who, params) = (call.whom(), call.params);
    let (token, clear) = (given(params.reset_password_token), given(params.password));
    let secret = Secret::given(&token);
    let looked = secret.clone();
    // Before anything slow is done for somebody without a link.
    if let Err(unknown) = app.db.peek(move |tx| links::whose_password(tx, &looked)).await
        && unknown.kind == Kind::NotFound
    {
        return Ok(page(StatusCode::UNPROCESSABLE_ENTITY, "Set a password", DEAD));
    }
    if clear != given(params.password_confirmation) {
        let wrong = ["confirmation doesn't match Password".to_owned()];
        return Ok(password_form(&app, StatusCode::UNPROCESSABLE_ENTITY, &token, &wrong));
    }
    let chosen = app.passwords.choose(who, clear).await?;
    match app.db.write(move |tx| links::set_password(tx, &secret, &chosen)).await {
        Ok(_) => Ok(page(
            StatusCode::OK,
            "Password set",
            "<p>Your password has been changed successfully.</p>",
        )),
        Err(unknown) if unknown.kind == Kind::NotFound => {
            Ok(page(StatusCode::UNPROCESSABLE_ENTITY, "Set a password", DEAD))
        }
        Err(other) => {
            let fields = other.into_fields()?;
            let wrong: Vec<String> = fields.into_iter().flat_map(|(_, texts)| texts).collect();
            Ok(password_form(&app, StatusCode::UNPROCESSABLE_ENTITY, &token, &wrong))
        }
    }
}
