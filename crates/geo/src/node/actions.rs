//! Reading, making, changing, repairing and removing nodes.

use db::{Conn, Tx};
use kernel::{
    Error, Faults, Grant, Result,
    access::Administrate,
    audit::{AuditPlace, AuditRecord},
    ids::{GeoNodeId, NamespaceId},
    page::{Page, PageRequest},
};
use secrets::Vault;

use super::{GeoNode, KeyPair, NodeChange, NodeStore as _};
use crate::{
    event_log,
    ports::{Applications, Namespaces},
    request::SignedRequest,
    role::Identity,
};

/// Files that a new node copies at once.
const FILES: i64 = 10;
const REPOSITORIES: i64 = 25;
const VERIFICATIONS: i64 = 100;
const CONTAINER_REPOSITORIES: i64 = 10;
/// Days until a new node checks a repository again.
const REVERIFICATION: i64 = 7;
/// Groups that one node may be limited to.
const MOST_NAMESPACES: usize = 1_000;

/// What audit events tell of.
const WHAT: &str = "geo_node";
/// Letters of the name of an application.
const LONGEST_TITLE: usize = 255;

const LOCKED_OUT: &str =
    "Current node must be the primary node or you will be locking yourself out";
const NO_STANDBY: &str = "A secondary node needs PostgreSQL: its rows come by streaming replication, which this \
     installation's SQLite database does not have";

/// The context of node changes.
#[derive(Debug)]
pub struct NodeContext<'a, A, N> {
    pub identity: &'a Identity,
    pub vault: &'a Vault,
    pub applications: &'a A,
    pub namespaces: &'a N,
}

/// The caller of a node change: an administrator, or the node itself.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one is made for each request")]
pub enum NodeKeeper {
    Administrator(Grant<Administrate>),
    Node(SignedRequest),
}

impl NodeKeeper {
    fn keeps(&self, node: &GeoNode) -> bool {
        match self {
            Self::Administrator(_) => true,
            Self::Node(request) => request.node().id == node.id,
        }
    }
}

pub fn list(tx: &mut Tx<'_>, _: &Grant<Administrate>, page: PageRequest) -> Result<Page<GeoNode>> {
    tx.geo_nodes(page)
}

/// A page of those that have a status, kept or `counted` just now.
pub(crate) fn list_reported(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    counted: Option<GeoNodeId>,
    page: PageRequest,
) -> Result<Page<GeoNode>> {
    tx.reported_geo_nodes(counted, page)
}

pub fn read(tx: &mut Tx<'_>, _: &Grant<Administrate>, id: GeoNodeId) -> Result<GeoNode> {
    find(tx, id)
}

fn find(tx: &mut Tx<'_>, id: GeoNodeId) -> Result<GeoNode> {
    tx.geo_node(id)?.ok_or_else(Error::missing)
}

/// Begins a change of nodes. The rows of a secondary are copies: only the primary changes them.
fn begin(tx: &mut Tx<'_>, identity: &Identity) -> Result<()> {
    if identity.is_primary() { tx.lock_geo_nodes() } else { Err(Error::forbidden()) }
}

pub fn create<A: Applications, N: Namespaces>(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    context: &NodeContext<'_, A, N>,
    mut change: NodeChange,
) -> Result<GeoNode> {
    begin(tx, context.identity)?;
    let chosen = change.selective_sync_namespace_ids.take();
    let usual = GeoNode {
        id: GeoNodeId(0),
        name: String::new(),
        url: String::new(),
        internal_url: None,
        primary: false,
        enabled: true,
        files_max_capacity: FILES,
        repos_max_capacity: REPOSITORIES,
        verification_max_capacity: VERIFICATIONS,
        container_repositories_max_capacity: CONTAINER_REPOSITORIES,
        minimum_reverification_interval: REVERIFICATION,
        selective_sync_type: None,
        selective_sync_shards: "[]".to_owned(),
        sync_object_storage: false,
        access_key: String::new(),
        sealed: String::new(),
        oauth_application_id: None,
        created_at: tx.now,
        updated_at: tx.now,
    };
    let mut new = checked(tx, context, change, usual)?;
    let chosen = existing(tx, context.namespaces, chosen.unwrap_or_default())?;
    new.seal(context.vault, KeyPair::generate())?;
    follow_application(tx, context.applications, &mut new)?;
    let made = tx.insert_geo_node(&new)?;
    tx.set_geo_namespaces(made.id, &chosen)?;
    if !made.primary {
        // What happens from now on waits for it.
        event_log::open(tx, made.id)?;
    }
    record(tx, &made, AuditRecord::addition("geo_node_created", AuditPlace::Instance, WHAT));
    Ok(made)
}

pub fn update<A: Applications, N: Namespaces>(
    tx: &mut Tx<'_>,
    keeper: &NodeKeeper,
    context: &NodeContext<'_, A, N>,
    id: GeoNodeId,
    mut change: NodeChange,
) -> Result<GeoNode> {
    begin(tx, context.identity)?;
    let old = find(tx, id)?;
    if !keeper.keeps(&old) {
        return Err(Error::unauthenticated());
    }
    let chosen = change.selective_sync_namespace_ids.take();
    let mut new = checked(tx, context, change, GeoNode { updated_at: tx.now, ..old.clone() })?;
    let chosen = chosen.map(|ids| existing(tx, context.namespaces, ids)).transpose()?;
    follow_application(tx, context.applications, &mut new)?;
    tx.save_geo_node(&new)?;
    match (old.primary, new.primary) {
        (false, true) => event_log::close(tx, id)?,
        (true, false) => event_log::open(tx, id)?,
        _ => {}
    }
    let mut has_other_namespaces = false;
    if let Some(chosen) = chosen {
        let known = tx.geo_namespaces(&[id])?.remove(&id).unwrap_or_default();
        has_other_namespaces = known != chosen;
        tx.set_geo_namespaces(id, &chosen)?;
    }
    record_change(tx, &old, &new, has_other_namespaces);
    Ok(new)
}

