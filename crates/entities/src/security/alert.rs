//! An alert.

use kernel::{Error, Result, Ts};
use security::alert::{Alert, AlertSeverity, AlertStatus};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct AlertEntity {
    pub iid: i64,
    pub project_id: i64,
    pub title: String,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub severity: AlertSeverity,
    #[schema(value_type = String)]
    pub status: AlertStatus,
    pub service: Option<String>,
    pub monitoring_tool: Option<String>,
    pub hosts: Vec<String>,
    /// Name of the environment, as given in the alert payload.
    pub environment_name: Option<String>,
    /// ID of the environment that had this name when the alert came.
    pub environment_id: Option<i64>,
    pub runbook: Option<String>,
    #[schema(value_type = String)]
    pub started_at: Ts,
    #[schema(value_type = Option<String>)]
    pub ended_at: Option<Ts>,
    /// How often the alert was reported.
    pub event_count: i64,
    /// ID of the incident that was opened for the alert.
    pub issue_id: Option<i64>,
    /// Payload sent by the monitoring tool.
    #[schema(value_type = Object)]
    pub details: Value,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
}

impl AlertEntity {
    pub fn new(alert: Alert) -> Result<Self> {
        let hosts = alert.host_list()?;
        Ok(Self {
            iid: alert.iid,
            project_id: alert.project_id.0,
            title: alert.title,
            description: alert.description,
            severity: alert.severity,
            status: alert.status,
            service: alert.service,
            monitoring_tool: alert.monitoring_tool,
            hosts,
            environment_name: alert.environment,
            environment_id: alert.environment_id.map(|id| id.0),
            runbook: alert.runbook,
            started_at: alert.started_at,
            ended_at: alert.ended_at,
            event_count: alert.events,
            issue_id: alert.issue_id.map(|id| id.0),
            details: serde_json::from_str(&alert.payload).map_err(Error::internal)?,
            created_at: alert.created_at,
            updated_at: alert.updated_at,
        })
    }
}
