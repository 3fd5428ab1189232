//! Artifact types and their formats.

kernel::text_enum! {
    pub enum ArtifactFormat { Raw = "raw", Zip = "zip", Gzip = "gzip" }
}

kernel::text_enum! {
    /// The type of an artifact.
    pub enum ArtifactKind {
        Archive = "archive",
        Metadata = "metadata",
        Junit = "junit",
        Metrics = "metrics",
        MetricsReferee = "metrics_referee",
        NetworkReferee = "network_referee",
        Dotenv = "dotenv",
        Cobertura = "cobertura",
        Jacoco = "jacoco",
        ClusterApplications = "cluster_applications",
        Cyclonedx = "cyclonedx",
        Annotations = "annotations",
        Lsif = "lsif",
        Sast = "sast",
        SecretDetection = "secret_detection",
        DependencyScanning = "dependency_scanning",
        ContainerScanning = "container_scanning",
        ClusterImageScanning = "cluster_image_scanning",
        Dast = "dast",
        LicenseScanning = "license_scanning",
        Accessibility = "accessibility",
        Codequality = "codequality",
        Performance = "performance",
        BrowserPerformance = "browser_performance",
        LoadPerformance = "load_performance",
        Terraform = "terraform",
        Requirements = "requirements",
        RequirementsV2 = "requirements_v2",
        CoverageFuzzing = "coverage_fuzzing",
        ApiFuzzing = "api_fuzzing",
        Sarif = "sarif",
    }
}

impl ArtifactKind {
    /// The one format in which it comes.
    pub fn format(self) -> ArtifactFormat {
        match self {
            Self::Archive | Self::Lsif => ArtifactFormat::Zip,
            Self::Metadata
            | Self::Junit
            | Self::Metrics
            | Self::MetricsReferee
            | Self::NetworkReferee
            | Self::Dotenv
            | Self::Cobertura
            | Self::Jacoco
            | Self::ClusterApplications
            | Self::Cyclonedx
            | Self::Annotations => ArtifactFormat::Gzip,
            _ => ArtifactFormat::Raw,
        }
    }
}
