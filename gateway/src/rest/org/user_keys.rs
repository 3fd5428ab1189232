//! SSH keys of people.

use db::Tx;
use entities::org::key::SshKeyEntity;
use kernel::{
    Ts,
    access::{Administrate, Anyone, SignedIn},
    ids::{SshKeyId, UserId},
    page::{Page, PageRequest},
};
use org::{
    key::ssh::{
        SshKey, Usage, actions,
        store::{NewSshKey, SshKeyStore},
    },
    user::{User, store::UserStore},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    param_enums, params,
    present::{Created, Json, NoContent, PagedList},
    rest::shared::people,
    routes,
};

routes! { "SSH keys" at "", also [ReadUser];
    GET    "/user/keys"                => list        : SignedIn,
    POST   "/user/keys"                => add         : SignedIn,
    GET    "/user/keys/{key_id}"       => show        : SignedIn,
    DELETE "/user/keys/{key_id}"       => remove      : SignedIn,
    GET    "/users/{id}/keys"          => list_of     : Anyone,
    POST   "/users/{id}/keys"          => add_to      : Administrate,
    GET    "/users/{id}/keys/{key_id}" => show_of     : Anyone,
    DELETE "/users/{id}/keys/{key_id}" => remove_from : Administrate,
}

param_enums! { Usage }

params! { struct OneKey { key_id: SshKeyId } }
params! {
    struct AddKey {
        title: String,
        key: String,
        /// Expiry time of the key.
        expires_at: Option<Ts>,
        usage_type: Usage = Usage::Both,
    }
}
params! { struct KeysOf: paged { id: String } }
params! { struct OneKeyOf { id: String, key_id: SshKeyId } }
params! { struct Owner { id: UserId } }

impl AddKey {
    fn for_user(self, user_id: UserId) -> (NewSshKey, String) {
        let new = NewSshKey {
            user_id,
            title: self.title,
            usage: self.usage_type,
            expires_at: self.expires_at,
        };
        (new, self.key)
    }
}

fn entity(app: &App, (owner, key): &(User, SshKey)) -> SshKeyEntity {
    SshKeyEntity::new(&app.urls, key, owner)
}

fn keys(tx: &mut Tx<'_>, owner: &User, page: PageRequest) -> kernel::Result<Page<(User, SshKey)>> {
    Ok(tx.ssh_keys(owner.id, page)?.map(|key| (owner.clone(), key)))
}

async fn list(app: App, call: Call<SignedIn, OnlyPage>) -> ApiResult<PagedList<SshKeyEntity>> {
    let (owner, page) = (call.caller.user()?.as_ref().clone(), call.page);
    let found = app.db.read(move |tx| keys(tx, &owner, page)).await?;
    Ok(PagedList(found.map(|key| entity(&app, &key))))
}

async fn list_of(app: App, call: Call<Anyone, KeysOf>) -> ApiResult<PagedList<SshKeyEntity>> {
    let (actor, page) = (call.grant.actor(), call.page);
    let found = app.db.read(move |tx| {
        let owner = people::seen(tx, actor, &call.params.id)?;
        keys(tx, &owner, page)
    });
    Ok(PagedList(found.await?.map(|key| entity(&app, &key))))
}

async fn show(app: App, call: Call<SignedIn, OneKey>) -> ApiResult<Json<SshKeyEntity>> {
    let (owner, id) = (call.caller.user()?.as_ref().clone(), call.params.key_id);
    let found = app.db.peek(move |tx| Ok((tx.ssh_key(owner.id, id)?, owner)));
    let (key, owner) = found.await?;
    Ok(Json(entity(&app, &(owner, key))))
}

async fn show_of(app: App, call: Call<Anyone, OneKeyOf>) -> ApiResult<Json<SshKeyEntity>> {
    let actor = call.grant.actor();
    let found = app.db.peek(move |tx| {
        let owner = people::seen(tx, actor, &call.params.id)?;
        let key = tx.ssh_key(owner.id, call.params.key_id)?;
        Ok((owner, key))
    });
    Ok(Json(entity(&app, &found.await?)))
}

async fn add(app: App, call: Call<SignedIn, AddKey>) -> ApiResult<Created<SshKeyEntity>> {
    let owner = call.caller.user()?.as_ref().clone();
    let (new, text) = call.params.for_user(owner.id);
    let added = app.db.write(move |tx| actions::add(tx, &new, &text)).await?;
    Ok(Created(entity(&app, &(owner, added))))
}

async fn add_to(
    app: App,
    call: Call<Administrate, (Owner, AddKey)>,
) -> ApiResult<Created<SshKeyEntity>> {
    let (Owner { id }, given) = call.params;
    let (new, text) = given.for_user(id);
    let added = app.db.write(move |tx| {
        let owner = tx.user(id)?;
        Ok((owner, actions::add(tx, &new, &text)?))
    });
    Ok(Created(entity(&app, &added.await?)))
}

async fn remove(app: App, call: Call<SignedIn, OneKey>) -> ApiResult<NoContent> {
    let (since, user, id) = (call.unmodified_since(), call.grant.user()?, call.params.key_id);
    app.db.write(move |tx| actions::remove(tx, user, id, since)).await?;
    Ok(NoContent)
}

async fn remove_from(app: App, call: Call<Administrate, OneKeyOf>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let done = app.db.write(move |tx| {
        let owner = people::named(tx, &call.params.id)?;
        actions::remove(tx, owner.id, call.params.key_id, since)
    });
    done.await?;
    Ok(NoContent)
}
