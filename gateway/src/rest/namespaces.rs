//! Groups and personal namespaces together: everywhere a project can live.

use kernel::{AccessLevel, Error, access::SignedIn, ids::NamespaceId};
use org::{
    access::{IdOrPath, level_in_namespace},
    namespace::{self, list::NamespaceLists, store::NamespaceStore},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    entities::namespace::NamespaceEntity,
    error::ApiResult,
    extract::Call,
    params,
    present::{Json, Listed},
    routes,
};

routes! { "Namespaces" at "/namespaces";
    GET ""             => list   : SignedIn,
    GET "/{id}"        => show   : SignedIn,
    GET "/{id}/exists" => exists : SignedIn,
}

params! {
    struct ListNamespaces: paged {
        search: Option<String>,
        owned_only: bool = false,
    }
}
params! { struct OneNamespace { id: String } }
params! { struct Asked { id: String, parent_id: Option<NamespaceId> } }

/// Whether a path is taken, and what would be free instead.
#[derive(Debug, Serialize, ToSchema)]
pub struct Taken {
    exists: bool,
    suggests: Vec<String>,
}

async fn list(
    app: App,
    call: Call<SignedIn, ListNamespaces>,
) -> ApiResult<Listed<NamespaceEntity>> {
    let (actor, page, given) = (call.grant.actor(), call.page, call.params);
    let user = actor.id.filter(|_| given.owned_only || !actor.admin);
    let found = app
        .db
        .read(move |tx| tx.namespaces(user, given.search.as_deref(), given.owned_only, page))
        .await?;
    Ok(Listed(found.map(|namespace| NamespaceEntity::new(&app.urls, &namespace))))
}

async fn show(app: App, call: Call<SignedIn, OneNamespace>) -> ApiResult<Json<NamespaceEntity>> {
    let actor = call.grant.actor();
    let found = app.db.peek(move |tx| {
        let namespace = match IdOrPath::parse(&call.params.id) {
            IdOrPath::Id(id) => tx.find_namespace(NamespaceId(id))?,
            IdOrPath::Path(path) => tx.find_namespace_at(&path)?,
        };
        let namespace = namespace.ok_or(Error::NotFound("Namespace"))?;
        let level = level_in_namespace(tx, actor, namespace.id)?;
        match actor.admin || level > AccessLevel::NoAccess {
            true => Ok(namespace),
            false => Err(Error::NotFound("Namespace")),
        }
    });
    Ok(Json(NamespaceEntity::new(&app.urls, &found.await?)))
}

async fn exists(app: App, call: Call<SignedIn, Asked>) -> ApiResult<Json<Taken>> {
    let given = call.params;
    let found = app.db.read(move |tx| {
        let parent = match given.parent_id {
            Some(id) => tx.find_namespace(id)?,
            None => None,
        };
        let full = match &parent {
            Some(parent) => format!("{}/{}", parent.full_path, given.id),
            None => given.id.clone(),
        };
        if !tx.is_path_taken(&full)? {
            return Ok(Taken { exists: false, suggests: Vec::new() });
        }
        let suggests = namespace::actions::suggestions(tx, &given.id, parent.as_ref())?;
        Ok(Taken { exists: true, suggests })
    });
    Ok(Json(found.await?))
}
