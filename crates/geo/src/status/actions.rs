//! Reading statuses, and taking the reports of secondaries.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    access::Administrate,
    ids::{ApplicationId, GeoNodeId},
    page::{Page, PageRequest},
};

use super::{Counters, NodeStatus, StatusStore as _, counts, is_counter, replication};
use crate::{
    event_log,
    node::{GeoNode, actions as nodes},
    ports::Applications,
    role::Identity,
};

const LONGEST_MESSAGE: usize = 10_000;
const LONGEST_WORD: usize = 255;

/// A status with the node that it is of.
#[derive(Clone, Debug)]
pub struct NodeWithStatus {
    pub node: GeoNode,
    pub status: NodeStatus,
    /// Whether nobody can sign in there by way of the primary.
    pub missing_oauth_application: bool,
}

/// The status that a secondary reports; unset fields are unknown.
#[derive(Clone, Debug, Default)]
pub struct StatusReport {
    pub db_replication_lag_seconds: Option<i64>,
    pub last_event_id: Option<i64>,
    pub last_event_at: Option<Ts>,
    pub cursor_last_event_id: Option<i64>,
    pub cursor_last_event_at: Option<Ts>,
    pub last_successful_status_check_at: Option<Ts>,
    pub status_message: Option<String>,
    pub version: Option<String>,
    pub revision: Option<String>,
    pub storage_configuration_digest: Option<String>,
    /// Counters by name; those that no status has are left out.
    pub counters: Vec<(String, i64)>,
}

/// The nodes of a page with their statuses; a node that has not reported yet is left out. A status that was counted
/// just now stands in the place of the kept one.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    applications: &impl Applications,
    counted: Option<NodeStatus>,
    page: PageRequest,
) -> Result<Page<NodeWithStatus>> {
    let also = counted.as_ref().map(|status| status.node_id);
    let found = nodes::list_reported(tx, grant, also, page)?;
    let items = with_statuses(tx, applications, counted, found.items)?;
    Ok(Page { items, total: found.total })
}

/// One node's status, as [`list`] shows it; 404 where it has not reported yet.
pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    applications: &impl Applications,
    counted: Option<NodeStatus>,
    id: GeoNodeId,
) -> Result<NodeWithStatus> {
    let node = nodes::read(tx, grant, id)?;
    with_statuses(tx, applications, counted, vec![node])?.pop().ok_or_else(Error::missing)
}

fn with_statuses(
    tx: &mut Tx<'_>,
    applications: &impl Applications,
    counted: Option<NodeStatus>,
    nodes: Vec<GeoNode>,
) -> Result<Vec<NodeWithStatus>> {
    let ids: Vec<GeoNodeId> = nodes.iter().map(|node| node.id).collect();
    let kept = tx.geo_statuses(&ids)?.into_iter().chain(counted);
    let statuses = kept.map(|status| (status.node_id, status));
    let mut statuses: HashMap<GeoNodeId, NodeStatus> = statuses.collect();
    let known = existing_applications(tx, applications, &nodes)?;
    let with_status = nodes.into_iter().filter_map(|node| {
        let status = statuses.remove(&node.id)?;
        let has_application = node.oauth_application_id.is_some_and(|id| known.contains(&id));
        let missing_oauth_application = !node.primary && !has_application;
        Some(NodeWithStatus { node, status, missing_oauth_application })
    });
    Ok(with_status.collect())
}

fn existing_applications(
    tx: &mut Tx<'_>,
    applications: &impl Applications,
    nodes: &[GeoNode],
) -> Result<Vec<ApplicationId>> {
    let ids: Vec<ApplicationId> =
        nodes.iter().filter_map(|node| node.oauth_application_id).collect();
    if ids.is_empty() { Ok(Vec::new()) } else { applications.existing(tx, &ids) }
}

