//! The status of a node, asked of the node itself: what it answers, and how long the primary waits for it.

use std::time::Duration;

use geo::{
    credential::Statement,
    node::{GeoNode, NodeStore as _},
    request::SignedRequest,
    status::{
        NodeStatus,
        actions::{self, StatusReport},
    },
};
use kernel::{Error, Result, Ts, ids::GeoNodeId, task::spawn_blocking};
use outbound::{Exchange, FetchLimits};
use serde_json::{Map, Value, json};

use super::status::{Freshness, refresh};
use crate::Forge;

/// How long the signature of such a request counts.
const SIGNATURE_LIFE: time::Duration = time::Duration::minutes(1);
/// Bytes of an answer.
const LARGEST: u64 = 1 << 20;
const PATH: &str = "api/v4/geo/status";

/// What this server's node is like at this moment, in the form in which nodes report it.
///
/// # Errors
/// 401 for a signature of something else; 404 where this server is no node.
pub async fn own_report(forge: &Forge, request: &SignedRequest) -> Result<Value> {
    request.ensure_scope(geo::credential::API_SCOPE)?;
    let counted = refresh(forge, Freshness::Now).await?.ok_or_else(Error::missing)?;
    to_json(&counted)
}

/// Asks a secondary for its status and keeps it. Where it does not answer within `geo_status_timeout`, what it reported
/// last stays.
///
/// # Errors
/// When the database fails.
pub(super) async fn refresh_status(forge: &Forge, id: GeoNodeId) -> Result<()> {
    let node = forge.db.peek(move |tx| tx.geo_node(id)).await?;
    let Some(node) = node.filter(|node| !node.primary && node.enabled) else { return Ok(()) };
    let Some(report) = ask(forge, &node).await? else { return Ok(()) };
    let kept = forge.db.write(move |tx| match tx.geo_node(id)? {
        Some(node) => actions::report(tx, &node, report.clone()),
        None => Ok(()),
    });
    match kept.await {
        Err(failure) if !failure.is_ours() => {
            tracing::warn!(error = %failure, node = node.name, "a node tells what cannot be");
            Ok(())
        }
        kept => kept,
    }
}

async fn ask(forge: &Forge, node: &GeoNode) -> Result<Option<StatusReport>> {
    let (key, now) = (node.secret_key(&forge.vault)?, forge.db.clock().now());
    let signed = Statement::of_api().sign((&node.access_key, &key), SIGNATURE_LIFE, now)?;
    let url = format!("{}{PATH}", node.internal_url());
    let seconds = forge.settings().geo_status_timeout().unwrap_or(1);
    let time = Duration::from_secs(u64::try_from(seconds).unwrap_or(1));
    let client = forge.courier.rules.system().client();
    let asked = spawn_blocking(move || {
        let headers = [("Authorization".to_owned(), signed)];
        let limits = FetchLimits { bytes: LARGEST, time };
        let mut body = Vec::new();
        let request = Exchange { method: "GET", url: &url, headers: &headers, body: &[], limits };
        client.exchange(&request, &mut body).map(|head| (head, body))
    });
    Ok(match asked.await.map_err(Error::internal)? {
        Ok((head, body)) if head.is_success() => {
            serde_json::from_slice(&body).ok().map(|body| from_json(&body))
        }
        Ok((head, _)) => {
            tracing::info!(status = head.status, node = node.name, "a node refuses its status");
            None
        }
        Err(failure) => {
            tracing::info!(error = %failure, node = node.name, "a node does not tell its status");
            None
        }
    })
}

fn to_json(status: &NodeStatus) -> Result<Value> {
    let counters: Map<String, Value> =
        serde_json::from_str(&status.counters).map_err(Error::internal)?;
    let time = |at: Option<Ts>| at.map(Ts::iso);
    Ok(json!({
        "geo_node_id": status.node_id,
        "db_replication_lag_seconds": status.db_replication_lag_seconds,
        "last_event_id": status.last_event_id,
        "last_event_date": time(status.last_event_at),
        "cursor_last_event_id": status.cursor_last_event_id,
        "cursor_last_event_date": time(status.cursor_last_event_at),
        "last_successful_status_check_at": time(status.last_successful_status_check_at),
        "status_message": status.status_message,
        "version": status.version,
        "revision": status.revision,
        "storage_configuration_digest": status.storage_configuration_digest,
        "status": counters,
    }))
}

fn from_json(body: &Value) -> StatusReport {
    let number = |name: &str| body[name].as_i64();
    let time = |name: &str| body[name].as_str().and_then(Ts::parse);
    let text = |name: &str| body[name].as_str().map(str::to_owned);
    let counters = body["status"].as_object().into_iter().flatten();
    StatusReport {
        db_replication_lag_seconds: number("db_replication_lag_seconds"),
        last_event_id: number("last_event_id"),
        last_event_at: time("last_event_date"),
        cursor_last_event_id: number("cursor_last_event_id"),
        cursor_last_event_at: time("cursor_last_event_date"),
        last_successful_status_check_at: time("last_successful_status_check_at"),
        status_message: text("status_message"),
        version: text("version"),
        revision: text("revision"),
        storage_configuration_digest: text("storage_configuration_digest"),
        counters: counters
            .filter_map(|(name, value)| Some((name.clone(), value.as_i64()?)))
            .collect(),
    }
}
