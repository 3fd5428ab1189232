//! Who the caller is.

use kernel::access::SignedIn;
use org::user::{model::FullUser, store::UserStore};

use crate::{
    app::App,
    entities::user::{AdminUser, OwnUser},
    error::ApiResult,
    extract::Call,
    present::{Either, Json},
    routes,
};

routes! { "Current user" at "/user", also [ReadUser];
    GET "" => show : SignedIn,
}

async fn show(app: App, call: Call<SignedIn>) -> ApiResult<Either<Json<OwnUser>, Json<AdminUser>>> {
    let user = call.caller.user()?.as_ref().clone();
    if user.admin {
        let mut full = app.db.peek(move |tx| tx.full_users(vec![user])).await?;
        let full = full.pop().ok_or(kernel::Error::Unauthenticated)?;
        return Ok(Either::Right(Json(AdminUser::new(&app.urls, &full))));
    }
    let id = user.id;
    let profile = app.db.peek(move |tx| tx.profile(id)).await?;
    let full = FullUser { user, profile, namespace_id: None, created_by: None };
    Ok(Either::Left(Json(OwnUser::new(&app.urls, &full))))
}
