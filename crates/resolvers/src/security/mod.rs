//! Vulnerabilities, alerts and who may send them, and integrations of projects.

mod alert_integrations;
mod alert_mutations;
pub mod alert_notes;
mod alerts;
mod dashboard;
mod figures;
mod integrations;
mod loaders;
mod location;
mod pipeline_findings;
mod pipeline_reports;
mod record;
mod vulnerability;
mod vulnerability_lists;
mod vulnerability_mutations;

use graphql::Registry;

use super::context::Context;

pub use record::{AlertRecord, alert};
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
    vulnerability_mutations::register(registry);
    vulnerability_lists::register(registry);
    dashboard::register(registry);
    alerts::register(registry);
    alert_mutations::register(registry);
    figures::register(registry);
    pipeline_findings::register(registry);
    pipeline_reports::register(registry);
    alert_integrations::register(registry);
    integrations::register(registry);
}