/// Writes down that a node is otherwise than before: its name and state with both values, anything else as settings.
fn record_change(tx: &mut Tx<'_>, old: &GeoNode, new: &GeoNode, has_other_namespaces: bool) {
    const NAME: &str = "geo_node_updated";
    for (what, from, to) in [
        ("name", old.name.clone(), new.name.clone()),
        ("primary", old.primary.to_string(), new.primary.to_string()),
        ("enabled", old.enabled.to_string(), new.enabled.to_string()),
    ] {
        if from != to {
            let change = AuditRecord::change(NAME, AuditPlace::Instance, what);
            record(tx, new, change.values(from, to));
        }
    }
    let renamed = GeoNode {
        name: new.name.clone(),
        primary: new.primary,
        enabled: new.enabled,
        oauth_application_id: new.oauth_application_id,
        updated_at: new.updated_at,
        ..old.clone()
    };
    if renamed != *new || has_other_namespaces {
        record(tx, new, AuditRecord::change(NAME, AuditPlace::Instance, "settings"));
    }
}

fn record(tx: &mut Tx<'_>, node: &GeoNode, action: AuditRecord) {
    tx.mention(action.target("GeoNode", node.id.0, &node.name));
}

/// Removes a node, its status and its OAuth application.
pub fn remove<A: Applications, N: Namespaces>(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    context: &NodeContext<'_, A, N>,
    id: GeoNodeId,
) -> Result<()> {
    begin(tx, context.identity)?;
    let old = find(tx, id)?;
    if let Some(application) = old.oauth_application_id {
        context.applications.delete(tx, application)?;
    }
    event_log::close(tx, id)?;
    tx.delete_geo_node(id)?;
    record(tx, &old, AuditRecord::removal("geo_node_deleted", AuditPlace::Instance, WHAT));
    Ok(())
}

/// Makes the OAuth application of a secondary where it is missing.
pub fn repair<A: Applications, N: Namespaces>(
    tx: &mut Tx<'_>,
    _: &Grant<Administrate>,
    context: &NodeContext<'_, A, N>,
    id: GeoNodeId,
) -> Result<GeoNode> {
    begin(tx, context.identity)?;
    let old = find(tx, id)?;
    if old.primary || has_application(tx, context.applications, &old)? {
        return Ok(old);
    }
    let mut new = GeoNode { oauth_application_id: None, updated_at: tx.now, ..old };
    follow_application(tx, context.applications, &mut new)?;
    tx.set_geo_application(id, new.oauth_application_id)?;
    Ok(new)
}

fn has_application(
    tx: &mut Tx<'_>,
    applications: &impl Applications,
    node: &GeoNode,
) -> Result<bool> {
    match node.oauth_application_id {
        Some(id) => Ok(!applications.existing(tx, &[id])?.is_empty()),
        None => Ok(false),
    }
}

/// A secondary has an application that sends people back to it; a primary has none.
fn follow_application(
    tx: &mut Tx<'_>,
    applications: &impl Applications,
    node: &mut GeoNode,
) -> Result<()> {
    let is_there = has_application(tx, applications, node)?;
    let name: String = format!("Geo node: {}", node.name).chars().take(LONGEST_TITLE).collect();
    node.oauth_application_id = match node.oauth_application_id.filter(|_| is_there) {
        Some(id) if node.primary => {
            applications.delete(tx, id)?;
            None
        }
        Some(id) => {
            applications.update(tx, id, &name, &node.callback())?;
            Some(id)
        }
        None if node.primary => None,
        None => Some(applications.create(tx, &name, &node.callback())?),
    };
    Ok(())
}

/// The node as it is to be, if it may be so.
fn checked<A, N>(
    tx: &mut Tx<'_>,
    context: &NodeContext<'_, A, N>,
    change: NodeChange,
    old: GeoNode,
) -> Result<GeoNode> {
    let mut faults = Faults::default();
    let was_secondary = old.id != GeoNodeId(0) && !old.primary;
    let new = change.applied(old, &mut faults);
    if tx.geo_node_named(&new.name)?.is_some_and(|other| other.id != new.id) {
        faults.add("name", "has already been taken");
    }
    if new.primary && tx.primary_geo_node()?.is_some_and(|other| other.id != new.id) {
        faults.add("primary", "node already exists");
    }
    if !new.primary && context.identity.has_name(&new.name) {
        faults.add("base", LOCKED_OUT);
    }
    // One that is there already was made on PostgreSQL, and may still be switched off.
    if !new.primary && !was_secondary && !has_standbys(tx) {
        faults.add("base", NO_STANDBY);
    }
    faults.into_result()?;
    Ok(new)
}

/// Whether the rows can be copied as they change.
fn has_standbys(tx: &Tx<'_>) -> bool {
    matches!(tx.conn, Conn::Postgres(_))
}

fn existing(
    tx: &mut Tx<'_>,
    namespaces: &impl Namespaces,
    mut ids: Vec<NamespaceId>,
) -> Result<Vec<NamespaceId>> {
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > MOST_NAMESPACES {
        let text = format!("is too long (maximum is {MOST_NAMESPACES})");
        return Err(Error::invalid("selective_sync_namespace_ids", text));
    }
    if ids.is_empty() || namespaces.existing(tx, &ids)?.len() == ids.len() {
        return Ok(ids);
    }
    Err(Error::not_found("Namespace"))
}
