//! Rules, merge requests and networks out of archives: what they let people do, and what they ask of them.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    ids::ProjectId,
};
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_contents::plain,
    archive_failures::{set_writable, with_fields, with_lines},
    archives::{count_nothing, exported, imported, send_archive},
    group_archives::{exported as exported_group, full_group},
    imports::work,
};
use crate::support::{Person, TestApp, ci::commit};

const INSIDE: &str = "10.1.2.3";
const OUTSIDE: &str = "192.0.2.1";

/// Protections of a project that name a person before a role.
async fn protect(root: &Person<'_>, project: &Value) {
    let base = format!("/projects/{project}");
    let bob = root.adds("bob", Developer.number().into(), &base).await;
    let both = json!([{ "user_id": bob }, { "access_level": 40 }]);
    for (path, new) in [
        ("protected_branches", json!({ "name": "r-*", "allowed_to_push": both })),
        ("protected_tags", json!({ "name": "r*", "allowed_to_create": both })),
        (
            "protected_environments",
            json!({ "name": "production", "deploy_access_levels": both, "approval_rules": both }),
        ),
    ] {
        root.post(&format!("{base}/{path}"), new).await.created();
    }
}

/// The access records of all protections of a project.
async fn records(person: &Person<'_>, project: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    for (path, lists) in [
        ("protected_branches/r-*", &["push_access_levels"][..]),
        ("protected_tags/r*", &["create_access_levels"][..]),
        ("protected_environments/production", &["deploy_access_levels", "approval_rules"][..]),
    ] {
        let shown = person.get(&format!("/projects/{project}/{path}")).await.ok();
        all.extend(lists.iter().map(|list| plain(&shown[*list])));
    }
    all
}

#[actix_web::test]
async fn the_rules_of_a_protection_come_back_in_their_order() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    protect(&root, &project).await;
    let before = records(&root, &project).await;
    assert!(before.iter().all(|list| list[0]["user_id"].is_i64()), "{before:?}");

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    assert_eq!(records(&root, &done["id"]).await, before);
}

#[actix_web::test]
async fn a_rule_is_for_a_role_or_for_a_person_who_is_known() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    protect(&root, &project).await;
    let archive = exported(&root, &project).await;
    let (person, nobody) = (root.app.id_of("bob"), Value::Null);
    for list in ["protected_branch", "protected_tag", "protected_environment"] {
        let path = format!("project/{list}_access.ndjson");
        for (name, level, user, told) in [
            ("both", json!(40), json!(person), "user_id excludes another value of the row"),
            ("none", nobody.clone(), nobody.clone(), "user_id is missing"),
            ("level", json!(31), nobody.clone(), "access_level is not an access level"),
        ] {
            let fields = json!({ "access_level": level, "user_id": user });
            let hostile = with_fields(&archive, &path, &fields);
            let done = imported(&root, &hostile, &format!("{list}-{name}")).await;
            let error = done["import_error"].as_str().unwrap_or_default();
            assert!(error.contains(told), "{list} {name}: {done}");
        }
        let stranger = json!({ "access_level": nobody, "user_id": 1_000_000 });
        let stranger = with_fields(&archive, &path, &stranger);
        let done = imported(&root, &stranger, &format!("{list}-stranger")).await;
        assert_eq!(done["import_status"], "finished", "{list}: {done}");
        assert!(records(&root, &done["id"]).await.contains(&json!([])), "{list}");
    }
}

/// The access records of a kind of protection, and who approves merge requests, by user ids.
pub(super) async fn people(person: &Person<'_>, project: &Value) -> [Vec<Value>; 3] {
    let base = format!("/projects/{project}");
    let users = |list: &Value| -> Vec<Value> {
        let all = list.as_array().expect("a list");
        all.iter().map(|one| one.get("user_id").unwrap_or(&one["id"]).clone()).collect()
    };
    let branch = person.get(&format!("{base}/protected_branches/r-*")).await.ok();
    let environment = person.get(&format!("{base}/protected_environments/production")).await.ok();
    let rules = person.get(&format!("{base}/approval_rules")).await.ok();
    [
        users(&branch["unprotect_access_levels"]),
        users(&environment["approval_rules"]),
        users(&rules[0]["users"]),
    ]
}

