//! Letters about pushes and pipelines.

use admin::integration::Values;
use serde_json::Value;

use super::text;

/// Addresses of one integration.
const MOST_ADDRESSES: usize = 750;
/// Bytes of a letter; the rest of its changes is left out.
const LONGEST: usize = 64 << 10;

/// A letter to all who are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Circular {
    pub(crate) subject: String,
    pub(crate) text: String,
}

/// To whom an integration writes.
pub(crate) fn recipients(values: &Values) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let words = text(values, "recipients").unwrap_or_default();
    for word in words.split(|sign: char| sign.is_whitespace() || sign == ',') {
        if word.contains('@') && !found.iter().any(|one| one == word) {
            found.push(word.to_owned());
        }
    }
    found.truncate(MOST_ADDRESSES);
    found
}

/// What is written of an event; nothing where its kind has no words for it. `changes` are those that a push brought.
pub(crate) fn circular(slug: &str, payload: &Value, changes: Option<&str>) -> Option<Circular> {
    match (slug, payload["object_kind"].as_str()?) {
        ("emails-on-push", "push" | "tag_push") => pushed(payload, changes),
        ("pipelines-email", "pipeline") => pipeline(payload),
        _ => None,
    }
}

/// Both ends of a push that changed a branch.
pub(crate) fn ends(payload: &Value) -> Option<(&str, &str)> {
    let end = |name: &str| payload[name].as_str().filter(|id| !is_none(id));
    Some((end("before")?, end("after")?)).filter(|_| payload["object_kind"] == "push")
}

fn is_none(id: &str) -> bool {
    id.bytes().all(|byte| byte == b'0')
}

