//! Vulnerabilities, alerts and who may send them, and integrations of projects.

mod alert_integrations;
mod alerts;
mod dashboard;
mod integrations;
mod loaders;
mod vulnerability;
mod vulnerability_lists;

use graphql::Registry;

use super::context::Context;

pub use alerts::{AlertRecord, alert};
pub use vulnerability::{VulnerabilityRecord, vulnerability_of_id};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&[
        "AlertManagementAlertStatusCountsType",
        "AlertManagementHttpIntegration",
        "AlertManagementPayloadAlertField",
        "AlertManagementPayloadAlertMappingField",
        "AlertManagementPrometheusIntegration",
        "BaseService",
        "EscalationPolicyType",
        "IncidentManagementOncallSchedule",
        "PrometheusAlert",
        "SecurityScanners",
        "VulnerabilitiesCountByDay",
        "VulnerabilityContainerImage",
        "VulnerabilityDetail",
        "VulnerabilityExternalIssueLink",
        "VulnerabilityIdentifier",
        "VulnerabilityIssueLink",
        "VulnerabilityLink",
        "VulnerabilityLocationClusterImageScanning",
        "VulnerabilityLocationContainerScanning",
        "VulnerabilityLocationCoverageFuzzing",
        "VulnerabilityLocationDast",
        "VulnerabilityLocationDependencyScanning",
        "VulnerabilityLocationGeneric",
        "VulnerabilityLocationSast",
        "VulnerabilityLocationSecretDetection",
        "VulnerabilityPermissions",
        "VulnerabilityScanner",
        "VulnerabilitySeveritiesCount",
        "VulnerabilityStateTransitionType",
        "VulnerableDependency",
        "VulnerableKubernetesResource",
        "VulnerablePackage",
        "VulnerableProjectsByGrade",
    ]);
    vulnerability::register(registry);
    vulnerability_lists::register(registry);
    dashboard::register(registry);
    alerts::register(registry);
    alert_integrations::register(registry);
    integrations::register(registry);
}