/// A project whose rules name these people and nobody else.
pub(super) async fn kept_by(root: &Person<'_>, names: &[&str]) -> Value {
    let project = root.filled_project("Engine", "private").await;
    let base = format!("/projects/{project}");
    let mut ids = Vec::new();
    for name in names {
        ids.push(root.adds(name, Maintainer.number().into(), &base).await);
    }
    keep(root, &project, "user", &ids).await;
    project
}

/// Rules of a project for these of a kind, which is `user` or `group`, and for nobody else.
pub(super) async fn keep(root: &Person<'_>, project: &Value, kind: &str, ids: &[i64]) {
    let (one, all) = (format!("{kind}_id"), format!("{kind}_ids"));
    let (one, all) = (one.as_str(), all.as_str());
    let holders: Vec<Value> = ids.iter().map(|id| json!({ one: id })).collect();
    for (path, new) in [
        ("protected_branches", json!({ "name": "r-*", "allowed_to_unprotect": holders })),
        (
            "protected_environments",
            json!({ "name": "production", "deploy_access_levels": [{ "access_level": 30 }],
                    "approval_rules": holders }),
        ),
        ("approval_rules", json!({ "name": "Look", "approvals_required": 1, all: ids })),
    ] {
        root.post(&format!("/projects/{project}/{path}"), new).await.created();
    }
}

#[actix_web::test]
async fn rules_that_named_only_people_without_an_account_ask_whoever_imports() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let project = kept_by(&root, &["bob", "carol"]).await;

    let done = imported(&ada, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let (copy, own) = (done["id"].clone(), vec![json!(app.id_of("ada"))]);
    assert_eq!(people(&ada, &copy).await, [own.clone(), own.clone(), own]);
    let base = format!("/projects/{copy}");
    ada.adds("mia", Maintainer.number().into(), &base).await;
    let mia = app.person("mia");
    mia.commit(&copy, "topic", "a.txt").await;
    mia.propose(&copy, "topic", "Fix it").await;
    let approvals = mia.get(&format!("{base}/merge_requests/1/approvals")).await.ok();
    let told = (&approvals["approved"], &approvals["approvals_left"]);
    assert_eq!(told, (&json!(false), &json!(1)));
    let id = ProjectId(copy.as_i64().expect("an id"));
    commit(&mia, id, "main", "first", "deploy: {script: x, environment: production}").await;
    let deployments = mia.get(&format!("{base}/deployments")).await.ok();
    assert_eq!(deployments[0]["status"], "blocked");
    mia.delete(&format!("{base}/protected_branches/r-*")).await.with(403);
    ada.delete(&format!("{base}/protected_branches/r-*")).await.with(204);
}

#[actix_web::test]
async fn nobody_stands_for_people_beside_those_who_are_known() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let project = kept_by(&root, &["bob", "ada", "carol"]).await;

    let done = imported(&ada, &exported(&root, &project).await, "copy").await;

    let own = vec![json!(app.id_of("ada"))];
    assert_eq!(people(&ada, &done["id"]).await, [own.clone(), own.clone(), own]);
}

#[actix_web::test]
async fn whoever_imports_approves_beside_those_who_are_known() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = kept_by(&root, &["bob", "carol"]).await;
    let (bob, carol) = (app.id_of("bob"), app.id_of("carol"));
    let mut archive = exported(&root, &project).await;
    for list in ["protected_branch_access", "protected_environment_access", "approval_rule_users"] {
        archive = with_lines(&archive, &format!("project/{list}.ndjson"), |mut row| {
            if row["user_id"] == carol {
                row["user_id"] = json!(1_000_000);
            }
            row.to_string()
        });
    }

    let done = imported(&root, &archive, "copy").await;

    let (known, own) = (json!(bob), json!(app.id_of("root")));
    let (deploy, merge) = (vec![known.clone(), own.clone()], vec![own, known.clone()]);
    assert_eq!(people(&root, &done["id"]).await, [vec![known], deploy, merge]);
    // The rule would ask nobody for what the only person does whom it names.
    let (copy, bob) = (&done["id"], app.person("bob"));
    bob.commit(copy, "topic", "a.txt").await;
    bob.propose(copy, "topic", "Fix it").await;
    let path = format!("/projects/{copy}/merge_requests/1/approvals");
    assert_eq!(bob.get(&path).await.ok()["approved"], false);
}

