//! What becomes of the longest and largest values in archives of projects, and that nothing beyond them is taken.

use actix_web::http::Method;
use diesel::{RunQueryDsl as _, sql_query};
use kernel::Visibility::Private;
use serde_json::{Value, json};

use super::{
    archive_contents::snapshot,
    archive_failures::{with_fields, with_lines},
    archives::{count_nothing, exported, imported},
};
use crate::support::{Person, TestApp, uploads::send_file};

const LARGEST: i64 = 2_147_483_647;
const LAST: &str = "issues/2147483647";

/// The lists that [`fill`] fills.
const LISTS: [&str; 9] = [
    "labels",
    "milestones",
    "issues?order_by=created_at&sort=asc",
    "issues/2147483647/notes?sort=asc",
    "repository/commits/main/comments",
    "protected_branches",
    "protected_tags",
    "boards",
    "approval_rules",
];

fn signs(count: usize) -> String {
    "ü".repeat(count)
}

/// Runs a statement.
pub(super) fn run(app: &TestApp, sql: &'static str) {
    app.write(move |tx| {
        db::each_backend!(tx, |conn| sql_query(sql).execute(conn).map_err(db::error("Row")))?;
        Ok(())
    });
}

/// Gives a project all that it can have, as long and large as it can be.
async fn fill(root: &Person<'_>, project: &Value) {
    let (base, title, text) = (format!("/projects/{project}"), signs(255), signs(1_048_576));
    let link = json!({ "name": title, "url": format!("https://files.test/{}", "x".repeat(2029)),
                       "filepath": format!("/{}", "x".repeat(127)), "link_type": "package" });
    let pattern = format!("{}*", "r".repeat(254));
    for (path, new) in [
        (
            "labels".to_owned(),
            json!({ "name": title, "color": "#abcdef", "description": signs(524_288),
                    "priority": LARGEST }),
        ),
        (
            "milestones".to_owned(),
            json!({ "title": title, "description": text, "start_date": "2000-01-01",
                    "due_date": "2999-12-31" }),
        ),
        (
            "issues".to_owned(),
            json!({ "iid": LARGEST, "title": title, "description": text, "labels": title,
                    "weight": LARGEST, "due_date": "2999-12-31" }),
        ),
        ("issues".to_owned(), json!({ "title": "Behind it", "weight": LARGEST })),
        ("issues".to_owned(), json!({ "title": "Behind that" })),
        (format!("{LAST}/notes"), json!({ "body": signs(1_000_000) })),
        (format!("{LAST}/time_estimate"), json!({ "duration": "596523h" })),
        (format!("{LAST}/add_spent_time"), json!({ "duration": "596523h", "summary": title })),
        ("repository/commits/main/comments".to_owned(), json!({ "note": signs(1_000_000) })),
        (
            "releases".to_owned(),
            json!({ "tag_name": "v1", "ref": "main", "name": title,
                    "description": signs(1_000_000), "assets": { "links": [link] } }),
        ),
        ("protected_branches".to_owned(), json!({ "name": pattern })),
        ("protected_tags".to_owned(), json!({ "name": pattern })),
        ("boards".to_owned(), json!({ "name": title })),
        ("approval_rules".to_owned(), json!({ "name": signs(1024), "approvals_required": 100 })),
    ] {
        let made = root.post(&format!("{base}/{path}"), new).await;
        assert!(made.status < 300, "{path}: {}", made.body);
    }
    let boards = root.get(&format!("{base}/boards")).await.each("id");
    root.put(&format!("{base}/boards/{}", boards[0]), json!({ "weight": LARGEST })).await.ok();
}

#[actix_web::test]
async fn what_the_api_takes_its_archive_gives_back() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "public").await;
    fill(&root, &project).await;
    let before = snapshot(&root, &project, &LISTS).await;
    let releases = root.get(&format!("/projects/{project}/releases")).await.ok();

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!((&done["import_status"], &done["import_error"]), (&json!("finished"), &Value::Null));
    // The texts are too long to be printed.
    for ((list, copy), (_, original)) in
        snapshot(&root, &done["id"], &LISTS).await.iter().zip(&before)
    {
        assert!(copy == original, "{list}");
        assert_ne!(copy, &json!([]), "{list}");
    }
    let copy = format!("/projects/{}", done["id"]);
    let copies = root.get(&format!("{copy}/releases")).await.ok();
    for place in ["/name", "/description", "/assets/links/0/name", "/assets/links/0/url"] {
        assert!(copies[0].pointer(place) == releases[0].pointer(place), "{place}");
    }
    let next = root.post(&format!("{copy}/issues"), json!({ "title": "New" })).await.created();
    assert_eq!(next["iid"], LARGEST + 3, "numbers go on");
}

