//! A status as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{Ts, ids::GeoNodeId};
use time::Duration;

use super::Counters;

/// A node that has not reported for so long is not healthy.
pub const STALE_AFTER: Duration = Duration::minutes(10);
const HEALTHY: &str = "Healthy";
const UNHEALTHY: &str = "Unhealthy";

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::geo_node_statuses, check_for_backend(db::AnyBackend))]
pub struct NodeStatus {
    pub node_id: GeoNodeId,
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
    pub counters: String,
    pub updated_at: Ts,
}

impl NodeStatus {
    /// The status of a node of which nothing is known yet.
    pub fn of(node_id: GeoNodeId, now: Ts) -> Self {
        Self {
            node_id,
            db_replication_lag_seconds: None,
            last_event_id: None,
            last_event_at: None,
            cursor_last_event_id: None,
            cursor_last_event_at: None,
            last_successful_status_check_at: None,
            status_message: None,
            version: None,
            revision: None,
            storage_configuration_digest: None,
            counters: "{}".to_owned(),
            updated_at: now,
        }
    }

    pub fn counters(&self) -> Counters {
        Counters::parse(&self.counters)
    }

    fn is_stale(&self, now: Ts) -> bool {
        self.updated_at.plus(STALE_AFTER) <= now
    }

    /// What the node complains of.
    fn complaint(&self) -> Option<&str> {
        let message = self.status_message.as_deref().map(str::trim);
        message.filter(|message| !message.is_empty() && *message != HEALTHY)
    }

    pub fn is_healthy(&self, now: Ts) -> bool {
        !self.is_stale(now) && self.complaint().is_none()
    }

    /// `Healthy`, or what is wrong.
    pub fn health(&self, now: Ts) -> String {
        match self.complaint() {
            _ if self.is_stale(now) => {
                let minutes = STALE_AFTER.whole_minutes();
                format!("Status has not been updated in the past {minutes} minutes")
            }
            Some(complaint) => complaint.to_owned(),
            None => HEALTHY.to_owned(),
        }
    }

    pub fn health_status(&self, now: Ts) -> &'static str {
        if self.is_healthy(now) { HEALTHY } else { UNHEALTHY }
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Ts, ids::GeoNodeId};
    use time::Duration;

    use super::NodeStatus;

    #[test]
    fn a_node_is_healthy_while_it_reports_and_complains_of_nothing() {
        let start = Ts(0);
        let mut status = NodeStatus::of(GeoNodeId(1), start);
        let later = start.plus(Duration::seconds(599));
        for message in [None, Some(""), Some("Healthy")] {
            status.status_message = message.map(str::to_owned);
            assert!(status.is_healthy(later));
            assert_eq!(
                (&*status.health(later), status.health_status(later)),
                ("Healthy", "Healthy")
            );
        }
        status.status_message = Some("The disk is full".to_owned());
        assert_eq!(status.health(later), "The disk is full");
        assert_eq!(status.health_status(later), "Unhealthy");
    }

    #[test]
    fn a_node_that_is_silent_for_ten_minutes_is_not_healthy() {
        let status = NodeStatus::of(GeoNodeId(1), Ts(0));
        let later = Ts(0).plus(Duration::minutes(10));
        assert!(!status.is_healthy(later));
        let text = "Status has not been updated in the past 10 minutes";
        assert_eq!((&*status.health(later), status.health_status(later)), (text, "Unhealthy"));
    }
}
