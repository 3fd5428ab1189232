//! People who are locked out of a group, for those who own it.

use entities::org::ban::NamespaceBanEntity;
use kernel::ids::UserId;
use org::{namespace::banned_members, policy::ModerateGroup};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{NoContent, PagedList},
    routes,
};

routes! { "Bans" at "/groups/{id}/namespace_bans";
    GET    ""           => list   : ModerateGroup,
    DELETE "/{user_id}" => let_in : ModerateGroup,
}

params! { struct OneUser { user_id: UserId } }

async fn list(
    app: App,
    call: Call<ModerateGroup, OnlyPage>,
) -> ApiResult<PagedList<NamespaceBanEntity>> {
    let (grant, page) = (call.grant, call.page);
    let found = app.db.read(move |tx| banned_members::list(tx, &grant, page)).await?;
    Ok(PagedList(found.map(|banned| NamespaceBanEntity::new(&app.urls, &banned))))
}

async fn let_in(app: App, call: Call<ModerateGroup, OneUser>) -> ApiResult<NoContent> {
    let (grant, user) = (call.grant, call.params.user_id);
    app.db.write(move |tx| banned_members::let_in(tx, &grant, user)).await?;
    Ok(NoContent)
}
