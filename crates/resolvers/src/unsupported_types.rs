//! Types of things that do not exist here, which clients ask for all the same.

use graphql::{Registry, Value};

use super::context::Context;

/// No object of these types is ever made, but for one without content.
const TYPES: &[&str] = &[
    "AgentConfiguration",
    "ApiFuzzingCiConfiguration",
    "ClusterAgent",
    "CodeCoverageActivity",
    "ComplianceFramework",
    "ContactStateCounts",
    "ContainerRepository",
    "ContainerRepositoryDetails",
    "CoverageFuzzingCorpus",
    "CurrentLicense",
    "CustomEmoji",
    "CustomerRelationsContact",
    "CustomerRelationsOrganization",
    "DastProfile",
    "DastScannerProfile",
    "DastSiteProfile",
    "DastSiteValidation",
    "DependencyProxyBlob",
    "DependencyProxyImageTtlGroupPolicy",
    "DependencyProxyManifest",
    "DependencyProxySetting",
    "DesignAtVersion",
    "DesignManagement",
    "DesignVersion",
    "DevopsAdoptionEnabledNamespace",
    "Dora",
    "DoraMetric",
    "ExternalAuditEventDestination",
    "GrafanaIntegration",
    "JiraImport",
    "LicenseHistoryEntry",
    "NetworkPolicy",
    "Package",
    "PackageDetailsType",
    "PackagesCleanupPolicy",
    "PathLock",
    "ProductAnalyticsDashboard",
    "Requirement",
    "RequirementStatesCount",
    "SastCiConfiguration",
    "ScanExecutionPolicy",
    "ScanResultPolicy",
    "SentryDetailedError",
    "SentryErrorCollection",
    "SubscriptionFutureEntry",
    "TerraformState",
    "TimeTrackingTimelogCategory",
    "TimelineEventTagType",
    "UsageTrendsMeasurement",
];

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(TYPES);
    registry
        .query()
        .plain("designManagement", |()| {
            let none = || Value::Null;
            Value::fields("DesignManagement", [("designAtVersion", none()), ("version", none())])
        })
        .none(&[
            "containerRepository",
            "currentLicense",
            "devopsAdoptionEnabledNamespaces",
            "gitpodEnabled",
            "licenseHistoryEntries",
            "package",
            "snippets",
            "subscriptionFutureEntries",
            "usageTrendsMeasurements",
        ]);
}
