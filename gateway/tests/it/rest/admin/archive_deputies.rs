//! Who stands in a copy for groups that rules name, and for people who have no role there:
//! `crates/forge/src/archive/deputies.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    ids::ProjectId,
};
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_failures::{set_writable, with_lines},
    archive_people::robot,
    archive_rules::{keep, kept_by, people},
    archives::{count_nothing, exported, imported, send_archive},
    imports::work,
};
use crate::support::{Person, TestApp, ci::commit};

/// A project whose rules name a group that it is shared with, and nobody else.
async fn kept_by_group(root: &Person<'_>) -> Value {
    let project = root.filled_project("Engine", "private").await;
    let crew = root.group("crew", None).await;
    root.adds("carol", Maintainer.number().into(), &format!("/groups/{crew}")).await;
    let share = json!({ "group_id": crew, "group_access": Maintainer });
    root.post(&format!("/projects/{project}/share"), share).await.created();
    keep(root, &project, "group", &[crew]).await;
    project
}

/// A project of a group, whose rules name a member of that group and nobody else.
async fn kept_by_member_of_group(root: &Person<'_>) -> Value {
    let tools = root.group("tools", None).await;
    let bob = root.adds("bob", Maintainer.number().into(), &format!("/groups/{tools}")).await;
    let new = json!({ "name": "engine", "namespace_id": tools, "initialize_with_readme": true });
    let project = root.post("/projects", new).await.created()["id"].clone();
    keep(root, &project, "user", &[bob]).await;
    project
}

#[actix_web::test]
async fn whoever_imports_unprotects_branches_for_a_group() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let project = kept_by_group(&root).await;

    let done = imported(&ada, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let copy = &done["id"];
    assert_eq!(people(&ada, copy).await[0], [json!(app.id_of("ada"))]);
    let base = format!("/projects/{copy}");
    ada.adds("mia", Maintainer.number().into(), &base).await;
    app.person("mia").delete(&format!("{base}/protected_branches/r-*")).await.with(403);
    let again = imported(&ada, &exported(&ada, copy).await, "again").await;
    assert_eq!(people(&ada, &again["id"]).await, people(&ada, copy).await);
    ada.delete(&format!("{base}/protected_branches/r-*")).await.with(204);
}

#[actix_web::test]
async fn a_merge_request_of_a_copy_waits_for_whoever_stands_for_a_group() {
    let app = TestApp::new();
    let root = app.admin();
    let project = kept_by_group(&root).await;
    root.adds("bob", Developer.number().into(), &format!("/projects/{project}")).await;
    let bob = app.person("bob");
    bob.commit(&project, "topic", "a.txt").await;
    bob.propose(&project, "topic", "Fix it").await;

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    let copy = &done["id"];
    assert_eq!(people(&root, copy).await[2], [json!(app.id_of("root"))]);
    let path = format!("/projects/{copy}/merge_requests/1");
    let before = bob.get(&format!("{path}/approvals")).await.ok();
    assert_eq!((&before["approved"], &before["approvals_left"]), (&json!(false), &json!(1)));
    let after = root.post(&format!("{path}/approve"), json!({})).await.created();
    assert_eq!((&after["approved"], &after["approvals_left"]), (&json!(true), &json!(0)));
}

#[actix_web::test]
async fn a_deployment_of_a_copy_waits_for_whoever_stands_for_a_group() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let project = kept_by_group(&root).await;
    let path = format!("/projects/{project}/protected_environments/production");
    let shown = root.get(&path).await.ok();
    let two = json!({ "id": shown["approval_rules"][0]["id"], "required_approvals": 2,
                      "group_id": shown["approval_rules"][0]["group_id"] });
    root.put(&path, json!({ "approval_rules": [two] })).await.ok();

    let done = imported(&ada, &exported(&root, &project).await, "copy").await;

    let base = format!("/projects/{}", done["id"]);
    let rules = ada.get(&format!("{base}/protected_environments/production")).await.ok();
    let rule = &rules["approval_rules"][0];
    let own = json!(app.id_of("ada"));
    assert_eq!((&rule["user_id"], &rule["required_approvals"]), (&own, &json!(1)));
    ada.adds("mia", Maintainer.number().into(), &base).await;
    let mia = app.person("mia");
    let id = ProjectId(done["id"].as_i64().expect("an id"));
    commit(&mia, id, "main", "first", "deploy: {script: x, environment: production}").await;
    let deployments = format!("{base}/deployments");
    let waiting = ada.get(&deployments).await.ok()[0].clone();
    assert_eq!(waiting["status"], "blocked");
    let verdict = json!({ "status": "approved" });
    ada.post(&format!("{deployments}/{}/approval", waiting["id"]), verdict).await.created();
    assert_ne!(ada.get(&deployments).await.ok()[0]["status"], "blocked");
}

