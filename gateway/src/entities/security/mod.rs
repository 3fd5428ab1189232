//! Vulnerabilities and alerts.

pub mod alert;
pub mod alert_integration;
pub mod vulnerability;
pub mod vulnerability_export;
