//! What an archive of a project holds: all that people wrote and set comes back equal; what is secret does not come at
//! all.

use actix_web::http::Method;
use kernel::AccessLevel::Developer;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    archives::{exported, imported},
    imports::work,
};
use crate::support::{Person, TestApp};

/// A large file.
const LARGE: &[u8] = b"steam, and much of it";

fn lfs_id() -> String {
    hex::encode(Sha256::digest(LARGE))
}

/// Lists that are the same of a project and of its copy, without ids, addresses and moments of the copy itself.
const LISTS: [&str; 20] = [
    "labels",
    "milestones",
    "issues?order_by=created_at&sort=asc",
    "issues/1/notes?sort=asc",
    "issues/1/award_emoji",
    "issues/1/resource_label_events",
    "merge_requests?sort=asc",
    "merge_requests/1/discussions",
    "merge_requests/1/versions",
    "protected_branches",
    "protected_tags",
    "repository/branches",
    "members",
    "boards",
    "approval_rules",
    "merge_requests/1/approval_rules",
    "pipeline_schedules",
    "environments",
    "protected_environments",
    "freeze_periods",
];

const OWN: [&str; 16] = [
    "id",
    "web_url",
    "project",
    "project_id",
    "_links",
    "references",
    "noteable_id",
    "awardable_id",
    "target_project_id",
    "source_project_id",
    "url",
    "resource_id",
    "full",
    "merge_request_id",
    "merge_status",
    "detailed_merge_status",
];

/// An answer without ids, addresses and moments of a project itself.
pub(super) fn plain(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(plain).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), plain(value))).collect()
        }
        other => other.clone(),
    }
}

/// What lists of a project answer.
pub(super) async fn snapshot(
    person: &Person<'_>,
    project: &Value,
    lists: &[&'static str],
) -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    for list in lists.iter().copied() {
        let found = person.get(&format!("/projects/{project}/{list}")).await.ok();
        all.push((list, plain(&found)));
    }
    all
}

/// A project of hers with something of everything.
async fn full_project(root: &Person<'_>) -> Value {
    let project = root.filled_project("Engine", "public").await;
    let base = format!("/projects/{project}");
    root.commit(&project, "topic", "topic.txt").await;
    root.post(&format!("{base}/labels"), json!({ "name": "bug", "color": "#ff0000" }))
        .await
        .created();
    let milestone = json!({ "title": "1.0", "due_date": "2026-02-03" });
    root.post(&format!("{base}/milestones"), milestone).await.created();
    let issue =
        json!({ "title": "It leaks", "labels": "bug", "weight": 3, "description": "- [x] a" });
    root.post(&format!("{base}/issues"), issue).await.created();
    root.post(&format!("{base}/issues"), json!({ "title": "Secret", "confidential": true }))
        .await
        .created();
    let one = format!("{base}/issues/1");
    root.post(&format!("{one}/notes"), json!({ "body": "Since when?" })).await.created();
    root.post(&format!("{one}/award_emoji"), json!({ "name": "tea" })).await.created();
    root.post(&format!("{one}/add_spent_time?duration=1h"), json!({})).await.created();
    let link = json!({ "target_project_id": project, "target_issue_iid": 2 });
    root.post(&format!("{one}/links"), link).await.created();
    root.propose(&project, "topic", "Fix it").await;
    let thread = json!({ "body": "Why so?", "commit_id": "no commit" });
    root.post(&format!("{base}/merge_requests/1/discussions"), thread).await.created();
    root.post(&format!("{base}/protected_tags"), json!({ "name": "v*" })).await.created();
    root.post(&format!("{base}/wikis"), json!({ "title": "home", "content": "Tea" }))
        .await
        .created();
    let large = format!("//root/engine.git/info/lfs/objects/{}/{}", lfs_id(), LARGE.len());
    let sent = root.send_bytes(Method::PUT, &large, "application/octet-stream", LARGE).await;
    assert_eq!(sent.status, 200, "{}", sent.body);
    project
}

