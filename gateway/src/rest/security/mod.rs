//! Vulnerabilities and alerts.

use crate::resources;

resources! {
    alert_integrations,
    alerts,
    metric_images,
    vulnerabilities { self, single },
    vulnerability_exports { self, files },
    vulnerability_findings,
}