/// What is told of the only merge request of a project, in a list and alone.
async fn mergeability(person: &Person<'_>, project: &Value) -> [Value; 2] {
    let path = format!("/projects/{project}/merge_requests");
    let told = |shown: &Value| {
        let fields = ["merge_status", "has_conflicts", "detailed_merge_status"];
        json!(fields.map(|name| shown[name].clone()))
    };
    let listed = told(&person.get(&path).await.ok()[0]);
    [listed, told(&person.get(&format!("{path}/1")).await.ok())]
}

#[actix_web::test]
async fn nobody_is_asked_to_look_at_conflicts_that_came_along() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    root.commit(&project, "topic", "a.txt").await;
    root.commit(&project, "main", "a.txt").await;
    root.propose(&project, "topic", "Fix it").await;
    let conflict = json!(["cannot_be_merged", true, "broken_status"]);
    assert_eq!(mergeability(&root, &project).await[1], conflict);
    let archive = exported(&root, &project).await;
    let list = "project/merge_requests.ndjson";
    let unchecked = with_fields(&archive, list, &json!({ "merge_status": "unchecked" }));
    let asked = app.asked_of("root");
    assert_eq!(asked.len(), 1, "{asked:?}");

    for (name, archive, status) in
        [("seen", archive, "cannot_be_merged_recheck"), ("fresh", unchecked, "unchecked")]
    {
        let copy = imported(&root, &archive, name).await["id"].clone();
        let listed = json!([status, false, "unchecked"]);
        assert_eq!(mergeability(&root, &copy).await, [listed, conflict.clone()], "{name}");
        root.commit(&copy, "main", "b.txt").await;
        assert_eq!(mergeability(&root, &copy).await[1], conflict, "{name}");
        assert_eq!(app.asked_of("root"), asked, "{name}");
    }
}

#[actix_web::test]
async fn a_merge_request_whose_fork_is_not_there_cannot_be_merged_from_the_start() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = ada.filled_project("Engine", "public").await;
    let fork = bob.post(&format!("/projects/{project}/fork"), json!({})).await.created();
    work(&app).await;
    bob.commit(&fork["id"], "fix", "fix.txt").await;
    let new = json!({ "title": "Fix", "source_branch": "fix", "target_branch": "main",
                      "target_project_id": project, "allow_collaboration": true });
    bob.post(&format!("/projects/{}/merge_requests", fork["id"]), new).await.created();

    let copy = imported(&ada, &exported(&ada, &project).await, "copy").await["id"].clone();

    let broken = json!(["cannot_be_merged", true, "broken_status"]);
    for _ in 0..2 {
        assert_eq!(mergeability(&ada, &copy).await, [broken.clone(), broken.clone()]);
        work(&app).await;
    }
    let shown = ada.get(&format!("/projects/{copy}/merge_requests/1")).await.ok();
    let told = ["state", "source_project_id", "allow_collaboration"].map(|name| &shown[name]);
    assert_eq!(told, [&json!("opened"), &Value::Null, &json!(false)]);
    assert!(app.asked_of("ada").iter().all(|(why, _)| why != "unmergeable"));
}

/// Protections for a role and a release, of which a project has one each.
async fn add_rules(root: &Person<'_>, project: &Value, level: i64, name: &str) {
    let link = json!({ "name": "linux", "url": "https://files.test/x" });
    for (path, new) in [
        ("protected_branches", json!({ "name": "r-*", "push_access_level": level })),
        ("protected_tags", json!({ "name": "r*", "create_access_level": level })),
        (
            "protected_environments",
            json!({ "name": "production", "deploy_access_levels": [{ "access_level": level }],
                    "approval_rules": [{ "access_level": level }] }),
        ),
        (
            "releases",
            json!({ "tag_name": "w1", "ref": "main", "name": name, "assets": { "links": [link] } }),
        ),
    ] {
        root.post(&format!("/projects/{project}/{path}"), new).await.created();
    }
}

