//! Vulnerabilities and alerts.

mod alert_integrations;
mod alert_notes;
mod alerts;
pub(crate) mod findings;
mod incidents;
mod metric_images;
pub(crate) mod monitor;
mod reports;
mod vulnerabilities;
mod vulnerability_exports;
