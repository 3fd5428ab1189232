//! Nodes, and what they report. The resource has two names; what differs is in the JSON alone.

use std::collections::BTreeSet;

use entities::geo::{
    failure::GeoFailureEntity,
    node::{GeoNodeEntity, NodePath, NodeView},
    status::{GeoNodeStatusEntity, StatusView},
};
use forge::geo as actions;
use geo::{
    node::{
        GeoNode, NodeStore as _,
        actions::{self as node_actions, NodeKeeper},
    },
    policy::ChangeGeoNode,
    status::actions::NodeWithStatus,
};
use kernel::{
    Error, Grant, Standing,
    access::{Administrate, Instance},
    ids::{GeoNodeId, NamespaceId},
    page::Page,
};
use org::namespace::{Namespace, by_ids::by_ids};

use super::node_params::{NodeAddress, NodeFields, OneNode};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    param_enums, params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

/// What both tables of routes say of themselves.
pub const RESOURCE: &str = "Geo nodes";

routes! { "Geo nodes" at "/geo_nodes";
    GET    ""                  => list          : Administrate,
    POST   ""                  => create        : Administrate,
    GET    "/status"           => list_statuses : Administrate,
    // What a widely used client calls the same.
    GET    "/statuses"         => list_statuses : Administrate,
    GET    "/current/failures" => failures      : Administrate,
    GET    "/{id}"             => show          : Administrate,
    PUT    "/{id}"             => update        : ChangeGeoNode,
    DELETE "/{id}"             => remove        : Administrate,
    POST   "/{id}/repair"      => repair        : Administrate,
    GET    "/{id}/status"      => show_status   : Administrate,
}

/// The later name of the resource.
pub mod sites {
    use geo::policy::ChangeGeoNode;
    use kernel::access::Administrate;

    use super::{create, failures, list, list_statuses, remove, repair, show, show_status, update};
    use crate::routes;

    routes! { "Geo nodes" at "/geo_sites";
        GET    ""                  => list          : Administrate,
        POST   ""                  => create        : Administrate,
        GET    "/status"           => list_statuses : Administrate,
        GET    "/statuses"         => list_statuses : Administrate,
        GET    "/current/failures" => failures      : Administrate,
        GET    "/{id}"             => show          : Administrate,
        PUT    "/{id}"             => update        : ChangeGeoNode,
        DELETE "/{id}"             => remove        : Administrate,
        POST   "/{id}/repair"      => repair        : Administrate,
        GET    "/{id}/status"      => show_status   : Administrate,
    }
}

/// The JSON of nodes, with the groups that they are limited to.
async fn entities_of(
    app: &App,
    path: NodePath,
    nodes: Vec<GeoNode>,
) -> ApiResult<Vec<GeoNodeEntity>> {
    let ids: Vec<GeoNodeId> = nodes.iter().map(|node| node.id).collect();
    let chosen = app.db.read(move |tx| tx.geo_namespaces(&ids)).await?;
    let view = NodeView { urls: &app.urls, identity: &app.node_identity, path };
    let entity = |node: &GeoNode| {
        GeoNodeEntity::new(view, node, chosen.get(&node.id).map_or(&[], Vec::as_slice))
    };
    Ok(nodes.iter().map(entity).collect())
}

async fn entity_of(app: &App, path: NodePath, node: GeoNode) -> ApiResult<GeoNodeEntity> {
    let mut shown = entities_of(app, path, vec![node]).await?;
    shown.pop().ok_or_else(|| Error::missing().into())
}

/// The JSON of statuses, with the groups that their nodes are limited to. A list does not name places of storage.
async fn status_entities(
    app: &App,
    path: NodePath,
    statuses: Vec<NodeWithStatus>,
    names_storage: bool,
) -> ApiResult<Vec<GeoNodeStatusEntity>> {
    let ids: Vec<GeoNodeId> = statuses.iter().map(|one| one.node.id).collect();
    let read = app.db.read(move |tx| {
        let chosen = tx.geo_namespaces(&ids)?;
        let all: BTreeSet<NamespaceId> = chosen.values().flatten().copied().collect();
        Ok((chosen, by_ids(tx, &Vec::from_iter(all))?))
    });
    let (chosen, namespaces) = read.await?;
    let node = NodeView { urls: &app.urls, identity: &app.node_identity, path };
    let now = app.db.clock().now();
    let entity = |one: &NodeWithStatus| {
        let chosen = chosen.get(&one.node.id).map_or(&[][..], Vec::as_slice);
        let is_chosen = |namespace: &&Namespace| chosen.contains(&namespace.id);
        let view = StatusView {
            node,
            namespaces: namespaces.iter().filter(is_chosen).collect(),
            has_same_storage: actions::has_same_storage(&one.status),
            names_storage,
            now,
        };
        GeoNodeStatusEntity::new(&view, one)
    };
    Ok(statuses.iter().map(entity).collect())
}