/// Each text of the settings of a project with how many characters it can have.
const TEXTS: [(&str, usize); 9] = [
    ("description", 2000),
    ("ci_config_path", 255),
    ("suggestion_commit_message", 255),
    ("merge_commit_template", 500),
    ("squash_commit_template", 500),
    ("issue_branch_template", 255),
    ("external_authorization_classification_label", 255),
    ("issues_template", 1_048_576),
    ("merge_requests_template", 1_048_576),
];

#[actix_web::test]
async fn the_longest_settings_come_back_and_longer_ones_are_not_taken() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "public").await;
    let base = format!("/projects/{project}");
    let topics: Vec<String> = (0..100).map(|number| format!("{number:0>255}")).collect();
    let mut settings = json!({ "topics": topics, "approvals_before_merge": 100 });
    // No sign takes more bytes of a document.
    for (name, most) in TEXTS {
        settings[name] = "\u{1}".repeat(most).into();
    }
    root.put(&base, settings.clone()).await.ok();
    let pattern = |count: usize| json!("t".repeat(count));
    let rule = json!({ "max_file_size": LARGEST, "commit_message_regex": pattern(511),
                       "commit_message_negative_regex": pattern(2047) });
    root.post(&format!("{base}/push_rule"), rule.clone()).await.created();

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!((&done["import_status"], &done["import_error"]), (&json!("finished"), &Value::Null));
    let copy = root.get(&format!("/projects/{}", done["id"])).await.ok();
    for (name, value) in settings.as_object().expect("settings") {
        assert!(&copy[name] == value, "{name}");
    }
    let copy = root.get(&format!("/projects/{}/push_rule", done["id"])).await.ok();
    for (name, value) in rule.as_object().expect("a rule") {
        assert_eq!(&copy[name], value, "{name}");
    }
    for (name, most) in TEXTS {
        let told = format!("is too long (maximum is {most} characters)");
        let longer = json!({ name: "x".repeat(most + 1) });
        root.put(&base, longer).await.refused(400, json!({ "message": { name: [told] } }));
    }
    for (topics, told) in [
        (json!(["x".repeat(256)]), "is too long (maximum is 255 characters)"),
        (json!(vec!["x"; 101]), "is too long (maximum is 100 entries)"),
    ] {
        let told = json!({ "message": { "topics": [told] } });
        root.put(&base, json!({ "topics": topics })).await.refused(400, told);
    }
}

#[actix_web::test]
async fn what_an_archive_could_not_hold_is_not_taken() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "public").await;
    let base = format!("/projects/{project}");
    root.commit(&project, "topic", "topic.txt").await;
    root.propose(&project, "topic", "Fix it").await;
    root.post(&format!("{base}/issues"), json!({ "title": "It leaks" })).await.created();
    run(&app, "UPDATE issues SET total_time_spent = 1099511627776");
    let number = json!(["must be less than or equal to 2147483647"]);
    let note = |field: &str, most: usize| {
        let told = format!("is too long (maximum is {most} characters)");
        json!(format!("400 Bad request - Note {{:{field}=>[{told:?}]}}"))
    };
    for (path, new, told) in [
        (
            "labels",
            json!({ "name": "tea", "color": "#abcdef", "priority": LARGEST + 1 }),
            json!({ "priority": number }),
        ),
        ("issues", json!({ "title": "Heavy", "weight": LARGEST + 1 }), json!({ "weight": number })),
        (
            "repository/commits/main/comments",
            json!({ "note": signs(1_000_001) }),
            note("note", 1_000_000),
        ),
        (
            "merge_requests/1/discussions",
            json!({ "body": "Why so?", "commit_id": signs(256) }),
            note("commit_id", 255),
        ),
        (
            "issues/1/add_spent_time",
            json!({ "duration": "1s" }),
            json!({ "base": ["Time to add exceeds the longest total time spent"] }),
        ),
    ] {
        let told = json!({ "message": told });
        root.post(&format!("{base}/{path}"), new).await.refused(400, told);
    }
    root.post(&format!("{base}/issues/1/add_spent_time"), json!({ "duration": "-1s" }))
        .await
        .created();
}

