//! PGP keys of people.

use entities::org::key::GpgKeyEntity;
use kernel::{
    Error,
    access::{Administrate, Anyone, SignedIn},
    ids::{GpgKeyId, UserId},
    page::PageRequest,
    task::spawn_blocking,
};
use org::{
    key::gpg::{
        actions::{self, NewGpgKey},
        store::GpgKeyStore,
    },
    user::store::UserStore,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Accepted, Created, Json, NoContent, PagedList},
    rest::shared::people,
    routes,
};

routes! { "GPG keys" at "", also [ReadUser];
    GET    "/user/gpg_keys"                       => list        : SignedIn,
    POST   "/user/gpg_keys"                       => add         : SignedIn,
    GET    "/user/gpg_keys/{key_id}"              => show        : SignedIn,
    DELETE "/user/gpg_keys/{key_id}"              => remove      : SignedIn,
    POST   "/user/gpg_keys/{key_id}/revoke"       => revoke      : SignedIn,
    GET    "/users/{id}/gpg_keys"                 => list_of     : Anyone,
    POST   "/users/{id}/gpg_keys"                 => add_to      : Administrate,
    GET    "/users/{id}/gpg_keys/{key_id}"        => show_of     : Anyone,
    DELETE "/users/{id}/gpg_keys/{key_id}"        => remove_from : Administrate,
    POST   "/users/{id}/gpg_keys/{key_id}/revoke" => revoke_of   : Administrate,
}

params! { struct OneKey { key_id: GpgKeyId } }
params! { struct AddKey { key: String } }
params! { struct KeysOf: paged { id: UserId } }
params! { struct OneKeyOf { id: UserId, key_id: GpgKeyId } }
params! { struct AddKeyTo { id: UserId, key: String } }

async fn listed(app: &App, user: UserId, page: PageRequest) -> ApiResult<PagedList<GpgKeyEntity>> {
    let found = app.db.read(move |tx| tx.gpg_keys(user, page));
    Ok(PagedList(found.await?.map(GpgKeyEntity::from)))
}

async fn list(app: App, call: Call<SignedIn, OnlyPage>) -> ApiResult<PagedList<GpgKeyEntity>> {
    listed(&app, call.grant.user()?, call.page).await
}

async fn list_of(app: App, call: Call<Anyone, KeysOf>) -> ApiResult<PagedList<GpgKeyEntity>> {
    let (actor, id) = (call.grant.actor(), call.params.id);
    app.db.peek(move |tx| people::seen(tx, actor, &id.to_string())).await?;
    listed(&app, id, call.page).await
}

async fn show(app: App, call: Call<SignedIn, OneKey>) -> ApiResult<Json<GpgKeyEntity>> {
    let (user, id) = (call.grant.user()?, call.params.key_id);
    Ok(Json(app.db.peek(move |tx| tx.gpg_key(user, id)).await?.into()))
}

async fn show_of(app: App, call: Call<Anyone, OneKeyOf>) -> ApiResult<Json<GpgKeyEntity>> {
    let (actor, OneKeyOf { id, key_id }) = (call.grant.actor(), call.params);
    let found = app.db.peek(move |tx| {
        let owner = people::seen(tx, actor, &id.to_string())?;
        tx.gpg_key(owner.id, key_id)
    });
    Ok(Json(found.await?.into()))
}

async fn added(app: &App, user: UserId, text: String) -> ApiResult<Created<GpgKeyEntity>> {
    let new = spawn_blocking(move || NewGpgKey::new(&text)).await.map_err(Error::internal)?;
    let key = app.db.write(move |tx| actions::add(tx, user, &new)).await?;
    Ok(Created(key.into()))
}

async fn add(app: App, call: Call<SignedIn, AddKey>) -> ApiResult<Created<GpgKeyEntity>> {
    added(&app, call.grant.user()?, call.params.key).await
}

async fn add_to(app: App, call: Call<Administrate, AddKeyTo>) -> ApiResult<Created<GpgKeyEntity>> {
    let AddKeyTo { id, key } = call.params;
    // Nobody waits for a key to be read that nobody can have.
    app.db.peek(move |tx| tx.user(id)).await?;
    added(&app, id, key).await
}

async fn remove(app: App, call: Call<SignedIn, OneKey>) -> ApiResult<NoContent> {
    let (since, user, id) = (call.unmodified_since(), call.grant.user()?, call.params.key_id);
    app.db.write(move |tx| actions::remove(tx, user, id, since)).await?;
    Ok(NoContent)
}

async fn remove_from(app: App, call: Call<Administrate, OneKeyOf>) -> ApiResult<NoContent> {
    let (since, OneKeyOf { id, key_id }) = (call.unmodified_since(), call.params);
    app.db.write(move |tx| actions::remove(tx, id, key_id, since)).await?;
    Ok(NoContent)
}

async fn revoke(app: App, call: Call<SignedIn, OneKey>) -> ApiResult<Accepted> {
    let (user, id) = (call.grant.user()?, call.params.key_id);
    app.db.write(move |tx| actions::revoke(tx, user, id)).await?;
    Ok(Accepted)
}

async fn revoke_of(app: App, call: Call<Administrate, OneKeyOf>) -> ApiResult<Accepted> {
    let OneKeyOf { id, key_id } = call.params;
    app.db.write(move |tx| actions::revoke(tx, id, key_id)).await?;
    Ok(Accepted)
}
