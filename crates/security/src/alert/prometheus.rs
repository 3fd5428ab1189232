//! Alerts of Prometheus, several in one call.

use kernel::Ts;
use serde_json::{Map, Value};

use super::{
    AlertSeverity, NewAlert,
    parts::{moment, sha1_hex, shortened, text},
};

const TITLE: usize = 200;
const DESCRIPTION: usize = 1_000;
const SHORT: usize = 255;
const URL: usize = 2_048;

/// The names that every call has.
const NAMES: [&str; 9] = [
    "version",
    "groupKey",
    "status",
    "receiver",
    "groupLabels",
    "commonLabels",
    "commonAnnotations",
    "externalURL",
    "alerts",
];

/// Whether a payload is one of Prometheus.
pub(super) fn is_call(payload: &Map<String, Value>) -> bool {
    let is_version = payload.get("version").and_then(text).is_some_and(|version| version == "4");
    NAMES.iter().all(|name| payload.contains_key(*name)) && is_version
}

/// Up to so many alerts of a call. What is none is passed over.
pub(super) fn read(payload: &Map<String, Value>, most: usize) -> Vec<NewAlert> {
    let all = payload.get("alerts").and_then(Value::as_array);
    all.into_iter().flatten().take(most).filter_map(alert).collect()
}

fn alert(value: &Value) -> Option<NewAlert> {
    let label = |name: &str| value.get("labels")?.get(name).and_then(text);
    let annotation = |name: &str| value.get("annotations")?.get(name).and_then(text);
    let title =
        annotation("title").or_else(|| annotation("summary")).or_else(|| label("alertname"))?;
    let sent = value.get("startsAt")?;
    let started_at = moment(sent)?;
    let query = value.get("generatorURL").and_then(text).and_then(|url| query(&url));
    let fingerprint =
        format!("{}/{title}/{}", sent.as_str().unwrap_or_default(), query.unwrap_or_default());
    let is_over = value.get("status").and_then(Value::as_str) == Some("resolved");
    Some(NewAlert {
        fingerprint: Some(sha1_hex(&fingerprint)),
        title: shortened(title, TITLE),
        description: annotation("description").map(|text| shortened(text, DESCRIPTION)),
        service: None,
        monitoring_tool: Some("Prometheus".to_owned()),
        hosts: Vec::new(),
        severity: severity(label("severity")),
        started_at: Some(started_at),
        ended_at: is_over.then(|| ended_at(value, started_at)),
        environment: label("gitlab_environment_name").map(|text| shortened(text, SHORT)),
        runbook: annotation("runbook").map(|text| shortened(text, URL)),
        is_prometheus: true,
        payload: value.to_string(),
    })
}

/// The end that is told; a monitor that knows none tells a moment before the beginning.
fn ended_at(value: &Value, started_at: Ts) -> Ts {
    value.get("endsAt").and_then(moment).filter(|end| *end >= started_at).unwrap_or(started_at)
}

fn severity(word: Option<String>) -> AlertSeverity {
    match word.unwrap_or_default().trim().to_lowercase().as_str() {
        "high" | "s2" | "p2" | "major" | "page" => AlertSeverity::High,
        "medium" | "s3" | "p3" | "error" | "alert" => AlertSeverity::Medium,
        "low" | "s4" | "p4" | "warn" | "warning" | "minor" => AlertSeverity::Low,
        "info" | "s5" | "p5" | "debug" | "information" | "notice" => AlertSeverity::Info,
        _ => AlertSeverity::Critical,
    }
}

/// What was asked that led to the alert.
fn query(url: &str) -> Option<String> {
    let (_, pairs) = url.split_once('?')?;
    let pairs = pairs.split('#').next().unwrap_or_default();
    pairs.split('&').find_map(|pair| pair.strip_prefix("g0.expr=")).map(decoded)
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = match first {
            b'%' => behind.get(..2).and_then(|code| hex::decode(code).ok()),
            _ => None,
        };
        match (first, code) {
            (_, Some(code)) => {
                bytes.extend(code);
                rest = &behind[2..];
            }
            (b'+', None) => {
                bytes.push(b' ');
                rest = behind;
            }
            (byte, None) => {
                bytes.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{alert, is_call, query, read, severity};
    use crate::alert::{AlertSeverity, parts::sha1_hex};

    fn firing() -> Value {
        json!({
            "status": "firing", "labels": { "alertname": "Down", "severity": "page", "gitlab_environment_name": "prod" },
            "annotations": { "summary": "It is down", "description": "really", "runbook": "https://r.test" },
            "startsAt": "2020-02-03T04:05:06.123Z", "endsAt": "0001-01-01T00:00:00Z",
            "generatorURL": "http://p.test/graph?g0.expr=up+%3D%3D+0&g0.tab=1",
        })
    }

    #[test]
    fn an_alert_is_read_by_its_labels_and_annotations() {
        let read = alert(&firing()).unwrap();
        assert_eq!((read.title.as_str(), read.severity), ("It is down", AlertSeverity::High));
        assert_eq!(
            (read.environment.as_deref(), read.runbook.as_deref()),
            (Some("prod"), Some("https://r.test"))
        );
        assert_eq!(read.monitoring_tool.as_deref(), Some("Prometheus"));
        assert_eq!(read.ended_at, None);
        let known = sha1_hex("2020-02-03T04:05:06.123Z/It is down/up == 0");
        assert_eq!(read.fingerprint, Some(known));
        let mut over = firing();
        over["status"] = json!("resolved");
        assert_eq!(alert(&over).unwrap().ended_at, read.started_at);
        over["endsAt"] = json!("2020-02-03T05:00:00Z");
        assert!(alert(&over).unwrap().ended_at > read.started_at);
    }

    #[test]
    fn what_has_no_name_or_beginning_is_none() {
        for odd in [json!({}), json!(1), json!({ "labels": { "alertname": "x" } })] {
            assert_eq!(alert(&odd), None, "{odd}");
        }
        let mut nameless = firing();
        (nameless["annotations"], nameless["labels"]) = (json!([]), json!("x"));
        assert_eq!(alert(&nameless), None);
    }

    #[test]
    fn a_call_is_known_by_its_names() {
        let mut call = json!({
            "version": "4", "groupKey": "k", "status": "firing", "receiver": "r", "groupLabels": {}, "commonLabels": {},
            "commonAnnotations": {}, "externalURL": "u", "alerts": [firing(), {}, firing()],
        });
        assert!(is_call(call.as_object().unwrap()));
        assert_eq!(read(call.as_object().unwrap(), 100).len(), 2);
        assert_eq!(read(call.as_object().unwrap(), 2).len(), 1);
        call["version"] = json!("3");
        assert!(!is_call(call.as_object().unwrap()));
        assert!(!is_call(json!({ "alerts": [] }).as_object().unwrap()));
    }

    #[test]
    fn severities_have_many_names() {
        for (word, expected) in [
            ("S1", AlertSeverity::Critical),
            ("p2", AlertSeverity::High),
            ("error", AlertSeverity::Medium),
            ("Warning", AlertSeverity::Low),
            ("notice", AlertSeverity::Info),
            ("odd", AlertSeverity::Critical),
        ] {
            assert_eq!(severity(Some(word.to_owned())), expected, "{word}");
        }
    }

    #[test]
    fn odd_addresses_have_no_query() {
        assert_eq!(query("http://p.test/graph"), None);
        assert_eq!(query("?g0.expr=%zz%4"), Some("%zz%4".to_owned()));
        assert_eq!(query("x?a=1&g0.expr=%C3%A4#f"), Some("ä".to_owned()));
    }
}
