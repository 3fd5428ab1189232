//! User status messages.

use entities::org::person::StatusEntity;
use kernel::access::{Anyone, SignedIn};
use org::status::{Availability, ClearAfter, Status, actions};

use crate::{
    app::App, error::ApiResult, extract::Call, param_enums, params, present::Json,
    rest::shared::people, routes,
};

routes! { "User status" at "", also [ReadUser];
    GET   "/user/status"       => show    : SignedIn,
    PUT   "/user/status"       => set     : SignedIn,
    PATCH "/user/status"       => change  : SignedIn,
    GET   "/users/{id}/status" => show_of : Anyone,
}

param_enums! { ClearAfter }

params! { struct ShowUserStatus { id: String } }
params! {
    struct SetStatus {
        /// File name of the avatar.
        emoji: Option<String>,
        message: Option<String>,
        /// `busy`; anything else is `not_set`.
        availability: Option<String>,
        clear_status_after: Option<ClearAfter>,
    }
}

fn availability(word: Option<&str>) -> Availability {
    word.and_then(kernel::TextEnum::find).unwrap_or_default()
}

async fn show(app: App, call: Call<SignedIn>) -> ApiResult<Json<StatusEntity>> {
    let user = call.grant.user()?;
    Ok(Json(app.db.peek(move |tx| actions::status(tx, user)).await?.into()))
}

async fn show_of(app: App, call: Call<Anyone, ShowUserStatus>) -> ApiResult<Json<StatusEntity>> {
    let actor = call.grant.actor();
    let found = app.db.peek(move |tx| {
        let user = people::seen(tx, actor, &call.params.id)?;
        actions::status(tx, user.id)
    });
    Ok(Json(found.await?.into()))
}

/// Everything anew: what is left out is cleared.
async fn set(app: App, call: Call<SignedIn, SetStatus>) -> ApiResult<Json<StatusEntity>> {
    let (user, given) = (call.grant.user()?, call.params);
    let said = app.db.write(move |tx| {
        let now = tx.now;
        let status = Status {
            emoji: given.emoji.unwrap_or_default(),
            message: given.message,
            availability: availability(given.availability.as_deref()),
            clear_status_at: given.clear_status_after.map(|after| now.plus(after.span())),
        };
        actions::set(tx, user, status)
    });
    Ok(Json(said.await?.into()))
}

/// Only what is given.
async fn change(app: App, call: Call<SignedIn, SetStatus>) -> ApiResult<Json<StatusEntity>> {
    let (user, given) = (call.grant.user()?, call.params);
    let ends_anew = call.raw.has("clear_status_after");
    let said = app.db.write(move |tx| {
        let before = actions::status(tx, user)?.unwrap_or_default();
        let end = given.clear_status_after.map(|after| tx.now.plus(after.span()));
        let word = given.availability.as_deref();
        let status = Status {
            emoji: given.emoji.unwrap_or(before.emoji),
            message: given.message.or(before.message),
            availability: if word.is_some() { availability(word) } else { before.availability },
            clear_status_at: if ends_anew { end } else { before.clear_status_at },
        };
        actions::set(tx, user, status)
    });
    Ok(Json(said.await?.into()))
}
