//! Statuses of nodes: the one that is counted here, and those that others report.

use db::Tx;
use geo::{
    credential::API_SCOPE,
    node::{GeoNode, NodeStore as _},
    request::SignedRequest,
    status::{
        NodeStatus, StatusStore as _,
        actions::{self, NodeWithStatus, ServerFacts, StatusReport},
    },
};
use kernel::{
    Error, Grant, Result,
    access::Administrate,
    ids::GeoNodeId,
    page::{Page, PageRequest},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use time::Duration;
use worker::Job;

use super::{ensure_primary, status_request::refresh_status};
use crate::{Forge, ports::geo::Applications, version::API_VERSION};

/// How old the stored status of this server's own node may be before it is counted again.
const FRESH: Duration = Duration::minutes(1);

/// Counts the status of the node as which the server runs, once a minute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CountStatus {}

impl Job for CountStatus {
    const KIND: &'static str = "geo.count_status";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

pub(crate) async fn count_status(forge: Forge, _: CountStatus) -> Result<()> {
    refresh(&forge, Freshness::Now).await.map(drop)
}

/// The permitted age of the node status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    Now,
    /// Of the last minute.
    Cached,
}

fn facts(forge: &Forge) -> ServerFacts {
    ServerFacts {
        identity: forge.node_identity.clone(),
        version: API_VERSION,
        revision: forge.revision.clone(),
        storage_configuration_digest: storage_digest(),
    }
}

/// Of the names of the places where repositories are kept: nodes that have the same ones can copy by them.
fn storage_digest() -> String {
    hex::encode(Sha256::digest(org::project::STORAGE))
}

fn own_node(tx: &mut Tx<'_>, facts: &ServerFacts) -> Result<Option<GeoNode>> {
    let with_other_end = match facts.identity.name.strip_suffix('/') {
        Some(bare) => bare.to_owned(),
        None => format!("{}/", facts.identity.name),
    };
    match tx.geo_node_named(&facts.identity.name)? {
        Some(node) => Ok(Some(node)),
        None => tx.geo_node_named(&with_other_end),
    }
}

/// Counts the status of this server's node again where the stored one is too old. A server that takes no writes keeps
/// nothing; it returns what it counted.
pub(super) async fn refresh(forge: &Forge, freshness: Freshness) -> Result<Option<NodeStatus>> {
    let facts = facts(forge);
    let is_primary = facts.identity.is_primary();
    let counted = forge.db.read(move |tx| {
        let Some(node) = own_node(tx, &facts)? else { return Ok(None) };
        let stored = tx.geo_status(node.id)?;
        let now = tx.now;
        let is_fresh = |status: &NodeStatus| status.updated_at.plus(FRESH) > now;
        if freshness == Freshness::Cached && is_primary && stored.as_ref().is_some_and(is_fresh) {
            return Ok(None);
        }
        let projects = org::statistics::count(tx)?.projects;
        actions::count(tx, &node, &facts, projects).map(Some)
    });
    let Some(status) = counted.await? else { return Ok(None) };
    if is_primary {
        let kept = status.clone();
        forge.db.write(move |tx| keep(tx, &kept)).await?;
    }
    Ok(Some(status))
}

/// Keeps what was counted, unless the node was removed meanwhile.
fn keep(tx: &mut Tx<'_>, status: &NodeStatus) -> Result<()> {
    match tx.geo_node(status.node_id)? {
        Some(_) => tx.save_geo_status(status),
        None => Ok(()),
    }
}

/// The statuses of a page of nodes, as they were last reported; that of this server's node is at most a minute old.
///
/// # Errors
/// As the use case refuses.
pub async fn list_statuses(
    forge: &Forge,
    grant: Grant<Administrate>,
    page: PageRequest,
) -> Result<Page<NodeWithStatus>> {
    let counted = refresh(forge, Freshness::Cached).await?;
    let applications = Applications { by: None };
    forge.db.read(move |tx| actions::list(tx, &grant, &applications, counted, page)).await
}

/// The status of one node; `is_anew` has that of this server's node counted again, and that of another one asked of it.
///
/// # Errors
/// As the use case refuses.
pub async fn status_of(
    forge: &Forge,
    grant: Grant<Administrate>,
    id: GeoNodeId,
    is_anew: bool,
) -> Result<NodeWithStatus> {
    let freshness = if is_anew { Freshness::Now } else { Freshness::Cached };
    let counted = refresh(forge, freshness).await?;
    if is_anew && forge.node_identity.is_primary() {
        refresh_status(forge, id).await?;
    }
    let applications = Applications { by: None };
    forge.db.read(move |tx| actions::read(tx, &grant, &applications, counted, id)).await
}

/// Keeps what a secondary reports of itself.
///
/// # Errors
/// 403 on a secondary; as the use case refuses; a node that speaks for another one is not heard.
pub async fn report(
    forge: &Forge,
    request: SignedRequest,
    of: GeoNodeId,
    report: StatusReport,
) -> Result<()> {
    ensure_primary(forge)?;
    request.ensure_scope(API_SCOPE)?;
    if request.node().id != of {
        return Err(Error::unauthenticated());
    }
    let kept = forge.db.write(move |tx| {
        // It may have been removed or promoted since its signature was checked.
        let node = tx.geo_node(of)?.ok_or_else(Error::unauthenticated)?;
        actions::report(tx, &node, report)
    });
    kept.await
}

/// Whether a node keeps repositories at places of the same names as this server.
pub fn has_same_storage(status: &NodeStatus) -> bool {
    status.storage_configuration_digest.as_deref() == Some(&storage_digest())
}
