//! Statuses in the database: the newest of each node.

use db::{OneOf as _, Tx, each_backend, error, schema::geo_node_statuses as statuses};
use diesel::prelude::*;
use kernel::{Result, ids::GeoNodeId};

use super::NodeStatus;

const NOUN: &str = "GeoNodeStatus";

pub trait StatusStore {
    fn geo_statuses(&mut self, ids: &[GeoNodeId]) -> Result<Vec<NodeStatus>>;
    fn geo_status(&mut self, id: GeoNodeId) -> Result<Option<NodeStatus>>;
    /// Puts a status in the place of the node's last one.
    fn save_geo_status(&mut self, status: &NodeStatus) -> Result<()>;
}

macro_rules! columns {
    ($status:expr) => {
        (
            statuses::db_replication_lag_seconds.eq($status.db_replication_lag_seconds),
            statuses::last_event_id.eq($status.last_event_id),
            statuses::last_event_at.eq($status.last_event_at),
            statuses::cursor_last_event_id.eq($status.cursor_last_event_id),
            statuses::cursor_last_event_at.eq($status.cursor_last_event_at),
            statuses::last_successful_status_check_at.eq($status.last_successful_status_check_at),
            statuses::status_message.eq(&$status.status_message),
            statuses::version.eq(&$status.version),
            statuses::revision.eq(&$status.revision),
            statuses::storage_configuration_digest.eq(&$status.storage_configuration_digest),
            statuses::counters.eq(&$status.counters),
            statuses::updated_at.eq($status.updated_at),
        )
    };
}

impl StatusStore for Tx<'_> {
    fn geo_statuses(&mut self, ids: &[GeoNodeId]) -> Result<Vec<NodeStatus>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = statuses::table.filter(statuses::node_id.one_of(ids)).order(statuses::node_id);
        each_backend!(self, |conn| rows
            .select(NodeStatus::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn geo_status(&mut self, id: GeoNodeId) -> Result<Option<NodeStatus>> {
        let row = statuses::table.find(id);
        each_backend!(self, |conn| row
            .select(NodeStatus::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn save_geo_status(&mut self, status: &NodeStatus) -> Result<()> {
        let row = (statuses::node_id.eq(status.node_id), columns!(status));
        let insert = diesel::insert_into(statuses::table)
            .values(row)
            .on_conflict(statuses::node_id)
            .do_update()
            .set(columns!(status));
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
