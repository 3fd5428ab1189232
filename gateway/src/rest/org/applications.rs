//! Applications that act for people by OAuth, for administrators.

use entities::org::application::{ApplicationEntity, NewApplicationEntity};
use kernel::{access::Administrate, ids::ApplicationId};
use org::application::actions::{self, NewApplication};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, NonEmpty, params::OnlyPage},
    params,
    present::{Created, NoContent, PagedList},
    routes,
};

routes! { "Applications" at "/applications";
    GET    ""      => list   : Administrate,
    POST   ""      => create : Administrate,
    DELETE "/{id}" => remove : Administrate,
}

async fn list(
    app: App,
    call: Call<Administrate, OnlyPage>,
) -> ApiResult<PagedList<ApplicationEntity>> {
    let (grant, page) = (call.grant, call.page);
    let found = app.db.read(move |tx| actions::list(tx, &grant, page)).await?;
    Ok(PagedList(found.map(ApplicationEntity::from)))
}

params! {
    struct CreateApplication {
        /// Name of the application, at most 255 characters.
        name: String,
        /// Where people may be sent back to: one or more absolute URLs, with white space between, together at most 2048
        /// characters. Requests have to name one of them exactly. With `urn:ietf:wg:oauth:2.0:oob` people are shown the code,
        /// and sent nowhere.
        redirect_uri: String,
        /// Scopes that the application may ask for, with spaces between.
        scopes: NonEmpty,
        /// Whether the application can keep its secret, and has to show it. Default: `true`.
        confidential: bool = true,
    }
}

async fn create(
    app: App,
    call: Call<Administrate, CreateApplication>,
) -> ApiResult<Created<NewApplicationEntity>> {
    let (grant, given) = (call.grant, call.params);
    let new = NewApplication {
        name: given.name,
        redirect_uri: given.redirect_uri,
        scopes: given.scopes.0,
        // Only applications of the server itself act without asking people.
        trusted: false,
        confidential: given.confidential,
    };
    let made = app.db.write(move |tx| actions::create(tx, &grant, &new)).await?;
    Ok(Created(NewApplicationEntity::new(made.0, &made.1)))
}

params! {
    struct OneApplication {
        id: ApplicationId,
    }
}

async fn remove(app: App, call: Call<Administrate, OneApplication>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.id);
    app.db.write(move |tx| actions::remove(tx, &grant, id, since)).await?;
    Ok(NoContent)
}