async fn list(app: App, call: Call<Administrate, OnlyPage>) -> ApiResult<PagedList<GeoNodeEntity>> {
    let (path, grant, page) = (NodePath::of(call.path()), call.grant, call.page);
    let found = app.db.read(move |tx| node_actions::list(tx, &grant, page)).await?;
    let items = entities_of(&app, path, found.items).await?;
    Ok(PagedList(Page { items, total: found.total }))
}

async fn show(app: App, call: Call<Administrate, OneNode>) -> ApiResult<Json<GeoNodeEntity>> {
    let (path, grant, id) = (NodePath::of(call.path()), call.grant, call.params.id);
    let node = app.db.read(move |tx| node_actions::read(tx, &grant, id)).await?;
    Ok(Json(entity_of(&app, path, node).await?))
}

async fn create(
    app: App,
    call: Call<Administrate, (NodeAddress, NodeFields)>,
) -> ApiResult<Created<GeoNodeEntity>> {
    let path = NodePath::of(call.path());
    let (address, fields) = call.params;
    let made = actions::create(&app, call.grant, fields.into_change(address)).await?;
    Ok(Created(entity_of(&app, path, made).await?))
}

async fn update(
    app: App,
    call: Call<ChangeGeoNode, (OneNode, (NodeAddress, NodeFields))>,
) -> ApiResult<Json<GeoNodeEntity>> {
    let path = NodePath::of(call.path());
    let keeper = keeper(&call)?;
    let (one, (address, fields)) = call.params;
    let changed = actions::update(&app, keeper, one.id, fields.into_change(address)).await?;
    Ok(Json(entity_of(&app, path, changed).await?))
}

/// A node that signed the call, else an administrator.
fn keeper<P>(call: &Call<ChangeGeoNode, P>) -> ApiResult<NodeKeeper> {
    if let Some(request) = call.signed_request() {
        return Ok(NodeKeeper::Node(request));
    }
    let who = Standing::in_instance(call.caller.actor());
    Ok(NodeKeeper::Administrator(Grant::<Administrate>::check(&who, Instance)?))
}

async fn remove(app: App, call: Call<Administrate, OneNode>) -> ApiResult<NoContent> {
    actions::remove(&app, call.grant, call.params.id).await?;
    Ok(NoContent)
}

async fn repair(app: App, call: Call<Administrate, OneNode>) -> ApiResult<Json<GeoNodeEntity>> {
    let path = NodePath::of(call.path());
    let node = actions::repair(&app, call.grant, call.params.id).await?;
    Ok(Json(entity_of(&app, path, node).await?))
}

async fn list_statuses(
    app: App,
    call: Call<Administrate, OnlyPage>,
) -> ApiResult<PagedList<GeoNodeStatusEntity>> {
    let path = NodePath::of(call.path());
    let found = actions::list_statuses(&app, call.grant, call.page).await?;
    let items = status_entities(&app, path, found.items, false).await?;
    Ok(PagedList(Page { items, total: found.total }))
}

params! {
    pub struct OneStatus {
        id: GeoNodeId,
        /// Whether the status is renewed: that of the node that answers is counted, another node is asked for its own.
        /// What is known is at most a minute old, or as old as the last report, otherwise.
        refresh: Option<bool>,
    }
}

async fn show_status(
    app: App,
    call: Call<Administrate, OneStatus>,
) -> ApiResult<Json<GeoNodeStatusEntity>> {
    let path = NodePath::of(call.path());
    let OneStatus { id, refresh } = call.params;
    let found = actions::status_of(&app, call.grant, id, refresh.unwrap_or_default()).await?;
    let mut shown = status_entities(&app, path, vec![found], true).await?;
    Ok(Json(shown.pop().ok_or_else(Error::missing)?))
}

kernel::text_enum! {
    /// Of what a copy failed.
    pub enum FailedKind { Repository = "repository", Wiki = "wiki" }
}

kernel::text_enum! {
    /// How a copy failed.
    pub enum FailureType {
        Sync = "sync", ChecksumMismatch = "checksum_mismatch", Verification = "verification",
    }
}

param_enums! { FailedKind, FailureType }

params! {
    pub struct ListFailures: paged {
        /// Failures of repositories or of wikis alone. Default: both.
        r#type: Option<FailedKind>,
        /// How the copies failed. Default: `sync`.
        failure_type: Option<FailureType>,
    }
}

async fn failures(
    app: App,
    _: Call<Administrate, ListFailures>,
) -> ApiResult<PagedList<GeoFailureEntity>> {
    // A primary copies nothing, and a secondary keeps no record of single copies yet.
    match app.node_identity.is_primary() {
        true => Err(Error::not_found("Geo node").into()),
        false => Err(Error::unavailable("no record of single copies is kept").into()),
    }
}
