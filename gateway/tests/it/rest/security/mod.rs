//! Vulnerabilities and alerts.

mod alert_integrations;
mod alerts;
mod findings;
mod incidents;
mod monitor;
mod reports;
mod vulnerabilities;
mod vulnerability_exports;
