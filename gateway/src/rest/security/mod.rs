//! Vulnerabilities and alerts.

use crate::route::RouteRow;

pub mod alert_integrations;
pub mod alerts;
pub mod metric_images;
pub mod vulnerabilities;
pub mod vulnerability_exports;
pub mod vulnerability_findings;

pub(super) const TABLES: &[&[RouteRow]] = &[
    alert_integrations::ROUTES,
    alerts::ROUTES,
    metric_images::ROUTES,
    vulnerabilities::ROUTES,
    vulnerabilities::single::ROUTES,
    vulnerability_exports::ROUTES,
    vulnerability_exports::files::ROUTES,
    vulnerability_findings::ROUTES,
];
