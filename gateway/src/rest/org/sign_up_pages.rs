//! The page on which people make accounts for themselves, where the installation lets them.

use actix_web::{HttpResponse, http::StatusCode};
use kernel::{Error, access::Anyone, error::Kind};
use org::{
    settings::Settings,
    user::{
        State,
        sign_up::{self, SignUp},
    },
};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::Custom,
    routes,
    web::html::{self, escaped},
};

routes! { "Sign-up pages" at "//users", any scope;
    GET  "/sign_up" => ask    : Anyone,
    POST "/sign_up" => answer : Anyone,
}

params! {
    struct NewAccount {
        /// At most 255 characters.
        name: Option<String>,
        /// Letters, digits, `_`, `-` and `.`.
        username: Option<String>,
        email: Option<String>,
        /// As long as the settings demand, 128 characters at most.
        password: Option<String>,
        /// Whether the terms of the installation are accepted. Default: `false`.
        terms_opt_in: bool = false,
    }
}

const TITLE: &str = "Make an account";

fn form(app: &App, settings: &Settings, status: StatusCode, wrong: &[String]) -> HttpResponse {
    let wrong: String =
        wrong.iter().map(|text| format!("<p role=\"alert\">{}</p>", escaped(text))).collect();
    let terms = sign_up::terms(settings).map_or_else(String::new, |text| {
        format!(
            "<pre>{}</pre><label for=\"terms\">I accept these terms</label><input id=\"terms\" name=\"terms_opt_in\" \
             type=\"checkbox\" value=\"true\" required>",
            escaped(text)
        )
    });
    let body = format!(
        "{wrong}<form method=\"post\" action=\"{}\"><label for=\"name\">Name</label><input id=\"name\" name=\"name\" \
         autocomplete=\"name\" required><label for=\"username\">User name</label><input id=\"username\" \
         name=\"username\" autocomplete=\"username\" required><label for=\"email\">Email</label><input id=\"email\" \
         name=\"email\" type=\"email\" autocomplete=\"email\" required><label for=\"password\">Password</label><input \
         id=\"password\" name=\"password\" type=\"password\" autocomplete=\"new-password\" required>{terms}<button>\
         Make the account</button></form>",
        app.urls.at("users/sign_up")
    );
    html::page(status, TITLE, &body)
}

fn closed(refusal: &Error) -> Custom {
    let text = escaped(&refusal.to_string());
    Custom(html::page(StatusCode::FORBIDDEN, TITLE, &format!("<p>{text}</p>")))
}

async fn ask(app: App, _: Call<Anyone>) -> ApiResult<Custom> {
    let settings = app.settings();
    match sign_up::ensure_open(&settings) {
        Ok(()) => Ok(Custom(form(&app, &settings, StatusCode::OK, &[]))),
        Err(refusal) => Ok(closed(&refusal)),
    }
}

async fn answer(app: App, call: Call<Anyone, NewAccount>) -> ApiResult<Custom> {
    let (who, given) = (call.whom(), call.params);
    let settings = app.settings();
    // Before anything slow is done for somebody who cannot have an account.
    if let Err(refusal) = sign_up::ensure_open(&settings) {
        return Ok(closed(&refusal));
    }
    let password = app.passwords.choose(who, given.password.unwrap_or_default()).await?;
    let wanted = SignUp {
        username: given.username.unwrap_or_default(),
        name: given.name.unwrap_or_default(),
        email: given.email.unwrap_or_default().trim().to_owned(),
        password,
        agreement: given.terms_opt_in,
    };
    let odd =
        |wrong: &[String]| Custom(form(&app, &settings, StatusCode::UNPROCESSABLE_ENTITY, wrong));
    match app.db.write(move |tx| sign_up::sign_up(tx, &wanted)).await {
        Ok(user) => {
            let text = if user.state == State::PendingApproval {
                "The account is there, and waits for an administrator's approval."
            } else if user.confirmed_at.is_none() {
                "The account is there. A letter is on its way that confirms the address."
            } else {
                "The account is there. You can sign in now."
            };
            let body = format!("<p>{text}</p>{}", welcome(&settings));
            Ok(Custom(html::page(StatusCode::CREATED, TITLE, &body)))
        }
        Err(taken) if taken.is_whole(Kind::Conflict) => Ok(odd(&[taken.to_string()])),
        Err(other) => {
            let fields = other.into_fields()?;
            let sentence = |(name, texts): (String, Vec<String>)| {
                texts.into_iter().map(move |text| format!("{name} {text}")).collect::<Vec<_>>()
            };
            Ok(odd(&fields.into_iter().flat_map(sentence).collect::<Vec<_>>()))
        }
    }
}

/// What the installation says to who has a new account.
fn welcome(settings: &Settings) -> String {
    settings
        .after_sign_up_text()
        .map_or_else(String::new, |text| format!("<p>{}</p>", escaped(text)))
}
