//! The picture of whoever shows an address.

use entities::org::brief_user::BriefUser;
use forge::user::visibility::sees_people;
use kernel::{Error, access::Anyone};
use org::{
    email::store::EmailStore,
    user::{State, User, store::UserStore},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Positive},
    params,
    present::Json,
    routes,
};

routes! { "Avatar" at "/avatar", also [ReadUser];
    GET "" => show : Anyone,
}

params! {
    struct ShowAvatar {
        email: String,
        /// Width of the image in pixels.
        size: Option<Positive>,
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AvatarEntity {
    avatar_url: Option<String>,
}

/// Whether somebody shows this address to everybody.
fn shows(user: &User, address: &str) -> bool {
    let public = user.public_email.as_deref().unwrap_or_default();
    user.state == State::Active && public.to_lowercase() == address.to_lowercase()
}

async fn show(app: App, call: Call<Anyone, ShowAvatar>) -> ApiResult<Json<AvatarEntity>> {
    let (actor, ShowAvatar { email, size }) = (call.grant.actor(), call.params);
    let address = email.clone();
    let found = app.db.peek(move |tx| {
        if !sees_people(tx, actor)? {
            return Err(Error::forbidden().because("Unauthorized access"));
        }
        let Some(holder) = tx.find_confirmed_holder(&address)? else { return Ok(None) };
        Ok(tx.find_user(holder)?.filter(|user| shows(user, &address)))
    });
    let found = found.await?;
    let picture = found.as_ref().filter(|user| user.avatar.is_some());
    let avatar_url = match picture.and_then(|user| BriefUser::new(&app.urls, user).avatar_url) {
        Some(url) => Some(match size {
            Some(size) => format!("{url}?width={}", size.0),
            None => url,
        }),
        None => {
            let address = found.as_ref().map_or(&email, |user| &user.email);
            match size {
                Some(size) => app.urls.gravatar_as_wide(address, size.0),
                None => app.urls.gravatar(address),
            }
        }
    };
    Ok(Json(AvatarEntity { avatar_url }))
}
