//! The location of a vulnerability.

use graphql::{Failure, Value};
use security::vulnerability::{ReportType, Vulnerability};
use serde_json::Value as Json;

use crate::failure::failure_of;

/// A field of a location, as text.
fn text(location: &Json, name: &str) -> Value {
    match location.get(name) {
        None | Some(Json::Null) => Value::Null,
        Some(Json::String(text)) => text.as_str().into(),
        Some(other) => other.to_string().into(),
    }
}

fn dependency(location: &Json) -> Value {
    let Some(given) = location.get("dependency").filter(|given| given.is_object()) else {
        return Value::Null;
    };
    let package = given.get("package").filter(|package| package.is_object());
    let package = package.map_or(Value::Null, |package| {
        let fields = [("name", text(package, "name")), ("path", text(package, "path"))];
        Value::fields("VulnerablePackage", fields)
    });
    Value::fields(
        "VulnerableDependency",
        [("package", package), ("version", text(given, "version"))],
    )
}

fn kubernetes(location: &Json) -> Value {
    let Some(given) = location.get("kubernetes_resource").filter(|given| given.is_object()) else {
        return Value::Null;
    };
    let required = |name: &str| match text(given, name) {
        Value::Null => "".into(),
        value => value,
    };
    Value::fields(
        "VulnerableKubernetesResource",
        [
            ("containerName", text(given, "container_name")),
            ("kind", required("kind")),
            ("name", required("name")),
            ("namespace", required("namespace")),
        ],
    )
}

/// Where it was found; which fields there are depends on the kind of scanner. `blobs` is the path of pages of files.
pub(super) fn location(row: &Vulnerability, blobs: Option<String>) -> Result<Value, Failure> {
    let at = row.location_fields().map_err(failure_of)?;
    let file = at.get("file").and_then(Json::as_str);
    let line = at.get("start_line").map(|line| format!("#L{line}")).unwrap_or_default();
    let blob = blobs.zip(file).map(|(blobs, file)| format!("{blobs}/{file}{line}"));
    Ok(match row.report_type {
        ReportType::Sast => in_code("VulnerabilityLocationSast", &at, blob),
        ReportType::SecretDetection => in_code("VulnerabilityLocationSecretDetection", &at, blob),
        ReportType::DependencyScanning => Value::fields(
            "VulnerabilityLocationDependencyScanning",
            [
                ("blobPath", blob.into()),
                ("dependency", dependency(&at)),
                ("file", text(&at, "file")),
            ],
        ),
        ReportType::ContainerScanning => in_container(&at),
        ReportType::ClusterImageScanning => in_cluster(&at),
        ReportType::Dast | ReportType::ApiFuzzing => Value::fields(
            "VulnerabilityLocationDast",
            [
                ("hostname", text(&at, "hostname")),
                ("param", text(&at, "param")),
                ("path", text(&at, "path")),
                ("requestMethod", text(&at, "method")),
            ],
        ),
        ReportType::CoverageFuzzing => by_fuzzing(&at, blob),
    })
}

fn in_code(type_name: &'static str, at: &Json, blob: Option<String>) -> Value {
    Value::fields(
        type_name,
        [
            ("blobPath", blob.into()),
            ("endLine", text(at, "end_line")),
            ("file", text(at, "file")),
            ("startLine", text(at, "start_line")),
            ("vulnerableClass", text(at, "class")),
            ("vulnerableMethod", text(at, "method")),
        ],
    )
}

fn in_container(at: &Json) -> Value {
    Value::fields(
        "VulnerabilityLocationContainerScanning",
        [
            ("containerRepositoryUrl", Value::Null),
            ("dependency", dependency(at)),
            ("image", text(at, "image")),
            ("operatingSystem", text(at, "operating_system")),
        ],
    )
}

fn in_cluster(at: &Json) -> Value {
    Value::fields(
        "VulnerabilityLocationClusterImageScanning",
        [
            ("dependency", dependency(at)),
            ("image", text(at, "image")),
            ("kubernetesResource", kubernetes(at)),
            ("operatingSystem", text(at, "operating_system")),
        ],
    )
}

fn by_fuzzing(at: &Json, blob: Option<String>) -> Value {
    Value::fields(
        "VulnerabilityLocationCoverageFuzzing",
        [
            ("blobPath", blob.into()),
            ("crashAddress", text(at, "crash_address")),
            ("crashType", text(at, "crash_type")),
            ("endLine", text(at, "end_line")),
            ("file", text(at, "file")),
            ("stacktraceSnippet", text(at, "stacktrace_snippet")),
            ("startLine", text(at, "start_line")),
            ("vulnerableClass", text(at, "class")),
            ("vulnerableMethod", text(at, "method")),
        ],
    )
}