#[actix_web::test]
async fn an_archive_says_of_a_group_only_that_somebody_is_named() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let archive = exported(&root, &kept_by_group(&root).await).await;
    let lists = ["protected_branch_access", "protected_environment_access", "approval_rule_groups"];
    for list in lists {
        let told = with_lines(&archive, &format!("project/{list}.ndjson"), |mut row| {
            assert!(row.get("group_id").is_none() && row.get("namespace_id").is_none(), "{row}");
            if row["access_level"].is_null() {
                assert_eq!(row["user_id"], 0, "{row}");
            }
            row["user_id"] = json!(-1);
            row.to_string()
        });
        let done = imported(&root, &told, &list.replace('_', "-")).await;
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains("user_id"), "{list}: {done}");
    }
}

#[actix_web::test]
async fn many_groups_of_a_rule_are_one_deputy() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let project = kept_by_group(&root).await;
    let mut archive = exported(&root, &project).await;
    for list in ["protected_branch_access", "protected_environment_access", "approval_rule_groups"]
    {
        archive = with_lines(&archive, &format!("project/{list}.ndjson"), |row| {
            let copies = (0..300).map(|number| {
                let mut copy = row.clone();
                if let Some(id) = row["id"].as_i64() {
                    copy["id"] = json!(id * 1_000 + number);
                }
                copy.to_string()
            });
            copies.collect::<Vec<_>>().join("\n")
        });
    }

    let done = imported(&ada, &archive, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let own = vec![json!(app.id_of("ada"))];
    assert_eq!(people(&ada, &done["id"]).await, [own.clone(), own.clone(), own]);
}

#[actix_web::test]
async fn whoever_imports_stands_for_people_with_an_account_and_without_a_role() {
    let app = TestApp::new();
    let root = app.admin();
    let project = kept_by_member_of_group(&root).await;

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let own = vec![json!(app.id_of("root"))];
    assert_eq!(people(&root, &done["id"]).await, [own.clone(), own.clone(), own]);
}

#[actix_web::test]
async fn an_owner_stands_for_an_administrator_who_has_no_role() {
    let app = TestApp::new();
    let (root, olga) = (app.admin(), app.person("olga"));
    let archive = exported(&root, &kept_by_member_of_group(&root).await).await;
    olga.group("attic", None).await;

    let fields = [("path", "copy"), ("namespace", "attic")];
    let made = send_archive(&root, "/projects/import", &archive, &fields).await.created();
    work(&app).await;

    let own = vec![json!(app.id_of("olga"))];
    assert_eq!(people(&olga, &made["id"]).await, [own.clone(), own.clone(), own]);
}

#[actix_web::test]
async fn an_owner_stands_for_a_bot_that_imports() {
    let app = TestApp::new();
    let (root, olga) = (app.admin(), app.person("olga"));
    let archive = exported(&root, &kept_by(&root, &["bob"]).await).await;
    let attic = olga.group("attic", None).await;
    let robot = robot(&olga, &format!("/groups/{attic}")).await;

    let fields = [("path", "copy"), ("namespace", "attic")];
    let made = send_archive(&robot, "/projects/import", &archive, &fields).await.created();
    work(&app).await;

    let own = vec![json!(app.id_of("olga"))];
    let [branch, environment, approvers] = people(&olga, &made["id"]).await;
    assert_eq!([branch, environment], [own.clone(), own.clone()]);
    assert!(approvers.contains(&own[0]), "{approvers:?}");
}

