//! The current user.

use entities::org::user::{AdminUser, OwnUser};
use kernel::access::SignedIn;
use org::user::account::AccountStore;

use crate::{
    app::App,
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
    let (admin, reader) = (user.admin, Some(user.id));
    let mut full = app.db.peek(move |tx| tx.full_users(vec![user], reader)).await?;
    let full = full.pop().ok_or_else(kernel::Error::unauthenticated)?;
    Ok(match admin {
        true => Either::Right(Json(AdminUser::new(&app.urls, &full))),
        false => Either::Left(Json(OwnUser::new(&app.urls, &full))),
    })
}
