//! Vulnerabilities and alerts.

pub mod alert;
pub mod alert_integration;
pub mod alert_note;
pub mod metric_image;
pub mod vulnerability;
pub mod vulnerability_export;
pub mod vulnerability_finding;