fn pushed(payload: &Value, changes: Option<&str>) -> Option<Circular> {
    let name = payload["ref"].as_str()?;
    let (kind, name) = match name.strip_prefix("refs/tags/") {
        Some(name) => ("tag", name),
        None => ("branch", name.strip_prefix("refs/heads/").unwrap_or(name)),
    };
    let path = payload["project"]["path_with_namespace"].as_str()?;
    let home = payload["project"]["web_url"].as_str().unwrap_or_default();
    let user = payload["user_name"].as_str().unwrap_or("Somebody");
    let gone = |end: &str| payload[end].as_str().is_none_or(is_none);
    let commits = payload["commits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let title = commits.first().and_then(|one| one["title"].as_str()).unwrap_or_default();
    let count = payload["total_commits_count"].as_i64().unwrap_or_default();
    let (subject, done) = match (gone("before"), gone("after"), count) {
        (_, true, _) => (format!("Deleted {kind} {name}"), "deleted"),
        (true, false, _) => (format!("Pushed new {kind} {name}"), "pushed new"),
        (false, false, 1) => (title.to_owned(), "pushed to"),
        (false, false, count) => (format!("{count} commits: {title}"), "pushed to"),
    };
    let mut text = format!("{user} {done} {kind} {name} at {path}\n");
    if let Some((before, after)) = ends(payload) {
        text.push_str(&format!("\nView it: {home}/-/compare/{before}...{after}\n"));
    }
    if !commits.is_empty() {
        text.push_str("\nCommits:\n\n");
        commits.iter().for_each(|commit| text.push_str(&written(commit)));
    }
    if let Some(changes) = changes {
        text.push_str(&format!("\nChanges:\n\n{changes}"));
    }
    Some(Circular { subject: format!("[Git][{path}][{name}] {subject}"), text: shortened(text) })
}

fn written(commit: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let id: String = word(&commit["id"]).chars().take(8).collect();
    let (name, time) = (word(&commit["author"]["name"]), word(&commit["timestamp"]));
    let mut text = format!("{id} by {name} at {time}\n{}\n", word(&commit["message"]).trim_end());
    for (kind, sign) in [("added", '+'), ("modified", ' '), ("removed", '-')] {
        for path in commit[kind].as_array().map(Vec::as_slice).unwrap_or_default() {
            text.push_str(&format!("  {sign} {}\n", word(path)));
        }
    }
    text.push('\n');
    text
}

fn pipeline(payload: &Value) -> Option<Circular> {
    let attributes = &payload["object_attributes"];
    let path = payload["project"]["path_with_namespace"].as_str()?;
    let (branch, sha) = (attributes["ref"].as_str()?, attributes["sha"].as_str()?);
    let (word, done) = match attributes["status"].as_str()? {
        "success" => ("Successful", "passed"),
        "failed" => ("Failed", "failed"),
        _ => return None,
    };
    let short: String = sha.chars().take(8).collect();
    let url = attributes["url"].as_str().unwrap_or_default();
    let title = payload["commit"]["title"].as_str().unwrap_or_default();
    let user = payload["user"]["name"].as_str().unwrap_or("Somebody");
    let mut text = format!(
        "Pipeline #{} of {branch} at {path} {done}.\n\nTriggered by: {user}\nCommit: {short} {title}\n\
         Pipeline: {url}\n",
        attributes["id"]
    );
    let failed = |job: &&Value| job["status"] == "failed" && job["allow_failure"] != true;
    let jobs = payload["builds"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut failed = jobs.iter().filter(failed).peekable();
    if failed.peek().is_some() {
        text.push_str("\nFailed jobs:\n");
    }
    for job in failed {
        let name = job["name"].as_str().unwrap_or_default();
        let stage = job["stage"].as_str().unwrap_or_default();
        text.push_str(&format!("  {name} (stage {stage}, #{})\n", job["id"]));
    }
    let subject = format!("{path} | {word} pipeline for {branch} | {short}");
    Some(Circular { subject, text: shortened(text) })
}

fn shortened(mut text: String) -> String {
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push_str("\n\nThe rest is left out.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{circular, ends, recipients};

    fn push(before: &str, after: &str) -> Value {
        json!({
            "object_kind": "push", "before": before, "after": after, "ref": "refs/heads/main", "user_name": "Ada",
            "project": { "path_with_namespace": "a/b", "web_url": "http://f/a/b" },
            "total_commits_count": 1,
            "commits": [{ "id": "0123456789", "title": "One", "message": "One\n\nMore\n", "timestamp": "then",
                          "author": { "name": "Bob" }, "added": ["x"], "modified": [], "removed": ["y"] }],
        })
    }

    #[test]
    fn a_push_is_written_of_with_its_commits_and_changes() {
        let sent = circular("emails-on-push", &push("1a", "2b"), Some("@@ x\n")).unwrap();
        assert_eq!(sent.subject, "[Git][a/b][main] One");
        let expected = "Ada pushed to branch main at a/b\n\nView it: http://f/a/b/-/compare/1a...2b\n\nCommits:\n\n\
                        01234567 by Bob at then\nOne\n\nMore\n  + x\n  - y\n\n\nChanges:\n\n@@ x\n";
        assert_eq!(sent.text, expected);
        let gone = circular("emails-on-push", &push("1a", "00"), None).unwrap();
        assert_eq!(gone.subject, "[Git][a/b][main] Deleted branch main");
        assert_eq!((ends(&push("1a", "2b")), ends(&push("00", "2b"))), (Some(("1a", "2b")), None));
    }

    #[test]
    fn a_letter_has_an_end() {
        let long = "é".repeat(100_000);
        let sent = circular("emails-on-push", &push("1a", "2b"), Some(&long)).unwrap();
        assert!(sent.text.len() < 70_000 && sent.text.ends_with("left out.\n"));
    }

    #[test]
    fn everybody_is_written_to_once() {
        let Value::Object(values) = json!({ "recipients": "a@x b@x,a@x\nnobody" }) else { return };
        assert_eq!(recipients(&values), ["a@x", "b@x"]);
    }
}