#[actix_web::test]
async fn nobody_is_forgotten_who_becomes_a_member_when_the_import_ends() {
    let app = TestApp::new();
    let root = app.admin();
    let project = kept_by(&root, &["bob"]).await;
    root.post(&format!("/projects/{project}/boards"), json!({ "name": "Next" })).await.created();
    let archive = exported(&root, &project).await;

    set_writable(&app, "boards", false);
    let half = imported(&root, &archive, "copy").await;
    assert_eq!(half["import_status"], "started", "{half}");
    root.adds("mia", Developer.number().into(), &format!("/projects/{}", half["id"])).await;
    set_writable(&app, "boards", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;

    let done = root.get(&format!("/projects/{}/import", half["id"])).await.ok();
    assert_eq!(done["import_status"], "finished", "{done}");
    let bob = vec![json!(app.id_of("bob"))];
    assert_eq!(people(&root, &half["id"]).await, [bob.clone(), bob.clone(), bob]);
}

#[actix_web::test]
async fn an_import_of_somebody_who_is_removed_fails() {
    let app = TestApp::new();
    let (root, olga) = (app.admin(), app.person("olga"));
    let project = kept_by(&root, &["bob"]).await;
    root.post(&format!("/projects/{project}/boards"), json!({ "name": "Next" })).await.created();
    let archive = exported(&root, &project).await;
    let attic = olga.group("attic", None).await;
    let mia = olga.adds("mia", Maintainer.number().into(), &format!("/groups/{attic}")).await;

    set_writable(&app, "boards", false);
    let fields = [("path", "copy"), ("namespace", "attic")];
    let made = send_archive(&app.person("mia"), "/projects/import", &archive, &fields).await;
    let path = format!("/projects/{}", made.created()["id"]);
    work(&app).await;
    set_writable(&app, "boards", true);
    let status = async || olga.get(&format!("{path}/import")).await.ok()["import_status"].clone();
    assert_eq!(status().await, "started");
    root.delete(&format!("/users/{mia}")).await.with(204);

    assert_eq!(status().await, "failed");
    olga.get(&format!("{path}/protected_branches/r-*")).await.with(404);
}

#[actix_web::test]
async fn an_import_that_waits_fails_when_its_user_is_removed() {
    let app = TestApp::new();
    let (root, olga) = (app.admin(), app.person("olga"));
    let project = root.filled_project("Engine", "private").await;
    let archive = exported(&root, &project).await;
    let attic = olga.group("attic", None).await;
    let mia = olga.adds("mia", Maintainer.number().into(), &format!("/groups/{attic}")).await;
    let fields = [("path", "copy"), ("namespace", "attic")];
    let made = send_archive(&app.person("mia"), "/projects/import", &archive, &fields).await;
    let made = made.created();
    assert_eq!(made["import_status"], "scheduled");

    root.delete(&format!("/users/{mia}")).await.with(204);
    work(&app).await;

    let left = olga.get(&format!("/projects/{}/import", made["id"])).await.ok();
    assert_eq!(left["import_status"], "failed", "{left}");
}

/// Whether the first merge request of a project is approved, and the rules that have fewer approvers than they ask for.
async fn verdict(person: &Person<'_>, project: &Value) -> (Value, Vec<Value>) {
    let path = format!("/projects/{project}/merge_requests/1/approvals");
    let shown = person.get(&path).await.ok();
    let rules = shown["invalid_approvers_rules"].as_array().expect("a list");
    let names = rules.iter().map(|rule| rule["name"].clone()).collect();
    (shown["approved"].clone(), names)
}

#[actix_web::test]
async fn a_rule_that_only_the_author_stands_in_asks_nobody_and_is_told_in_a_copy_as_elsewhere() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let project = kept_by(&root, &["bob"]).await;
    root.adds("carol", Developer.number().into(), &format!("/projects/{project}")).await;
    let carol = app.person("carol");
    carol.commit(&project, "topic", "a.txt").await;
    carol.propose(&project, "topic", "Fix it").await;
    assert_eq!(verdict(&root, &project).await, (json!(false), Vec::new()));

    let done = imported(&ada, &exported(&root, &project).await, "copy").await;

    let copy = &done["id"];
    assert_eq!(verdict(&ada, copy).await, (json!(true), vec![json!("Look")]));
    let base = format!("/projects/{copy}");
    let mia = ada.adds("mia", Maintainer.number().into(), &base).await;
    let rule = ada.get(&format!("{base}/approval_rules")).await.ok()[0]["id"].clone();
    ada.put(&format!("{base}/approval_rules/{rule}"), json!({ "user_ids": [mia] })).await.ok();
    assert_eq!(verdict(&ada, copy).await, (json!(false), Vec::new()));
}

#[actix_web::test]
async fn groups_that_own_code_are_asked_again_once_the_copy_is_shared_with_them() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    let crew = root.group("crew", None).await;
    root.adds("carol", Maintainer.number().into(), &format!("/groups/{crew}")).await;
    let share = json!({ "group_id": crew, "group_access": Maintainer });
    root.post(&format!("/projects/{project}/share"), share.clone()).await.created();
    root.commit_text(&project, "main", "CODEOWNERS", "*.txt @crew\n").await;
    let rules = format!("/projects/{project}/protected_branches");
    root.delete(&format!("{rules}/main")).await;
    let owned = json!({ "name": "main", "code_owner_approval_required": true });
    root.post(&rules, owned).await.created();

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    let copy = &done["id"];
    root.commit(copy, "topic", "a.txt").await;
    root.propose(copy, "topic", "Fix it").await;
    work(&app).await;
    assert_eq!(verdict(&root, copy).await, (json!(true), vec![json!("*.txt")]));
    root.post(&format!("/projects/{copy}/share"), share).await.created();
    root.commit(copy, "topic", "b.txt").await;
    work(&app).await;
    assert_eq!(verdict(&root, copy).await, (json!(false), Vec::new()));
}
