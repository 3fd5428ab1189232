//! Groups and personal namespaces together: everywhere a project can live.

use db::Tx;
use entities::org::namespace_detail::NamespaceDetailEntity;
use kernel::{AccessLevel, Actor, Error, access::SignedIn, ids::NamespaceId};
use org::{
    access::{IdOrPath, level_in_namespace, locate_group},
    namespace::{
        self, Kind, Namespace,
        list_all::{HeadCounts, NamespaceFilter, NamespaceLists},
        store::NamespaceStore,
    },
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Json, PagedList},
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
params! { struct ProbedPath { id: String, parent_id: Option<NamespaceId> } }

/// Whether a namespace path exists, with suggestions of free ones.
#[derive(Debug, Serialize, ToSchema)]
pub struct NamespaceExistence {
    exists: bool,
    suggests: Vec<String>,
}

async fn list(
    app: App,
    call: Call<SignedIn, ListNamespaces>,
) -> ApiResult<PagedList<NamespaceDetailEntity>> {
    let (actor, page, given) = (call.grant.actor(), call.page, call.params);
    let filter = NamespaceFilter {
        actor,
        of: actor.id.filter(|_| given.owned_only || !actor.admin),
        owned: given.owned_only,
        search: given.search,
    };
    let found = app.db.read(move |tx| {
        let found = tx.namespaces(&filter, page)?;
        let care = tx.cared_for(actor, &found.items)?;
        Ok((found, care))
    });
    let (found, care) = found.await?;
    let entity = |place: Namespace| {
        NamespaceDetailEntity::new(&app.urls, actor, &place, care.get(&place.id))
    };
    Ok(PagedList(found.map(entity)))
}

async fn show(
    app: App,
    call: Call<SignedIn, OneNamespace>,
) -> ApiResult<Json<NamespaceDetailEntity>> {
    let actor = call.grant.actor();
    let found = app.db.peek(move |tx| {
        let place = visible(tx, actor, &IdOrPath::parse(&call.params.id))?;
        let place = place.ok_or_else(|| Error::not_found("Namespace"))?;
        let care: Option<HeadCounts> =
            tx.cared_for(actor, std::slice::from_ref(&place))?.remove(&place.id);
        Ok((place, care))
    });
    let (place, care) = found.await?;
    Ok(Json(NamespaceDetailEntity::new(&app.urls, actor, &place, care.as_ref())))
}

/// A namespace that the caller has a role in; what others have is as if it were not there.
fn visible(tx: &mut Tx<'_>, actor: Actor, id: &IdOrPath) -> kernel::Result<Option<Namespace>> {
    let found = match id {
        IdOrPath::Id(id) => tx.find_namespace(NamespaceId(*id))?,
        IdOrPath::Path(path) => tx.find_namespace_at(path)?,
    };
    let Some(found) = found else {
        // What is not there is looked for as long as what is hidden.
        let _absent = locate_group(tx, actor, &IdOrPath::Id(0));
        return Ok(None);
    };
    if found.kind == Kind::Group {
        match locate_group(tx, actor, &IdOrPath::Id(found.id.0)) {
            Ok(_) => {}
            Err(gone) if gone.is_gone() => return Ok(None),
            Err(cause) => return Err(cause),
        }
    }
    let level = level_in_namespace(tx, actor, found.id)?;
    Ok(Some(found).filter(|_| actor.admin || level > AccessLevel::NoAccess))
}

async fn exists(app: App, call: Call<SignedIn, ProbedPath>) -> ApiResult<Json<NamespaceExistence>> {
    let (actor, given) = (call.grant.actor(), call.params);
    app.rates.check_namespace(actor.user()?)?;
    let found = app.db.read(move |tx| {
        let free = NamespaceExistence { exists: false, suggests: Vec::new() };
        // What lies inside of something is asked for by that.
        if given.id.contains('/') {
            return Ok(free);
        }
        let parent = match given.parent_id {
            None => None,
            // What is inside a group is known only to those who see the group.
            Some(id) => match locate_group(tx, actor, &IdOrPath::Id(id.0)) {
                Ok(_) => Some(tx.namespace(id)?),
                Err(gone) if gone.is_gone() => return Ok(free),
                Err(cause) => return Err(cause),
            },
        };
        let full = match &parent {
            Some(parent) => format!("{}/{}", parent.full_path, given.id),
            None => given.id.clone(),
        };
        if !tx.is_path_taken(&full)? {
            return Ok(free);
        }
        let suggests = namespace::actions::suggestions(tx, &given.id, parent.as_ref())?;
        Ok(NamespaceExistence { exists: true, suggests })
    });
    Ok(Json(found.await?))
}
