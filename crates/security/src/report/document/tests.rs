//! Reports, good and bad.

use kernel::ids::ProjectId;
use serde_json::{Value, json};

use super::{FINDING_LIMIT, Report, read};
use crate::vulnerability::ReportType::{Dast, Sast};

fn report() -> Value {
    let tool =
        json!({ "id": "semgrep", "name": "Semgrep", "version": "1", "vendor": { "name": "V" } });
    json!({
        "version": "15.0.4",
        "vulnerabilities": [{
            "id": "1", "name": "Weak hash", "severity": "High",
            "scanner": { "id": "inner", "name": "Inner" },
            "identifiers": [{ "type": "cwe", "name": "CWE-79", "value": "79" }],
            "location": { "file": "a.rb", "start_line": 1 },
        }],
        "scan": {
            "analyzer": tool, "scanner": tool, "type": "sast", "status": "success",
            "start_time": "2022-01-01T00:00:00", "end_time": "2022-01-01T00:00:01",
        },
        "remediations": [],
    })
}

fn of(value: &Value) -> Result<Report, Vec<String>> {
    read(Sast, ProjectId(1), value.to_string().as_bytes()).map_err(|fault| fault.0)
}

fn faults(text: &[u8]) -> Vec<String> {
    read(Sast, ProjectId(1), text).expect_err("a refusal").0
}

#[test]
fn a_report_is_read_and_its_scanner_counts_before_those_of_findings() {
    let read = of(&report()).unwrap();
    assert_eq!(read.scanners, ["semgrep"]);
    let [found] = &read.findings[..] else { panic!("one finding") };
    assert_eq!((found.title.as_str(), found.scanner_name.as_str()), ("Weak hash", "Semgrep"));
    assert_eq!(found.scanner_vendor.as_deref(), Some("V"));
    assert!(read.warnings.is_empty());

    let mut older = report();
    older["version"] = json!("14.0.6");
    older.as_object_mut().unwrap().remove("scan");
    assert_eq!(of(&older).unwrap().scanners, ["inner"]);
}

#[test]
fn what_is_no_report_is_told() {
    for (text, sentence) in [
        (&b""[..], "JSON parsing failed"),
        (b"{", "JSON parsing failed"),
        (b"\xff\xfe", "JSON parsing failed"),
        (b"{} {}", "JSON parsing failed"),
        (b"[]", "Invalid report format"),
        (b"\"x\"", "Invalid report format"),
        (b"{\"vulnerabilities\": 1}", "sast security report parsing failed"),
    ] {
        assert_eq!(faults(text), [sentence], "{}", String::from_utf8_lossy(text));
    }
    let broken = b"{\"version\": \"15.0.0\", \"vulnerabilities\": [{\"name\": \"\xff\"}]}";
    assert_eq!(faults(broken), ["JSON parsing failed"]);
}

#[test]
fn every_version_but_those_known_is_refused() {
    for version in ["13.1.0", "16.0.0", "15", "15.0", "15.x.0", "", "15.0.4.1"] {
        let mut value = report();
        value["version"] = json!(version);
        let told = of(&value).unwrap_err();
        assert!(
            told[0].starts_with(&format!("Version {version} for report type sast is unsupported")),
            "{told:?}"
        );
    }
    let mut value = report();
    value["version"] = json!(15);
    assert_eq!(of(&value).unwrap_err(), ["property '/version' is not of type: string"]);
    value.as_object_mut().unwrap().remove("version");
    assert!(of(&value).unwrap_err()[0].starts_with("Report version not provided"));
}