/// Keeps what a secondary reports of itself.
///
/// # Errors
/// When it reports what cannot be, or is the primary, whose status is counted here.
pub fn report(tx: &mut Tx<'_>, node: &GeoNode, report: StatusReport) -> Result<()> {
    if node.primary {
        return Err(Error::invalid("geo_node_id", "is the primary, which does not report"));
    }
    report.check()?;
    if let Some(last) = report.cursor_last_event_id {
        event_log::advance(tx, node.id, last)?;
    }
    let mut counters = Counters::default();
    for (name, value) in &report.counters {
        counters.set(name, *value);
    }
    let status = NodeStatus {
        node_id: node.id,
        db_replication_lag_seconds: report.db_replication_lag_seconds,
        last_event_id: report.last_event_id,
        last_event_at: report.last_event_at,
        cursor_last_event_id: report.cursor_last_event_id,
        cursor_last_event_at: report.cursor_last_event_at,
        last_successful_status_check_at: report.last_successful_status_check_at,
        status_message: report.status_message,
        version: report.version,
        revision: report.revision,
        storage_configuration_digest: report.storage_configuration_digest,
        counters: counters.to_text()?,
        updated_at: tx.now,
    };
    tx.save_geo_status(&status)
}

impl StatusReport {
    fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        for (field, number) in [
            ("db_replication_lag_seconds", self.db_replication_lag_seconds),
            ("last_event_id", self.last_event_id),
            ("cursor_last_event_id", self.cursor_last_event_id),
        ] {
            faults.range(field, number, 0..=i64::MAX);
        }
        for (field, text, most) in [
            ("status_message", &self.status_message, LONGEST_MESSAGE),
            ("version", &self.version, LONGEST_WORD),
            ("revision", &self.revision, LONGEST_WORD),
            ("storage_configuration_digest", &self.storage_configuration_digest, LONGEST_WORD),
        ] {
            faults.at_most(field, text.as_deref(), most);
        }
        for (name, value) in self.counters.iter().filter(|(name, _)| is_counter(name)) {
            faults.range(name, Some(*value), 0..=i64::MAX);
        }
        faults.into_result()
    }
}

/// Facts of the server beside its rows.
#[derive(Clone, Debug)]
pub struct ServerFacts {
    pub identity: Identity,
    pub version: &'static str,
    pub revision: String,
    /// Of the names of the places where repositories are kept.
    pub storage_configuration_digest: String,
}

/// What is wrong with the role in which a server runs, beside its row and its database.
fn complaint(runs_as_primary: bool, is_primary: bool, is_standby: bool) -> Option<&'static str> {
    match (runs_as_primary, is_primary) {
        (true, false) => Some(ROW_OF_SECONDARY),
        (false, true) => Some(ROW_OF_PRIMARY),
        (true, true) => is_standby.then_some(NO_PRIMARY),
        (false, false) => (!is_standby).then_some(NO_SECONDARY),
    }
}

const NO_PRIMARY: &str =
    "The database is a standby and takes no writes, and this node is the primary";
const NO_SECONDARY: &str = "The database is not a standby of the primary's";
const ROW_OF_SECONDARY: &str =
    "The server runs as the primary, and its node is a secondary: check geo_role and the node";
const ROW_OF_PRIMARY: &str =
    "The server runs as a secondary, and its node is the primary: check geo_role and the node";

/// The status of the node as which this server runs, counted now.
///
/// # Errors
/// When the database cannot be read.
pub fn count(
    tx: &mut Tx<'_>,
    node: &GeoNode,
    facts: &ServerFacts,
    projects: i64,
) -> Result<NodeStatus> {
    let mut counters = counts::count(tx, facts.identity.role)?;
    counters.set("projects_count", projects);
    let standing = replication::standing(tx)?;
    let is_standby = standing.is_some_and(|standing| standing.is_standby);
    let complaint = complaint(facts.identity.is_primary(), node.primary, is_standby);
    let last = event_log::last_event(tx)?;
    // Only a secondary reads the log.
    let dealt_with = match facts.identity.is_primary() {
        true => None,
        false => event_log::cursor(tx, node.id)?.and_then(|cursor| cursor.last),
    };
    Ok(NodeStatus {
        db_replication_lag_seconds: standing.and_then(|standing| standing.lag_seconds),
        last_event_id: last.map(|event| event.id),
        last_event_at: last.map(|event| event.at),
        cursor_last_event_id: dealt_with.map(|event| event.id),
        cursor_last_event_at: dealt_with.map(|event| event.at),
        last_successful_status_check_at: Some(tx.now),
        status_message: complaint.map(str::to_owned),
        version: Some(facts.version.to_owned()),
        revision: Some(facts.revision.clone()),
        storage_configuration_digest: Some(facts.storage_configuration_digest.clone()),
        counters: counters.to_text()?,
        ..NodeStatus::of(node.id, tx.now)
    })
}
