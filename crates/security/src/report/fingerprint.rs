//! Fingerprints of findings that survive changes to the file around them.

use serde_json::Value;
use sha1::{Digest as _, Sha1};

use super::fields::{text, written};
use crate::vulnerability::{Identifier, ReportType};

pub(super) fn sha1_hex(text: &str) -> String {
    hex::encode(Sha1::digest(text))
}

pub(super) fn of_identifier(identifier: &Identifier) -> String {
    sha1_hex(&format!("{}:{}", identifier.kind, identifier.value))
}

/// Of the place where it was found: by what its scanner keeps track of, else by the place itself.
pub(super) fn of_place(kind: ReportType, finding: &Value) -> Option<String> {
    tracked(finding)
        .or_else(|| location_text(kind, finding.get("location")?))
        .map(|text| sha1_hex(&text))
}

/// Ways to keep track of a place, the better the later.
const ALGORITHMS: [&str; 4] = ["hash", "location", "scope_offset", "scope_offset_compressed"];

fn tracked(finding: &Value) -> Option<String> {
    let items = finding.get("tracking")?.get("items")?.as_array()?;
    let signatures = items.iter().filter_map(|item| item.get("signatures")?.as_array()).flatten();
    let known = signatures.filter_map(|signature| {
        let algorithm = text(signature, "algorithm")?;
        let rank = ALGORITHMS.iter().position(|known| *known == algorithm)?;
        Some((rank, text(signature, "value")?))
    });
    // The first of the best.
    let best = known.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some(best.1.to_owned())
}

/// The parts of a place that matter; `None` where the first of them is missing.
fn location_text(kind: ReportType, location: &Value) -> Option<String> {
    let package = || {
        let package = location.get("dependency").and_then(|one| one.get("package"));
        package.map_or_else(String::new, |package| written(package, "name"))
    };
    match kind {
        ReportType::Sast | ReportType::SecretDetection => {
            let (start, end) = (written(location, "start_line"), written(location, "end_line"));
            Some(format!("{}:{start}:{end}", text(location, "file")?))
        }
        ReportType::DependencyScanning => {
            Some(format!("{}:{}", text(location, "file")?, package()))
        }
        ReportType::ContainerScanning | ReportType::ClusterImageScanning => {
            let image =
                text(location, "default_branch_image").or_else(|| text(location, "image"))?;
            Some(format!("{}:{}", without_tag(image), package()))
        }
        ReportType::Dast | ReportType::ApiFuzzing => {
            let parts = ["path", "method", "param"].map(|part| written(location, part));
            parts.iter().any(|part| !part.is_empty()).then(|| parts.join(":"))
        }
        ReportType::CoverageFuzzing => {
            Some(format!("{}:{}", text(location, "crash_type")?, written(location, "crash_state")))
        }
    }
}

/// An image without what is newer with every build; the tag stays where it is a version.
fn without_tag(image: &str) -> &str {
    let name = image.rfind('/').map_or(0, |at| at + 1);
    match image[name..].find(':') {
        Some(at) if !is_version(&image[name + at + 1..]) => &image[..name + at],
        _ => image,
    }
}

/// Digests of commits may begin with a digit, too.
fn is_version(tag: &str) -> bool {
    let number = tag.strip_prefix('v').unwrap_or(tag);
    let is_digest = tag.len() >= 32 && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    number.starts_with(|sign: char| sign.is_ascii_digit()) && !is_digest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{location_text, of_place, sha1_hex, without_tag};
    use crate::vulnerability::ReportType;

    #[test]
    fn each_kind_has_its_parts() {
        use ReportType::{
            ApiFuzzing, ClusterImageScanning, ContainerScanning, CoverageFuzzing, Dast,
            DependencyScanning, Sast, SecretDetection,
        };
        let dependency = json!({ "package": { "name": "ssl" }, "version": "1.0" });
        for (kind, location, expected) in [
            (
                Sast,
                json!({ "file": "a.rb", "start_line": 1, "end_line": 2, "class": "X" }),
                Some("a.rb:1:2"),
            ),
            (SecretDetection, json!({ "file": "a.rb", "start_line": 1 }), Some("a.rb:1:")),
            (Sast, json!({ "start_line": 1 }), None),
            (
                DependencyScanning,
                json!({ "file": "Gemfile", "dependency": dependency }),
                Some("Gemfile:ssl"),
            ),
            (
                ContainerScanning,
                json!({ "image": "r.test:5000/a/b:deadbeef", "dependency": dependency, "operating_system": "x" }),
                Some("r.test:5000/a/b:ssl"),
            ),
            (
                ClusterImageScanning,
                json!({ "image": "a:1", "default_branch_image": "b:main", "dependency": dependency }),
                Some("b:ssl"),
            ),
            (
                Dast,
                json!({ "hostname": "h", "path": "/p", "method": "GET", "param": "q" }),
                Some("/p:GET:q"),
            ),
            (ApiFuzzing, json!({ "hostname": "h" }), None),
            (CoverageFuzzing, json!({ "crash_type": "Heap", "crash_state": "f" }), Some("Heap:f")),
        ] {
            assert_eq!(location_text(kind, &location).as_deref(), expected, "{location}");
        }
    }

    #[test]
    fn a_tag_stays_where_it_is_a_version() {
        for (image, name) in [
            ("alpine:3.12", "alpine:3.12"),
            ("alpine:v1", "alpine:v1"),
            ("alpine:latest", "alpine"),
            ("h:5000/alpine", "h:5000/alpine"),
            ("alpine", "alpine"),
            ("alpine:1234567890abcdef1234567890abcdef12345678", "alpine"),
        ] {
            assert_eq!(without_tag(image), name);
        }
    }

    #[test]
    fn a_signature_of_the_scanner_counts_before_the_place() {
        let signature =
            |algorithm: &str, value: &str| json!({ "algorithm": algorithm, "value": value });
        let finding = json!({
            "location": { "file": "a", "start_line": 1, "end_line": 1 },
            "tracking": { "items": [{ "signatures": [
                signature("hash", "h"), signature("scope_offset", "s"), signature("location", "l"), signature("new", "n"),
            ] }] },
        });
        assert_eq!(of_place(ReportType::Sast, &finding), Some(sha1_hex("s")));
        let plain = json!({ "location": { "file": "a", "start_line": 1, "end_line": 1 }, "tracking": { "items": [] } });
        assert_eq!(of_place(ReportType::Sast, &plain), Some(sha1_hex("a:1:1")));
    }
}
