//! The page that the link in a letter opens, to confirm an address.

use actix_web::HttpResponse;
use kernel::{Error, access::Anyone, error::Kind};
use org::{email::actions, token::Secret};

use crate::{app::App, error::ApiResult, extract::Call, params, present::Custom, routes};

routes! { "Emails" at "//-/profile/emails/confirmation", any scope;
    GET "" => confirm : Anyone,
}

params! { struct Confirm { confirmation_token: String } }

/// The page holds no name and no address: whoever reads it learns nothing.
async fn confirm(app: App, call: Call<Anyone, Confirm>) -> ApiResult<Custom> {
    let secret = Secret::given(&call.params.confirmation_token);
    let confirmed = app.db.write(move |tx| actions::confirm(tx, &secret));
    confirmed.await.map_err(|failure| match failure.kind {
        Kind::NotFound => {
            Error::unprocessable().whole("Confirmation token is invalid or has expired")
        }
        _ => failure,
    })?;
    let page = HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .insert_header(("Referrer-Policy", "no-referrer"))
        .body("Your email address has been successfully confirmed.\n");
    Ok(Custom(page))
}
