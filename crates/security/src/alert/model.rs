//! An alert as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{AlertId, EnvironmentId, IssueId, ProjectId},
};

use super::AlertStatus;

kernel::text_enum! {
    pub enum AlertSeverity {
        Critical = "critical",
        High = "high",
        Medium = "medium",
        Low = "low",
        Info = "info",
        Unknown = "unknown",
    }
}

/// An alert as a monitoring tool reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAlert {
    pub title: String,
    pub description: Option<String>,
    pub service: Option<String>,
    pub monitoring_tool: Option<String>,
    pub hosts: Vec<String>,
    pub severity: AlertSeverity,
    /// `None` for now.
    pub started_at: Option<Ts>,
    /// When it was over; `None` while it is not.
    pub ended_at: Option<Ts>,
    /// The same for the same alert; `None` where each is another one.
    pub fingerprint: Option<String>,
    pub environment: Option<String>,
    pub runbook: Option<String>,
    pub is_prometheus: bool,
    /// All that was sent, as JSON.
    pub payload: String,
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::alerts, check_for_backend(db::AnyBackend))]
pub struct Alert {
    pub id: AlertId,
    pub project_id: ProjectId,
    /// Counts within the project.
    pub iid: i64,
    pub title: String,
    pub description: Option<String>,
    pub service: Option<String>,
    pub monitoring_tool: Option<String>,
    /// A JSON list.
    pub hosts: String,
    pub severity: AlertSeverity,
    pub status: AlertStatus,
    pub started_at: Ts,
    pub ended_at: Option<Ts>,
    /// How often it was reported.
    pub events: i64,
    pub fingerprint: Option<String>,
    pub environment: Option<String>,
    pub runbook: Option<String>,
    pub is_prometheus: bool,
    /// JSON.
    pub payload: String,
    /// The incident that was opened for it.
    pub issue_id: Option<IssueId>,
    pub created_at: Ts,
    pub updated_at: Ts,
    /// The environment that was named, if there was one.
    pub environment_id: Option<EnvironmentId>,
}

impl Alert {
    pub fn host_list(&self) -> Result<Vec<String>> {
        serde_json::from_str(&self.hosts).map_err(Error::internal)
    }
}
