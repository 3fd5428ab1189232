//! What a project is set to, in archives of projects: `crates/forge/src/archive/settings.rs`, its row and its picture.

use actix_web::http::Method;
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_failures::{rewritten, with_fields, with_lines},
    archives::{count_nothing, exported, imported, send_archive},
    imports::work,
};
use crate::support::{
    Person, TestApp,
    uploads::{PICTURE, send_file},
};

/// What a copy has of its own.
const OWN: [&str; 18] = [
    "id",
    "name",
    "name_with_namespace",
    "path",
    "path_with_namespace",
    "ssh_url_to_repo",
    "http_url_to_repo",
    "web_url",
    "readme_url",
    "avatar_url",
    "last_activity_at",
    "container_registry_image_prefix",
    "_links",
    "import_status",
    "import_type",
    "runners_token",
    "statistics",
    "updated_at",
];

/// What a project is set to, and how much there is in it.
async fn record(person: &Person<'_>, project: &Value) -> (Value, Value) {
    let mut all = person.get(&format!("/projects/{project}?statistics=true")).await.ok();
    let count = all["statistics"]["commit_count"].clone();
    let fields = all.as_object_mut().expect("an object");
    for name in OWN {
        fields.remove(name);
    }
    (all, count)
}

#[actix_web::test]
async fn all_that_a_project_is_set_to_comes_back() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "public").await;
    root.commit_text(&project, "main", "a.rs", "fn main() {}").await;
    let base = format!("/projects/{project}");
    let policy = json!({ "cadence": "7d", "enabled": true, "keep_n": 5, "name_regex": ".*" });
    let settings = json!({
        "description": "t".repeat(2000), "topics": ["steam", "tea"], "merge_method": "ff",
        "squash_option": "always", "merge_commit_template": "%{title}", "issues_template": "Why?",
        "squash_commit_template": "%{title}", "suggestion_commit_message": "Apply",
        "merge_requests_template": "How?", "issue_branch_template": "%{id}",
        "external_authorization_classification_label": "secret", "build_timeout": 7200,
        "ci_config_path": "ci/all.yml", "ci_default_git_depth": null, "public_jobs": false,
        "wiki_access_level": "private", "pages_access_level": "public",
        "snippets_access_level": "disabled", "monitor_access_level": "private",
        "approvals_before_merge": 2, "only_allow_merge_if_pipeline_succeeds": true,
        "container_expiration_policy_attributes": policy, "auto_devops_enabled": true,
        "keep_latest_artifact": false, "request_access_enabled": false,
    });
    root.put(&base, settings).await.ok();
    app.clock.advance(Duration::hours(1));
    let before = record(&root, &project).await;

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    assert_eq!(record(&root, &done["id"]).await, before);
    let languages = root.get(&format!("/projects/{}/languages", done["id"])).await.ok();
    assert_eq!(languages, root.get(&format!("{base}/languages")).await.ok());
    assert_ne!(languages, json!({}));
}

#[actix_web::test]
async fn the_picture_of_a_project_comes_along() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "public").await;
    let base = format!("/projects/{project}");
    send_file(&root, Method::PUT, &base, "avatar", "logo.png", PICTURE).await.ok();
    let archive = exported(&root, &project).await;
    send_file(&root, Method::PUT, &base, "avatar", "other.png", PICTURE).await.ok();

    let id = imported(&root, &archive, "copy").await["id"].clone();

    let url = format!("http://forge.test/uploads/-/system/project/avatar/{id}/logo.png");
    assert_eq!(root.get(&format!("/projects/{id}")).await.ok()["avatar_url"], url);
    let picture = root.get(&format!("//uploads/-/system/project/avatar/{id}/logo.png")).await;
    assert_eq!((picture.status, picture.bytes.as_slice()), (200, PICTURE.as_bytes()));
}

#[actix_web::test]
async fn the_size_of_the_wiki_and_locks_of_files_come_along() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    let page = json!({ "title": "home", "content": "Tea" });
    root.post(&format!("/projects/{project}/wikis"), page).await.created();
    let lock = root.post("//root/engine.git/info/lfs/locks", json!({ "path": "a.bin" })).await;
    let lock = lock.created()["lock"].clone();
    app.clock.advance(Duration::hours(1));

    let id = imported(&root, &exported(&root, &project).await, "copy").await["id"].clone();

    let sizes = root.get(&format!("/projects/{id}?statistics=true")).await.ok();
    assert!(sizes["statistics"]["wiki_size"].as_i64() > Some(0), "{sizes}");
    let copy = root.get("//root/copy.git/info/lfs/locks").await.ok()["locks"][0].clone();
    for field in ["path", "locked_at", "owner"] {
        assert_eq!(copy[field], lock[field], "{field}");
    }
}

