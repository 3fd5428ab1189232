//! Vulnerabilities and alerts.

mod alert_integrations;
mod alert_notes;
mod alerts;
mod findings;
mod incidents;
mod metric_images;
mod monitor;
mod reports;
mod vulnerabilities;
mod vulnerability_exports;
