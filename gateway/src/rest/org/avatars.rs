//! Pictures of projects, groups and people, at the addresses that records name.

use forge::files::avatars::{Owner, find};
use kernel::{Error, access::Anyone, ids::UserId};
use org::{
    namespace::store::NamespaceStore,
    policy::{ReadGroup, ReadProject},
    project::store::ProjectStore,
    user::store::UserStore,
};

use crate::{
    app::App, error::ApiResult, extract::Call, params, present::Custom,
    rest::shared::uploaded_files::file_response, routes,
};

routes! { "Avatars" at "";
    GET "/groups/{id}/avatar"                              => of_group      : ReadGroup,
    GET "//uploads/-/system/project/avatar/{id}/{filename}" => show_projects : ReadProject,
    GET "//uploads/-/system/group/avatar/{id}/{filename}"   => show_groups   : ReadGroup,
    GET "//uploads/-/system/user/avatar/{id}/{filename}"    => show_users    : Anyone,
}

params! {
    struct OneAvatar {
        filename: String,
    }
}

params! {
    struct AvatarOfUser {
        id: UserId,
        filename: String,
    }
}

async fn of_group(app: App, call: Call<ReadGroup>) -> ApiResult<Custom> {
    let id = call.grant.group();
    let group = app.db.peek(move |tx| tx.namespace(id)).await?;
    let name = group.avatar.ok_or_else(|| Error::not_found("Avatar"))?;
    file_response(&app.avatars, &find(Owner::Group(id), &name)?, &name).await
}

/// The picture that a record names, when it is the one that was asked for.
async fn avatar_response(
    app: &App,
    owner: Owner,
    named: Option<String>,
    asked: &str,
) -> ApiResult<Custom> {
    let name = named.filter(|name| name == asked).ok_or_else(Error::missing)?;
    file_response(&app.avatars, &find(owner, &name)?, &name).await
}

async fn show_projects(app: App, call: Call<ReadProject, OneAvatar>) -> ApiResult<Custom> {
    let id = call.grant.project();
    let project = app.db.peek(move |tx| tx.project(id)).await?;
    avatar_response(&app, Owner::Project(id), project.avatar, &call.params.filename).await
}

async fn show_groups(app: App, call: Call<ReadGroup, OneAvatar>) -> ApiResult<Custom> {
    let id = call.grant.group();
    let group = app.db.peek(move |tx| tx.namespace(id)).await?;
    avatar_response(&app, Owner::Group(id), group.avatar, &call.params.filename).await
}

async fn show_users(app: App, call: Call<Anyone, AvatarOfUser>) -> ApiResult<Custom> {
    let id = call.params.id;
    let user = app.db.peek(move |tx| tx.find_user(id)).await?;
    let named = user.and_then(|user| user.avatar);
    avatar_response(&app, Owner::User(id), named, &call.params.filename).await
}