#[actix_web::test]
async fn what_earlier_versions_took_is_summed_up_and_comes_near_to_what_it_was() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "public").await;
    let base = format!("/projects/{project}");
    for title in ["It leaks", "It hisses"] {
        root.post(&format!("{base}/issues"), json!({ "title": title })).await.created();
    }
    run(&app, "UPDATE issues SET weight = 9223372036854775807");
    let query = r#"{ project(fullPath: "root/engine") { issues { weight } } }"#;

    let told = root.post("//api/graphql", json!({ "query": query })).await.ok();
    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    let message = told["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("Integer out of bounds: 4294967294."), "{told}");
    let copy = root.get(&format!("/projects/{}/issues/1", done["id"])).await.ok();
    assert_eq!(copy["weight"], LARGEST);
    let renamed = root.put(&format!("{base}/issues/1"), json!({ "title": "It drips" })).await.ok();
    assert_eq!(renamed["title"], "It drips");
}

#[actix_web::test]
async fn a_webhook_whose_query_has_more_values_than_there_are_variables_comes_along() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = json!(app.project(&ada, "engine", Private));
    let values: Vec<String> = (0..500).map(|number| format!("a{number}=1")).collect();
    let headers: Vec<Value> = (0..20)
        .map(|number| json!({ "key": format!("X-{number}"), "value": "v".repeat(2048) }))
        .collect();
    let hook = json!({
        "url": format!("https://ci.example.com/hook?{}", values.join("&")), "name": signs(255),
        "description": signs(2048), "custom_webhook_template": signs(4096),
        "custom_headers": headers,
    });
    ada.post(&format!("/projects/{project}/hooks"), hook.clone()).await.created();

    let done = imported(&ada, &exported(&ada, &project).await, "copy").await;

    let path = format!("/projects/{}/hooks", done["id"]);
    let ids = ada.get(&path).await.each("id");
    assert_eq!(ids.len(), 1, "{done}");
    let copy = ada.get(&format!("{path}/{}", ids[0])).await.ok();
    assert_eq!(copy["url"], "https://ci.example.com/hook?{query}");
    assert_eq!((&copy["alert_status"], &copy["name"]), (&json!("disabled"), &hook["name"]));
    assert_eq!(copy["url_variables"], json!([{ "key": "query" }]));
    assert_eq!(copy["custom_headers"].as_array().map(Vec::len), Some(20));
}

#[actix_web::test]
async fn archives_with_what_the_api_does_not_take_are_refused() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    let base = format!("/projects/{project}");
    let label = json!({ "name": "tea", "color": "#abcdef", "priority": 1 });
    root.post(&format!("{base}/labels"), label).await.created();
    root.post(&format!("{base}/issues"), json!({ "title": "It leaks" })).await.created();
    root.post(&format!("{base}/issues/1/notes"), json!({ "body": "Why?" })).await.created();
    let path = format!("{base}/repository/commits/main/comments");
    root.post(&path, json!({ "note": "Why?" })).await.created();
    send_file(&root, Method::POST, &format!("{base}/uploads"), "file", "a.txt", "a")
        .await
        .created();
    let archive = exported(&root, &project).await;
    let place = json!({ "base_sha": "1".repeat(40), "start_sha": "main", "head_sha": "1".repeat(40),
        "old_path": "a", "new_path": "a", "position_type": "text", "old_line": null, "new_line": 1,
        "line_range": null });
    let place = json!({ "position": place.to_string() });
    let long = with_lines(&archive, "tree/project.json", |mut row| {
        row["settings"]["merge_commit_template"] = "x".repeat(501).into();
        row.to_string()
    });
    let with = |list: &str, fields: Value| with_fields(&archive, list, &fields);
    let twice = with_lines(&archive, "/uploads.ndjson", |row| format!("{row}\n{row}"));
    for (number, (hostile, told)) in [
        (twice, "two uploads with the same secret"),
        (long, "merge_commit_template is too long (maximum is 500 characters)"),
        (with("tree/project.json", json!({ "topics": vec!["x"; 101] })), "topics is too long"),
        (with("/label_priorities.ndjson", json!({ "priority": LARGEST + 1 })), "out of range"),
        (with("/issues.ndjson", json!({ "weight": LARGEST + 1 })), "out of range"),
        (with("/project/notes.ndjson", place.clone()), "position does not have a valid value"),
        (with("/commit_notes.ndjson", place), "position does not have a valid value"),
    ]
    .into_iter()
    .enumerate()
    {
        let done = imported(&root, &hostile, &format!("copy-{number}")).await;
        assert_eq!(done["import_status"], "failed", "{told}: {done}");
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains(told), "{told}: {error}");
    }
}
