//! Making, changing, repairing and removing nodes.

use std::sync::Arc;

use geo::{
    Identity,
    node::{
        GeoNode, NodeChange, NodeStore as _,
        actions::{self, NodeContext, NodeKeeper},
    },
};
use kernel::{Grant, Result, access::Administrate, ids::GeoNodeId};
use secrets::Vault;

use crate::{
    Forge,
    ports::geo::{Applications, Namespaces},
};

/// Values that a transaction needs.
#[derive(Clone)]
struct Parts {
    identity: Identity,
    vault: Arc<Vault>,
    applications: Applications,
}

impl Parts {
    fn of(forge: &Forge, keeper: Option<&Grant<Administrate>>) -> Self {
        Self {
            identity: forge.node_identity.clone(),
            vault: Arc::clone(&forge.vault),
            applications: Applications { by: keeper.and_then(|grant| grant.actor().id) },
        }
    }

    fn context(&self) -> NodeContext<'_, Applications, Namespaces> {
        NodeContext {
            identity: &self.identity,
            vault: &self.vault,
            applications: &self.applications,
            namespaces: &Namespaces,
        }
    }
}

/// Makes a node; a secondary gets its OAuth application.
///
/// # Errors
/// As the use case refuses.
pub async fn create(
    forge: &Forge,
    grant: Grant<Administrate>,
    change: NodeChange,
) -> Result<GeoNode> {
    let parts = Parts::of(forge, Some(&grant));
    let made = forge.db.write(move |tx| actions::create(tx, &grant, &parts.context(), change));
    made.await
}

/// Changes a node on the word of an administrator, or of the node itself.
///
/// # Errors
/// As the use case refuses.
pub async fn update(
    forge: &Forge,
    keeper: NodeKeeper,
    id: GeoNodeId,
    change: NodeChange,
) -> Result<GeoNode> {
    let administrator = match &keeper {
        NodeKeeper::Administrator(grant) => Some(grant),
        NodeKeeper::Node(_) => None,
    };
    let parts = Parts::of(forge, administrator);
    let changed =
        forge.db.write(move |tx| actions::update(tx, &keeper, &parts.context(), id, change));
    changed.await
}

/// Removes a node.
///
/// # Errors
/// As the use case refuses.
pub async fn remove(forge: &Forge, grant: Grant<Administrate>, id: GeoNodeId) -> Result<()> {
    let parts = Parts::of(forge, Some(&grant));
    forge.db.write(move |tx| actions::remove(tx, &grant, &parts.context(), id)).await
}

/// Makes the OAuth application of a node where it is missing.
///
/// # Errors
/// As the use case refuses.
pub async fn repair(forge: &Forge, grant: Grant<Administrate>, id: GeoNodeId) -> Result<GeoNode> {
    let parts = Parts::of(forge, Some(&grant));
    forge.db.write(move |tx| actions::repair(tx, &grant, &parts.context(), id)).await
}

/// Where people reach the primary; ends with a slash. `None` where it has no row yet.
///
/// # Errors
/// When the database cannot be read.
pub async fn primary_url(forge: &Forge) -> Result<Option<String>> {
    let primary = forge.db.peek(|tx| tx.primary_geo_node()).await?;
    Ok(primary.map(|node| node.url))
}