#[actix_web::test]
async fn what_people_protect_and_release_while_an_archive_is_read_does_not_end_the_import() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    add_rules(&root, &project, 40, "One").await;
    let before = records(&root, &project).await;
    let archive = exported(&root, &project).await;

    set_writable(&app, "archive_import_ids", false);
    let half = imported(&root, &archive, "copy").await;
    assert_eq!(half["import_status"], "started", "{half}");
    add_rules(&root, &half["id"], 30, "Meanwhile").await;
    set_writable(&app, "archive_import_ids", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;

    let copy = format!("/projects/{}", half["id"]);
    let done = root.get(&format!("{copy}/import")).await.ok();
    assert_eq!((&done["import_status"], &done["import_error"]), (&json!("finished"), &Value::Null));
    assert_eq!(records(&root, &half["id"]).await, before);
    let releases = root.get(&format!("{copy}/releases")).await.ok();
    let links = releases[0]["assets"]["links"].as_array().map(Vec::len);
    assert_eq!((&releases[0]["name"], links), (&json!("Meanwhile"), Some(1)));
    assert_eq!(releases.as_array().map(Vec::len), Some(1));
}

async fn import_group(person: &Person<'_>, archive: &[u8], path: &str) {
    let fields = [("name", path), ("path", path)];
    send_archive(person, "/groups/import", archive, &fields).await.with(202);
    work(person.app).await;
}

#[actix_web::test]
async fn what_people_make_in_a_group_while_its_archive_is_read_gets_later_numbers() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported_group(&ada, &group).await;

    set_writable(&app, "milestones", false);
    import_group(&ada, &archive, "copy").await;
    let epic = json!({ "title": "Meanwhile" });
    assert_eq!(ada.post("/groups/copy/epics", epic).await.created()["iid"], 2);
    set_writable(&app, "milestones", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;

    for (iid, title) in [(1, "Brew"), (2, "Meanwhile")] {
        assert_eq!(ada.get(&format!("/groups/copy/epics/{iid}")).await.ok()["title"], title);
    }
    assert_eq!(ada.get("/groups/copy%2Fsmall/milestones").await.ok()[0]["title"], "1.0");
}

#[actix_web::test]
async fn a_group_that_some_networks_reach_is_reached_from_no_others_as_a_copy() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let open = json!({ "visibility": "public", "ip_restriction_ranges": "10.0.0.0/8" });
    ada.put(&format!("/groups/{group}"), open).await.ok();
    let open = json!({ "visibility": "public" });
    let small = ada.put("/groups/tools%2Fsmall", open).await.ok()["id"].clone();
    let archive = exported_group(&ada, &group).await;
    import_group(&ada, &archive, "copy").await;
    import_group(&ada, &exported_group(&ada, &small).await, "part").await;

    for path in ["copy", "copy%2Fsmall", "part"] {
        let path = format!("/groups/{path}");
        assert_eq!(app.anonymous().from(INSIDE).get(&path).await.status, 200, "{path}");
        assert_eq!(app.anonymous().from(OUTSIDE).get(&path).await.status, 404, "{path}");
    }
    let parent = ada.group("attic", None).await.to_string();
    let below = [("name", "Below"), ("path", "below"), ("parent_id", parent.as_str())];
    send_archive(&ada, "/groups/import", &archive, &below).await.with(202);
    work(&app).await;
    let below = ada.get("/groups/attic%2Fbelow").await.ok();
    assert_eq!(below["ip_restriction_ranges"], Value::Null, "the top says it");
    let odd = json!({ "settings": { "ip_restriction_ranges": "10.0.0.0/33" } });
    let odd = with_fields(&archive, "tree/groups.ndjson", &odd);
    let fields = [("name", "odd"), ("path", "odd")];
    send_archive(&ada, "/groups/import", &odd, &fields).await.with(400);
}
