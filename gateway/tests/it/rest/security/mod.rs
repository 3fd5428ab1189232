//! Vulnerabilities and alerts.

mod alert_integrations;
mod alert_notes;
mod alerts;
mod auditors;
pub(crate) mod findings;
mod incidents;
pub(crate) mod metric_images;
pub(crate) mod monitor;
pub(crate) mod pipeline_findings;
pub(crate) mod reports;
mod vulnerabilities;
mod vulnerability_exports;
