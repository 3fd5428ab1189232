//! Discussions about lines of merge requests.

use kernel::ids::ProjectId;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// A merge request that adds `topic.txt`: its path, and the place of its first line.
async fn set_up(ada: &Person<'_>) -> (String, Value) {
    let project = ada.filled_project("Engine", "public").await;
    ada.commit_text(&project, "topic", "topic.txt", "one\ntwo\n").await;
    let made = ada.propose(&project, "topic", "Add it").await;
    let mut position = made["diff_refs"].clone();
    for (name, value) in [
        ("position_type", json!("text")),
        ("old_path", json!("topic.txt")),
        ("new_path", json!("topic.txt")),
        ("new_line", json!(1)),
    ] {
        position[name] = value;
    }
    (format!("/projects/{project}/merge_requests/1"), position)
}

#[actix_web::test]
async fn a_line_of_the_diff_is_spoken_about() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (request, position) = set_up(&ada).await;

    let sent = json!({ "body": "Why?", "position": position });
    let made = ada.post(&format!("{request}/discussions"), sent).await.created();

    let note = &made["notes"][0];
    assert_eq!((&note["type"], &note["resolvable"]), (&json!("DiffNote"), &json!(true)));
    assert_eq!(
        (&note["position"]["new_line"], &note["position"]["old_line"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(note["position"]["head_sha"], position["head_sha"]);
    assert_eq!((&note["position"]["line_range"], &note["commit_id"]), (&Value::Null, &Value::Null));
    let one = format!("{request}/discussions/{}", made["id"].as_str().unwrap_or_default());
    let reply = ada.post(&format!("{one}/notes"), json!({ "body": "So" })).await.created();
    assert_eq!((&reply["type"], &reply["position"]), (&json!("DiffNote"), &note["position"]));
    let id = request.split('/').nth(2).and_then(|id| id.parse().ok()).expect("an id");
    assert_eq!(app.unresolved_threads(ProjectId(id), 1), 1);
}

#[actix_web::test]
async fn several_lines_are_named_by_their_codes() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (request, mut position) = set_up(&ada).await;
    let end = |line: i64| json!({ "line_code": format!("abc_0_{line}"), "type": "new" });
    position["new_line"] = json!(2);
    position["line_range"] = json!({ "start": end(1), "end": end(2) });

    let sent = json!({ "body": "All this", "position": position });
    let made = ada.post(&format!("{request}/discussions"), sent).await.created();

    let range = &made["notes"][0]["position"]["line_range"];
    let told = json!({ "line_code": "abc_0_1", "type": "new", "old_line": null, "new_line": 1 });
    assert_eq!((&range["start"], &range["end"]["new_line"]), (&told, &json!(2)));
}

#[actix_web::test]
async fn what_the_diff_does_not_show_is_not_spoken_about() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (request, position) = set_up(&ada).await;
    let discussions = format!("{request}/discussions");
    let line =
        r#"400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}"#;
    let incomplete = r#"400 Bad request - Note {:position=>["is incomplete"]}"#;
    let none = "0000000000000000000000000000000000000001";

    for (name, value, told) in [
        ("new_line", json!(9), line),
        ("new_path", json!("other.txt"), line),
        ("head_sha", json!("topic"), line),
        ("head_sha", json!(none), line),
        ("new_line", Value::Null, incomplete),
    ] {
        let mut wrong = position.clone();
        wrong[name] = value;
        let sent = json!({ "body": "?", "position": wrong });
        ada.post(&discussions, sent).await.refused(400, json!({ "message": told }));
    }
    let mut wrong = position.clone();
    wrong.as_object_mut().expect("an object").remove("base_sha");
    let sent = json!({ "body": "?", "position": wrong });
    let missing = json!({ "error": "position[base_sha] is missing" });
    ada.post(&discussions, sent).await.refused(400, missing);
    assert_eq!(ada.get(&discussions).await.ok(), json!([]));
}

#[actix_web::test]
async fn a_thread_follows_its_line_and_is_settled_when_that_is_changed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (request, position) = set_up(&ada).await;
    let project: Value = request.split('/').nth(2).and_then(|id| id.parse().ok()).expect("an id");
    let settings = json!({ "resolve_outdated_diff_discussions": true });
    ada.put(&format!("/projects/{project}"), settings).await.ok();
    let discussions = format!("{request}/discussions");
    for line in [1, 2] {
        let mut position = position.clone();
        position["new_line"] = json!(line);
        let sent = json!({ "body": format!("Line {line}"), "position": position });
        ada.post(&discussions, sent).await.created();
    }

    let head = ada.commit_text(&project, "topic", "topic.txt", "zero\none\n2\n").await;

    let threads = ada.get(&discussions).await.ok();
    let threads: Vec<&Value> = threads
        .as_array()
        .into_iter()
        .flatten()
        .filter(|thread| thread["notes"][0]["type"] == "DiffNote")
        .collect();
    let kept = &threads[0]["notes"][0];
    assert_eq!(
        (&kept["position"]["new_line"], &kept["position"]["head_sha"]),
        (&json!(2), &json!(head))
    );
    assert_eq!(kept["resolved"], false);
    let gone = &threads[1]["notes"];
    assert_eq!((&gone[0]["position"]["new_line"], &gone[0]["resolved"]), (&json!(2), &json!(true)));
    assert_eq!(gone[0]["position"]["head_sha"], position["head_sha"]);
    assert_eq!(gone[1]["body"], "changed this line in a later version of the diff");
    let id = project.as_i64().expect("an id");
    assert_eq!(app.unresolved_threads(ProjectId(id), 1), 1);
}
