//! Addresses that people have beside their primary one.

use entities::org::email::EmailEntity;
use kernel::{
    access::{Administrate, SignedIn},
    ids::{EmailId, UserId},
    page::PageRequest,
};
use org::{
    email::{
        actions::{self, Proof},
        store::EmailStore,
    },
    user::store::UserStore,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Emails" at "", also [ReadUser];
    GET    "/user/emails"                      => list       : SignedIn,
    POST   "/user/emails"                      => add        : SignedIn,
    GET    "/user/emails/{email_id}"           => show       : SignedIn,
    DELETE "/user/emails/{email_id}"           => remove     : SignedIn,
    GET    "/users/{id}/emails"                => list_of    : Administrate,
    POST   "/users/{id}/emails"                => add_to     : Administrate,
    DELETE "/users/{id}/emails/{email_id}"     => remove_from : Administrate,
}

params! { struct OneEmail { email_id: EmailId } }
params! { struct AddEmail { email: String } }
params! { struct EmailsOf: paged { id: UserId } }
params! { struct OneEmailOf { id: UserId, email_id: EmailId } }
params! {
    struct AddEmailTo {
        id: UserId,
        email: String,
        /// Whether to treat the email address as confirmed.
        skip_confirmation: bool = false,
    }
}

async fn listed(app: &App, user: UserId, page: PageRequest) -> ApiResult<PagedList<EmailEntity>> {
    let found = app.db.read(move |tx| {
        tx.user(user)?;
        tx.emails(user, page)
    });
    Ok(PagedList(found.await?.map(EmailEntity::from)))
}

async fn list(app: App, call: Call<SignedIn, OnlyPage>) -> ApiResult<PagedList<EmailEntity>> {
    listed(&app, call.grant.user()?, call.page).await
}

async fn list_of(
    app: App,
    call: Call<Administrate, EmailsOf>,
) -> ApiResult<PagedList<EmailEntity>> {
    listed(&app, call.params.id, call.page).await
}

async fn show(app: App, call: Call<SignedIn, OneEmail>) -> ApiResult<Json<EmailEntity>> {
    let (user, id) = (call.grant.user()?, call.params.email_id);
    Ok(Json(app.db.peek(move |tx| tx.email(user, id)).await?.into()))
}

async fn add(app: App, call: Call<SignedIn, AddEmail>) -> ApiResult<Created<EmailEntity>> {
    let (user, address) = (call.grant.user()?, call.params.email);
    let added = app.db.write(move |tx| actions::add(tx, user, &address, Proof::Letter));
    Ok(Created(added.await?.into()))
}

async fn add_to(app: App, call: Call<Administrate, AddEmailTo>) -> ApiResult<Created<EmailEntity>> {
    let AddEmailTo { id, email, skip_confirmation } = call.params;
    let proof = if skip_confirmation { Proof::Administrator } else { Proof::Letter };
    let added = app.db.write(move |tx| actions::add(tx, id, &email, proof));
    Ok(Created(added.await?.into()))
}

async fn remove(app: App, call: Call<SignedIn, OneEmail>) -> ApiResult<NoContent> {
    let (since, user, id) = (call.unmodified_since(), call.grant.user()?, call.params.email_id);
    app.db.write(move |tx| actions::remove(tx, user, id, since)).await?;
    Ok(NoContent)
}

async fn remove_from(app: App, call: Call<Administrate, OneEmailOf>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let OneEmailOf { id, email_id } = call.params;
    app.db.write(move |tx| actions::remove(tx, id, email_id, since)).await?;
    Ok(NoContent)
}