#[test]
fn problems_are_told_with_their_place_and_nothing_is_kept() {
    for (place, change, sentence) in [
        (
            "/scan/scanner",
            json!({ "id": "x" }),
            "property '/scan/scanner' is missing required keys: name, version, vendor",
        ),
        ("/scan/type", json!("dast"), "property '/scan/type' is not: sast"),
        ("/scan/analyzer", json!(1), "property '/scan/analyzer' is not of type: object"),
        ("/vulnerabilities/0", json!(1), "property '/vulnerabilities/0' is not of type: object"),
        (
            "/vulnerabilities/0",
            json!({}),
            "property '/vulnerabilities/0' is missing required keys: identifiers, location",
        ),
        (
            "/vulnerabilities/0/name",
            json!([]),
            "property '/vulnerabilities/0/name' is not of type: string",
        ),
        (
            "/vulnerabilities/0/identifiers",
            json!([]),
            "property '/vulnerabilities/0/identifiers' has fewer than 1 items",
        ),
        (
            "/vulnerabilities/0/identifiers/0/value",
            json!(79),
            "property '/vulnerabilities/0/identifiers/0/value' is not of type: string",
        ),
    ] {
        let mut value = report();
        *value.pointer_mut(place).unwrap() = change;
        assert_eq!(of(&value).unwrap_err(), [sentence], "{place}");
    }
    let mut many = report();
    many["vulnerabilities"] = json!(vec![json!({}); 1_000]);
    assert_eq!(of(&many).unwrap_err().len(), 20);
}

#[test]
fn findings_have_an_id_since_version_15() {
    let mut value = report();
    value["vulnerabilities"][0].as_object_mut().unwrap().remove("id");
    let sentence = "property '/vulnerabilities/0' is missing required keys: id";
    assert_eq!(of(&value).unwrap_err(), [sentence]);
    value["version"] = json!("14.1.0");
    assert_eq!(of(&value).unwrap().findings.len(), 1);
    value["vulnerabilities"][0]["id"] = json!(1);
    let sentence = "property '/vulnerabilities/0/id' is not of type: string";
    assert_eq!(of(&value).unwrap_err(), [sentence]);
}

#[test]
fn a_scanner_of_interfaces_makes_two_kinds_of_reports() {
    let mut value = report();
    value["scan"]["type"] = json!("api_fuzzing");
    value["vulnerabilities"] = json!([]);
    assert!(read(Dast, ProjectId(1), value.to_string().as_bytes()).is_ok());
}

#[test]
fn zeros_are_left_out_with_a_warning() {
    let mut value = report();
    value["vulnerabilities"][0]["name"] = json!("a\0b");
    value["vulnerabilities"][0]["location"]["x\0"] = json!(1);
    let read = of(&value).unwrap();
    assert_eq!(read.findings[0].title, "ab");
    assert!(read.findings[0].location.get("x\0").is_none());
    assert_eq!(read.warnings, ["Escaped null characters were removed"]);
}

#[test]
fn what_has_no_identity_is_left_out_with_a_warning() {
    let mut value = report();
    value["vulnerabilities"][0]["location"] = json!({ "start_line": 1 });
    let read = of(&value).unwrap();
    assert!(read.findings.is_empty());
    assert_eq!(read.warnings, ["1 findings without an identity were left out"]);
}

#[test]
fn a_report_has_an_end_in_depth_number_and_size() {
    let deep = format!("{{\"vulnerabilities\": [{}", "[".repeat(100_000));
    assert_eq!(faults(deep.as_bytes()), ["JSON parsing failed"]);
    let mut many = report();
    let one = many["vulnerabilities"][0].clone();
    many["vulnerabilities"] = json!(vec![one; FINDING_LIMIT + 1]);
    let told = of(&many).unwrap_err();
    assert_eq!(told[0], "more than 20000 vulnerabilities");
    let mut wide = report();
    wide["vulnerabilities"][0]["details"] = json!(vec![0; 30_000]);
    assert_eq!(of(&wide).unwrap_err(), ["sast security report parsing failed"]);
    let endless = std::io::Read::chain(&b"{\"x\": \""[..], std::io::repeat(b'a'));
    assert_eq!(read(Sast, ProjectId(1), endless).unwrap_err().0, ["Report is too large"]);
}
