//! Alerts in the generic JSON form: fields by their documented names, or by the mapping of the integration.

use kernel::TextEnum as _;
use serde_json::{Map, Value};

use super::{
    AlertSeverity, NewAlert,
    parts::{canonical, end, flattened, moment, sha1_hex, shortened, text},
};
use crate::integration::{AlertField, Mappings};

const TITLE: usize = 200;
const DEFAULT_TITLE: &str = "New: Alert";
const DESCRIPTION: usize = 1_000;
const SHORT: usize = 100;
/// Signs of all hosts.
const HOSTS: usize = 255;

/// An alert as its payload tells it.
pub(super) fn read(payload: &Map<String, Value>, mappings: &Mappings) -> NewAlert {
    let fields = Fields { payload, mappings };
    let short = |field, most| fields.text(field).map(|text| shortened(text, most));
    NewAlert {
        title: short(AlertField::Title, TITLE).unwrap_or_else(|| DEFAULT_TITLE.to_owned()),
        description: short(AlertField::Description, DESCRIPTION),
        service: short(AlertField::Service, SHORT),
        monitoring_tool: short(AlertField::MonitoringTool, SHORT),
        hosts: hosts(fields.value(AlertField::Hosts)),
        severity: severity(fields.text(AlertField::Severity)),
        started_at: fields.value(AlertField::StartTime).and_then(moment),
        ended_at: fields.value(AlertField::EndTime).and_then(end),
        fingerprint: fingerprint(&fields),
        environment: short(AlertField::Environment, HOSTS),
        runbook: None,
        is_prometheus: false,
        payload: Value::Object(payload.clone()).to_string(),
    }
}

struct Fields<'p> {
    payload: &'p Map<String, Value>,
    mappings: &'p Mappings,
}

impl<'p> Fields<'p> {
    /// At its mapped place, else under its own name.
    fn value(&self, field: AlertField) -> Option<&'p Value> {
        let mapped = self.mappings.get(&field).and_then(|one| at(self.payload, &one.path));
        mapped
            .filter(|value| !value.is_null())
            .or_else(|| self.payload.get(field.as_str()).filter(|value| !value.is_null()))
    }

    fn text(&self, field: AlertField) -> Option<String> {
        self.value(field).and_then(text)
    }
}

fn at<'p>(payload: &'p Map<String, Value>, path: &[String]) -> Option<&'p Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(payload.get(first)?, |value, part| match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(all) => all.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// An unknown severity counts as critical.
fn severity(word: Option<String>) -> AlertSeverity {
    let word = word.map(|word| word.trim().to_lowercase());
    word.and_then(|word| AlertSeverity::find(&word)).unwrap_or(AlertSeverity::Critical)
}

/// As many as have room; the one that has not is cut.
fn hosts(value: Option<&Value>) -> Vec<String> {
    let mut left = HOSTS;
    let mut kept = Vec::new();
    for host in value.map(flattened).unwrap_or_default() {
        if left == 0 {
            break;
        }
        let host: String = host.chars().take(left).collect();
        left -= host.chars().count();
        kept.push(host);
    }
    kept
}

/// What differs between two reports of the same alert.
const APART: [AlertField; 3] = [AlertField::StartTime, AlertField::EndTime, AlertField::Hosts];

/// By what the monitor says, else by all else that it says.
fn fingerprint(fields: &Fields<'_>) -> Option<String> {
    let own = fields.value(AlertField::Fingerprint).map(flattened).unwrap_or_default().concat();
    if !own.is_empty() {
        return Some(sha1_hex(&own));
    }
    let mut rest = fields.payload.clone();
    rest.retain(|name, _| APART.iter().all(|field| field.as_str() != name));
    for mapping in APART.iter().filter_map(|field| fields.mappings.get(field)) {
        remove(&mut rest, &mapping.path);
    }
    if rest.is_empty() {
        return None;
    }
    let mut form = String::new();
    canonical(&Value::Object(rest), &mut form);
    Some(sha1_hex(&form))
}

