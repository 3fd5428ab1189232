//! A fact of the outbox, as subscriptions look at it.

use db::outbox::LoggedEvent;
use serde_json::Value;

/// Which facts subscriptions can ask for, by how their kinds begin.
const HEARD: &[&str] =
    &["epic.", "issue.", "job.", "jobs.", "merge_request.", "note.", "pipeline."];

/// A fact, with what was written down of it.
#[derive(Debug)]
pub struct Fact {
    kind: String,
    payload: Value,
}

impl Fact {
    /// Nothing where no subscription asks for facts of the kind.
    pub fn of(event: &LoggedEvent) -> Option<Self> {
        if !HEARD.iter().any(|start| event.kind.starts_with(start)) {
            return None;
        }
        let payload = serde_json::from_str(&event.payload).ok()?;
        Some(Self { kind: event.kind.clone(), payload })
    }

    pub fn is(&self, kind: &str) -> bool {
        self.kind == kind
    }

    /// A number at a path of names.
    pub fn number(&self, path: &[&str]) -> Option<i64> {
        path.iter().try_fold(&self.payload, |at, name| at.get(name))?.as_i64()
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.payload.get(name)?.as_str()
    }

    pub fn flag(&self, name: &str) -> bool {
        self.payload.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Whether one of these fields has another value now.
    pub fn changes(&self, fields: &[&str]) -> bool {
        let changes = self.payload.get("changes").and_then(Value::as_array);
        changes.into_iter().flatten().any(|change| {
            change.get("field").and_then(Value::as_str).is_some_and(|field| fields.contains(&field))
        })
    }

    /// Whether it tells where a job went.
    pub fn moves_job(&self, id: i64) -> bool {
        if self.is("job.changed") {
            return self.number(&["job"]) == Some(id);
        }
        let jobs = self.payload.get("jobs").and_then(Value::as_array);
        self.is("jobs.moved")
            && jobs.into_iter().flatten().any(|job| job["job"].as_i64() == Some(id))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Fact;

    #[test]
    fn a_fact_tells_what_changed_of_what() {
        let payload = json!({
            "event": "issue_updated",
            "issue": { "id": 7 },
            "changes": [{ "field": "title", "before": "a", "after": "b" }],
        });
        let fact = Fact { kind: "issue.updated".to_owned(), payload };
        assert!(fact.is("issue.updated") && fact.number(&["issue", "id"]) == Some(7));
        assert!(fact.changes(&["title"]) && !fact.changes(&["description"]));
    }

    #[test]
    fn jobs_are_moved_alone_and_together() {
        let payload = json!({ "jobs": [{ "job": 1 }, { "job": 2 }] });
        let moved = Fact { kind: "jobs.moved".to_owned(), payload };
        assert!(moved.moves_job(2) && !moved.moves_job(3));
        let payload = json!({ "job": 3 });
        let changed = Fact { kind: "job.changed".to_owned(), payload };
        assert!(changed.moves_job(3) && !changed.moves_job(2));
    }
}
