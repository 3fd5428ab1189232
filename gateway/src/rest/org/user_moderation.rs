//! The steps of an account's life.

use entities::org::user::Success;
use kernel::{Grant, access::Administrate, ids::UserId};
use org::{
    policy::{ApproveUsers, RejectUsers},
    user::life,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, Json, NoContent},
    routes,
};

routes! { "Users" at "/users/{id}", also [ReadUser];
    POST  "/block"              => block              : Administrate,
    POST  "/unblock"            => unblock            : Administrate,
    POST  "/activate"           => activate           : Administrate,
    POST  "/deactivate"         => deactivate         : Administrate,
    POST  "/ban"                => ban                : Administrate,
    POST  "/unban"              => unban              : Administrate,
    POST  "/approve"            => approve            : ApproveUsers,
    POST  "/reject"             => reject             : RejectUsers,
    PATCH "/disable_two_factor" => disable_two_factor : Administrate,
}

params! { struct OneUser { id: UserId } }

type Move<T> = fn(&mut db::Tx<'_>, &Grant<Administrate>, UserId) -> kernel::Result<T>;

/// Runs one of the steps; the answer is whether the account is now as asked.
async fn moved<T: Send + 'static>(
    app: &App,
    call: Call<Administrate, OneUser>,
    action: Move<T>,
) -> ApiResult<Created<T>> {
    let (grant, id) = (call.grant, call.params.id);
    Ok(Created(app.db.write(move |tx| action(tx, &grant, id)).await?))
}

async fn block(app: App, call: Call<Administrate, OneUser>) -> ApiResult<Created<Option<bool>>> {
    moved(&app, call, life::block).await
}

async fn unblock(app: App, call: Call<Administrate, OneUser>) -> ApiResult<Created<bool>> {
    moved(&app, call, life::unblock).await
}

async fn activate(app: App, call: Call<Administrate, OneUser>) -> ApiResult<Created<bool>> {
    moved(&app, call, life::activate).await
}

async fn deactivate(
    app: App,
    call: Call<Administrate, OneUser>,
) -> ApiResult<Created<Option<bool>>> {
    moved(&app, call, life::deactivate).await
}

async fn ban(app: App, call: Call<Administrate, OneUser>) -> ApiResult<Created<bool>> {
    moved(&app, call, life::ban).await
}

async fn unban(app: App, call: Call<Administrate, OneUser>) -> ApiResult<Created<bool>> {
    moved(&app, call, life::unban).await
}

async fn approve(app: App, call: Call<ApproveUsers, OneUser>) -> ApiResult<Created<Success>> {
    let (grant, id) = (call.grant, call.params.id);
    app.db.write(move |tx| life::approve(tx, &grant, id)).await?;
    Ok(Created(Success::default()))
}

async fn reject(app: App, call: Call<RejectUsers, OneUser>) -> ApiResult<Json<Success>> {
    let (grant, id) = (call.grant, call.params.id);
    app.db.write(move |tx| life::reject(tx, &grant, id)).await?;
    Ok(Json(Success::default()))
}

async fn disable_two_factor(app: App, call: Call<Administrate, OneUser>) -> ApiResult<NoContent> {
    let (grant, id) = (call.grant, call.params.id);
    app.db.write(move |tx| life::disable_two_factor(tx, &grant, id)).await?;
    Ok(NoContent)
}