#[actix_web::test]
async fn a_push_rule_of_an_archive_wins_over_that_of_the_group() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let group = root.post("/groups", json!({ "name": "Tools", "path": "tools" })).await.created();
    let of_group = json!({ "branch_name_regex": "^g", "reject_unsigned_commits": true });
    root.post(&format!("/groups/{}/push_rule", group["id"]), of_group).await.created();
    let project = root.filled_project("Engine", "private").await;
    let plain = exported(&root, &project).await;
    let own = json!({ "commit_message_regex": "tea", "max_file_size": 7, "member_check": true });
    let path = format!("/projects/{project}/push_rule");
    let mut own = root.post(&path, own).await.created();
    app.clock.advance(Duration::hours(1));
    let ruled = exported(&root, &project).await;

    for (path, archive) in [("plain", &plain), ("ruled", &ruled)] {
        let fields = [("path", path), ("namespace", "tools")];
        send_archive(&root, "/projects/import", archive, &fields).await.created();
    }
    work(&app).await;

    let plain = root.get("/projects/tools%2Fplain/push_rule").await.ok();
    assert_eq!((&plain["branch_name_regex"], &plain["max_file_size"]), (&json!("^g"), &json!(0)));
    let ruled = root.get("/projects/tools%2Fruled/push_rule").await.ok();
    for field in ["id", "project_id"] {
        own[field] = ruled[field].clone();
    }
    assert_eq!(ruled, own);
}

#[actix_web::test]
async fn runners_that_a_group_keeps_from_its_projects_stay_off() {
    let app = TestApp::new();
    let root = app.admin();
    let group = root.post("/groups", json!({ "name": "Tools", "path": "tools" })).await.created();
    let off = json!({ "shared_runners_setting": "disabled_and_unoverridable" });
    root.put(&format!("/groups/{}", group["id"]), off).await.ok();
    let project = root.filled_project("Engine", "private").await;
    let archive = exported(&root, &project).await;

    let fields = [("path", "copy"), ("namespace", "tools")];
    let made = send_archive(&root, "/projects/import", &archive, &fields).await.created();
    work(&app).await;

    let copy = root.get(&format!("/projects/{}", made["id"])).await.ok();
    assert_eq!(
        (&copy["import_status"], &copy["visibility"]),
        (&json!("finished"), &json!("private"))
    );
    assert_eq!(copy["shared_runners_enabled"], false);
    assert_eq!(
        root.get(&format!("/projects/{project}")).await.ok()["shared_runners_enabled"],
        true
    );
}

#[actix_web::test]
async fn settings_that_no_project_can_have_are_refused() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    let rule = json!({ "max_file_size": 7 });
    root.post(&format!("/projects/{project}/push_rule"), rule).await.created();
    let archive = exported(&root, &project).await;
    let with = |place: &str, value: Value| {
        with_lines(&archive, "tree/project.json", |mut row| {
            *row.pointer_mut(place).expect("a place") = value.clone();
            row.to_string()
        })
    };
    let rule = |fields: Value| with_fields(&archive, "/push_rules.ndjson", &fields);
    for (number, (hostile, told)) in [
        (with("/features/issues", json!("public")), "issues_access_level does not have a valid"),
        (with("/settings/operations_access_level", json!("public")), "operations_access_level"),
        (with("/settings/build_timeout", json!(1)), "build_timeout needs to be between"),
        (with("/settings/approvals_before_merge", json!(-1)), "approvals_before_merge must be"),
        (with("/settings/merge_method", json!("tea")), "it is not as this version writes it"),
        (with("/description", json!("\0")), "a character that texts cannot have"),
        (with("/avatar", json!("logo.png")), "lacks the picture"),
        (rule(json!({ "branch_name_regex": "(" })), "branch_name_regex not valid RE2 syntax"),
        (rule(json!({ "max_file_size": -1 })), "max_file_size must be greater than"),
        (rule(json!({ "file_name_regex": "\0" })), "a character that texts cannot have"),
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

#[actix_web::test]
async fn a_picture_that_is_none_is_refused() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    let path = format!("/projects/{project}");
    send_file(&root, Method::PUT, &path, "avatar", "logo.png", PICTURE).await.ok();
    let archive = exported(&root, &project).await;
    let large = [PICTURE.as_bytes(), &vec![0; 200 << 10]].concat();
    let with = |content: &[u8]| {
        rewritten(&archive, |path, old| match path.as_str() {
            "avatar" => (path, content.to_vec()),
            _ => (path, old),
        })
    };
    let named = with_fields(&archive, "tree/project.json", &json!({ "avatar": "../logo.png" }));
    for (number, (hostile, told)) in [
        (with(b"<svg/>"), "file format is not supported"),
        (with(&large), "is too big"),
        (named, "file format is not supported"),
    ]
    .into_iter()
    .enumerate()
    {
        let done = imported(&root, &hostile, &format!("copy-{number}")).await;
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains(told), "{told}: {done}");
        let copy = root.get(&format!("/projects/{}", done["id"])).await.ok();
        assert_eq!(copy["avatar_url"], Value::Null);
    }
}