/// Adds a person with rights of their own, and what a project is run with.
async fn add_rules(root: &Person<'_>, project: &Value) {
    let base = format!("/projects/{project}");
    root.app.person("bob");
    let bob = root.app.user("bob").id;
    let member = json!({ "user_id": bob, "access_level": Developer });
    root.post(&format!("{base}/members"), member).await.created();
    let label = root.get(&format!("{base}/labels")).await.ok()[0]["id"].clone();
    let board = root.post(&format!("{base}/boards"), json!({ "name": "Next" })).await.created();
    let lists = format!("{base}/boards/{}/lists", board["id"]);
    root.post(&lists, json!({ "label_id": label })).await.created();
    for (path, new) in [
        ("approval_rules", json!({ "name": "Look", "approvals_required": 1, "user_ids": [bob] })),
        ("protected_branches", json!({ "name": "r-*", "allowed_to_push": [{ "user_id": bob }] })),
        ("protected_tags", json!({ "name": "r*", "allowed_to_create": [{ "user_id": bob }] })),
        (
            "pipeline_schedules",
            json!({ "description": "nightly", "ref": "main", "cron": "0 4 * * *" }),
        ),
        ("environments", json!({ "name": "review/one", "external_url": "https://one.example" })),
        (
            "protected_environments",
            json!({ "name": "production", "required_approval_count": 1,
                    "deploy_access_levels": [{ "access_level": 40 }, { "user_id": bob }] }),
        ),
        (
            "merge_requests/1/approval_rules",
            json!({ "name": "Once", "approvals_required": 1, "user_ids": [bob] }),
        ),
        (
            "releases",
            json!({ "tag_name": "w1", "ref": "main", "name": "One", "description": "Tea",
                    "milestones": ["1.0"], "assets": { "links": [{ "name": "linux",
                    "url": "https://files.test/x", "filepath": "/bin/x1", "link_type": "package" }] } }),
        ),
        ("freeze_periods", json!({ "freeze_start": "0 23 * * 5", "freeze_end": "0 8 * * 1" })),
    ] {
        root.post(&format!("{base}/{path}"), new).await.created();
    }
}

#[actix_web::test]
async fn everything_in_a_project_comes_back_equal() {
    let app = TestApp::new();
    let root = app.admin();
    let project = full_project(&root).await;
    add_rules(&root, &project).await;
    work(&app).await;
    let before = snapshot(&root, &project, &LISTS).await;

    let archive = exported(&root, &project).await;
    let done = imported(&root, &archive, "copy").await;

    assert_eq!((&done["import_status"], &done["import_error"]), (&json!("finished"), &Value::Null));
    assert_eq!(done["import_type"], "gitlab_project");
    for ((list, copy), (_, original)) in
        snapshot(&root, &done["id"], &LISTS).await.iter().zip(&before)
    {
        assert_eq!(copy, original, "{list}");
        assert_ne!(copy, &json!([]), "{list}");
    }
    let copy = format!("/projects/{}", done["id"]);
    let links = root.get(&format!("{copy}/issues/1/links")).await.ok();
    assert_eq!(links[0]["title"], "Secret");
    let releases = root.get(&format!("{copy}/releases")).await.ok();
    assert_eq!((&releases[0]["name"], &releases[0]["description"]), (&json!("One"), &json!("Tea")));
    assert_eq!(releases[0]["milestones"][0]["title"], "1.0");
    assert_eq!(releases[0]["milestones"][0]["project_id"], done["id"]);
    let link = &releases[0]["assets"]["links"][0];
    assert_eq!((&link["name"], &link["url"]), (&json!("linux"), &json!("https://files.test/x")));
    let direct = "http://forge.test/root/copy/-/releases/w1/downloads/bin/x1";
    assert_eq!(
        (&link["link_type"], &link["direct_asset_url"]),
        (&json!("package"), &json!(direct))
    );
    let page = root.get(&format!("{copy}/wikis/home")).await.ok();
    assert_eq!(page["content"], "Tea");
    let next = root.post(&format!("{copy}/issues"), json!({ "title": "New" })).await.created();
    assert_eq!(next["iid"], 3, "numbers go on");
    let project = root.get(&format!("{copy}?statistics=true")).await.ok();
    assert_eq!(project["visibility"], "public");
    assert_eq!(project["statistics"]["lfs_objects_size"], LARGE.len());
    let large = root.get(&format!("//root/copy.git/info/lfs/objects/{}", lfs_id())).await;
    assert_eq!((large.status, large.bytes.as_slice()), (200, LARGE));
}

#[actix_web::test]
async fn what_is_secret_stays_behind() {
    let app = TestApp::new();
    let root = app.admin();
    let project = full_project(&root).await;
    let base = format!("/projects/{project}");
    let variable = json!({ "key": "PASSWORD", "value": "t0p-secret" });
    root.post(&format!("{base}/variables"), variable).await.created();
    root.post(&format!("{base}/triggers"), json!({ "description": "deploy" })).await.created();
    work(&app).await;

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    for list in ["variables", "triggers"] {
        let copy = root.get(&format!("/projects/{}/{list}", done["id"])).await.ok();
        assert_eq!(copy, json!([]), "{list}");
    }
}
