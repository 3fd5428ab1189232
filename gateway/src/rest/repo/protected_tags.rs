//! A project's protected tags.

use entities::repo::protection::ProtectedTagEntity;
use forge::ports::repo::Members;
use kernel::Error;
use repo::{
    policy::ProtectRefs,
    protection::{TagRuleStore, actions},
};

use super::{protected_branches::protect_request, protection_params::AllowedToCreate};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Created, Json, NoContent, PagedList},
    rest::shared::access_levels::CreateLevel,
    routes,
};

routes! { "Protected tags" at "/projects/{id}/protected_tags";
    GET    ""        => list      : ProtectRefs,
    GET    "/{name}" => show      : ProtectRefs,
    POST   ""        => protect   : ProtectRefs,
    DELETE "/{name}" => unprotect : ProtectRefs,
}

async fn list(
    app: App,
    call: Call<ProtectRefs, OnlyPage>,
) -> ApiResult<PagedList<ProtectedTagEntity>> {
    let (project, page) = (call.grant.project(), call.page);
    let listed = app.db.read(move |tx| {
        let rules = tx.tag_rule_page(project, page)?;
        rules.try_map_all(|rules| ProtectedTagEntity::all(tx, rules))
    });
    Ok(PagedList(listed.await?))
}

params! {
    pub struct OneProtectedTag {
        /// Name or wildcard of the protected tag.
        name: String,
    }
}

async fn show(
    app: App,
    call: Call<ProtectRefs, OneProtectedTag>,
) -> ApiResult<Json<ProtectedTagEntity>> {
    let (project, name) = (call.grant.project(), call.params.name);
    let shown = app.db.read(move |tx| {
        let rule = tx.find_tag_rule(project, &name)?.ok_or_else(Error::missing)?;
        ProtectedTagEntity::one(tx, rule)
    });
    Ok(Json(shown.await?))
}

params! {
    pub struct ProtectTag {
        /// Name of a tag or a wildcard. The tag need not exist.
        name: String,
        create_access_level: Option<CreateLevel>,
        allowed_to_create: Option<Vec<AllowedToCreate>>,
    }
}

async fn protect(
    app: App,
    call: Call<ProtectRefs, ProtectTag>,
) -> ApiResult<Created<ProtectedTagEntity>> {
    let (grant, params) = (call.grant, call.params);
    let allowed = params.allowed_to_create.unwrap_or_default();
    let asked = protect_request(
        params.create_access_level.map(|level| level.0),
        allowed.iter().map(|one| one.0),
    );
    let made = app.db.write(move |tx| {
        let rule = actions::protect_tag(tx, &grant, &Members, &params.name, &asked)?;
        ProtectedTagEntity::one(tx, rule)
    });
    Ok(Created(made.await?))
}

async fn unprotect(app: App, call: Call<ProtectRefs, OneProtectedTag>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, name) = (call.grant, call.params.name);
    let done = app.db.write(move |tx| actions::unprotect_tag(tx, &grant, &name, since));
    done.await?;
    Ok(NoContent)
}
