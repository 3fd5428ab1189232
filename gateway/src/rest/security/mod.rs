//! Vulnerabilities and alerts.

use crate::route::RouteRow;

pub mod alert_integrations;
pub mod alerts;
pub mod vulnerabilities;
pub mod vulnerability_exports;

pub(super) const TABLES: &[&[RouteRow]] = &[
    alert_integrations::ROUTES,
    alerts::ROUTES,
    vulnerabilities::ROUTES,
    vulnerabilities::single::ROUTES,
    vulnerability_exports::ROUTES,
    vulnerability_exports::files::ROUTES,
];