/// Takes away what lies at a place.
fn remove(from: &mut Map<String, Value>, path: &[String]) {
    match path {
        [] => {}
        [last] => drop(from.remove(last)),
        [first, rest @ ..] => {
            if let Some(Value::Object(inner)) = from.get_mut(first) {
                remove(inner, rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{super::NewAlert, read};
    use crate::{
        alert::AlertSeverity,
        integration::{AlertField, Mapping, Mappings},
    };

    fn alert(payload: &Value) -> NewAlert {
        read(payload.as_object().unwrap(), &Mappings::new())
    }

    fn fingerprint(payload: &Value) -> Option<String> {
        alert(payload).fingerprint
    }

    #[test]
    fn nothing_has_to_be_said() {
        let none = alert(&json!({}));
        assert_eq!((none.title.as_str(), none.severity), ("New: Alert", AlertSeverity::Critical));
        assert_eq!((none.fingerprint, none.started_at, none.ended_at), (None, None, None));
        assert_eq!(alert(&json!({ "title": "", "severity": [] })).title, "New: Alert");
    }

    #[test]
    fn fields_have_an_end() {
        let long = "x".repeat(2_000);
        let alert = alert(&json!({
            "title": long, "description": long, "service": long, "monitoring_tool": long,
            "hosts": ["a".repeat(200), ["b".repeat(100), "c"]], "severity": "HIGH",
        }));
        assert_eq!((alert.title.len(), &alert.title[197..]), (200, "..."));
        assert_eq!(alert.description.map(|text| text.len()), Some(1_000));
        assert_eq!(alert.service.map(|text| text.len()), Some(100));
        assert_eq!(alert.monitoring_tool.map(|text| text.len()), Some(100));
        let lengths: Vec<usize> = alert.hosts.iter().map(String::len).collect();
        assert_eq!((lengths, alert.severity), (vec![200, 55], AlertSeverity::High));
    }

    #[test]
    fn the_same_alert_has_the_same_fingerprint() {
        let one = json!({ "title": "t", "x": { "a": 1, "b": 2 }, "start_time": "2020-01-01", "hosts": "h" });
        let same = json!({ "x": { "b": 2, "a": 1 }, "title": "t", "end_time": "2020-01-01", "hosts": ["i"] });
        assert_eq!(fingerprint(&one), fingerprint(&same));
        assert_ne!(fingerprint(&one), fingerprint(&json!({ "title": "u" })));
        assert_eq!(fingerprint(&json!({ "start_time": "now", "hosts": [] })), None);
        let given = fingerprint(&json!({ "fingerprint": "abc", "title": "t" }));
        assert_eq!(given.as_deref(), Some("a9993e364706816aba3e25717850c26c9cd0d89d"));
        assert_eq!(fingerprint(&json!({ "fingerprint": ["a", ["bc"]] })), given);
        assert_eq!(
            fingerprint(&json!({ "fingerprint": "" , "title": "t" })),
            fingerprint(&json!({ "fingerprint": "", "title": "t" }))
        );
    }

    #[test]
    fn mapped_places_are_looked_at_first() {
        let at =
            |parts: &[&str]| Mapping::at(parts.iter().map(|part| (*part).to_owned()).collect());
        let mappings = Mappings::from([
            (AlertField::Title, at(&["event", "names", "1"])),
            (AlertField::EndTime, at(&["event", "over"])),
            (AlertField::Severity, at(&["nowhere"])),
        ]);
        let payload = json!({
            "event": { "names": ["a", "b"], "over": "2020-01-01T00:00:00Z" }, "title": "plain", "severity": "low",
        });
        let read = read(payload.as_object().unwrap(), &mappings);
        assert_eq!((read.title.as_str(), read.severity), ("b", AlertSeverity::Low));
        assert!(read.ended_at.is_some());
        let open = json!({ "event": { "names": ["a", "b"] }, "title": "plain", "severity": "low" });
        let open = super::read(open.as_object().unwrap(), &mappings);
        assert_eq!((open.fingerprint, open.ended_at), (read.fingerprint, None));
    }
}
