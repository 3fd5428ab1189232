//! Making, reading, changing, moving and removing projects.

use kernel::{AccessLevel::Maintainer, Visibility::Private};
use serde_json::{Value, json};

use crate::support::TestApp;

#[actix_web::test]
async fn a_project_is_made_from_its_name() {
    let app = TestApp::new();
    let ada = app.person("ada");

    let made = ada.post("/projects", json!({ "name": "My Engine", "topics": "b,a" })).await;
    let made = made.created();

    assert_eq!(made["path_with_namespace"], "ada/my-engine");
    assert_eq!(made["topics"], json!(["a", "b"]));
    assert_eq!((&made["visibility"], &made["empty_repo"]), (&json!("private"), &json!(true)));
    assert_eq!(made["permissions"]["project_access"]["access_level"], 50);
    assert_eq!(made["owner"]["username"], "ada");
    let found = ada.get("/projects/ada%2Fmy-engine").await.ok();
    assert_eq!(found, made);
}

#[actix_web::test]
async fn a_readme_is_committed_when_asked_for() {
    let app = TestApp::new();
    let ada = app.person("ada");

    let wanted =
        json!({ "name": "Notes", "initialize_with_readme": true, "default_branch": "trunk" });
    let made = ada.post("/projects", wanted).await.created();

    assert_eq!((&made["default_branch"], &made["empty_repo"]), (&json!("trunk"), &json!(false)));
}

#[actix_web::test]
async fn what_cannot_be_a_project_is_refused() {
    let app = TestApp::new();
    let ada = app.person("ada");
    ada.post("/projects", json!({ "path": "engine" })).await.created();

    let missing = "name, path are missing, at least one parameter must be provided";
    ada.post("/projects", json!({})).await.refused(400, json!({ "error": missing }));
    let taken = json!(["has already been taken"]);
    let taken = json!({ "project_namespace.name": taken, "name": taken, "path": taken });
    let again = ada.post("/projects", json!({ "path": "engine" })).await;
    again.refused(400, json!({ "message": taken }));
    let foreign = ada.post("/projects", json!({ "name": "x", "namespace_id": 999 })).await;
    foreign.refused(400, json!({ "message": { "namespace": ["is not valid"] } }));
    let path = ada.post("/projects", json!({ "name": "x", "path": "-x" })).await;
    let told = "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'";
    path.refused(400, json!({ "message": { "path": [told] } }));
}

#[actix_web::test]
async fn settings_are_kept_and_shown() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let change = json!({
        "description": "analytical", "merge_method": "ff", "ci_default_git_depth": 7, "issues_enabled": false,
        "pages_access_level": "public", "squash_option": "always", "build_timeout": 7200,
    });

    let changed = ada.put(&format!("/projects/{id}"), change.clone()).await.ok();

    for (name, value) in change.as_object().expect("an object") {
        assert_eq!(&changed[name], value, "{name}");
    }
    assert_eq!(changed["issues_access_level"], "disabled");
    let nothing = ada.put(&format!("/projects/{id}"), json!({})).await.with(400);
    let text = nothing["error"].as_str().unwrap_or_default();
    assert!(text.ends_with("are missing, at least one parameter must be provided"), "{text}");
    let wrong = json!({ "merge_method": "magic", "wiki_access_level": "public" });
    let text =
        "merge_method does not have a valid value, wiki_access_level does not have a valid value";
    ada.put(&format!("/projects/{id}"), wrong).await.refused(400, json!({ "error": text }));
}

#[actix_web::test]
async fn settings_that_cannot_be_are_refused() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);

    let change = json!({ "build_timeout": 5, "ci_default_git_depth": 1001 });
    let refused = ada.put(&format!("/projects/{id}"), change).await.with(400);

    let texts = json!({
        "build_timeout": ["needs to be between 10 minutes and 1 month"],
        "ci_default_git_depth": ["must be less than or equal to 1000"],
    });
    assert_eq!(refused["message"], texts);
}

#[actix_web::test]
async fn a_licence_is_told_when_asked_for() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let wanted = json!({ "name": "Notes", "initialize_with_readme": true });
    let id = ada.post("/projects", wanted).await.created()["id"].clone();
    let text = "Apache License\nVersion 2.0, January 2004";
    let file = json!({ "branch": "main", "commit_message": "Say it", "content": text });
    ada.post(&format!("/projects/{id}/repository/files/LICENSE"), file).await.created();

    let told = ada.get(&format!("/projects/{id}?license=true")).await.ok();

    assert_eq!(told["license"]["key"], "apache-2.0");
    assert_eq!(told["license_url"], "http://forge.test/ada/notes/-/blob/main/LICENSE");
    assert_eq!(ada.get(&format!("/projects/{id}")).await.ok().get("license"), None);
}

#[actix_web::test]
async fn of_several_licences_the_first_that_is_known_counts() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let wanted = json!({ "name": "Notes", "initialize_with_readme": true });
    let id = ada.post("/projects", wanted).await.created()["id"].clone();
    let project = format!("/projects/{id}?license=true");
    for (name, text, key, path) in [
        ("LICENSE-OWN", "Ask first.", "other", "LICENSE-OWN"),
        ("copying.lib", "Ask me.", "other", "copying.lib"),
        (
            "LICENSE-MIT",
            "The MIT License\nPermission is hereby granted, free of charge. THE SOFTWARE IS PROVIDED \"AS IS\"",
            "mit",
            "LICENSE-MIT",
        ),
        (
            "LICENSE-APACHE",
            "Apache License\nVersion 2.0, January 2004",
            "apache-2.0",
            "LICENSE-APACHE",
        ),
    ] {
        let file = json!({ "branch": "main", "commit_message": "Say it", "content": text });
        ada.post(&format!("/projects/{id}/repository/files/{name}"), file).await.created();

        let told = ada.get(&project).await.ok();

        assert_eq!(told["license"]["key"], key, "{name}");
        assert_eq!(told["license_url"], format!("http://forge.test/ada/notes/-/blob/main/{path}"));
    }
}

#[actix_web::test]
async fn a_project_that_changed_meanwhile_is_not_deleted() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let source = ada.post("/projects", json!({ "name": "Notes" })).await.created()["id"].clone();
    let fork = json!({ "path": "copy", "name": "Copy" });
    let fork = ada.post(&format!("/projects/{source}/fork"), fork).await.created()["id"].clone();
    let early = ada.sending("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT");
    let late = ada.sending("If-Unmodified-Since", "Fri, 01 Jan 2100 00:00:00 GMT");
    let changed = json!({ "message": "412 Precondition Failed" });

    for path in [format!("/projects/{fork}/fork"), format!("/projects/{fork}")] {
        early.delete(&path).await.refused(412, changed.clone());
    }
    assert_eq!(late.delete(&format!("/projects/{fork}/fork")).await.status, 204);
    assert_eq!(late.delete(&format!("/projects/{fork}")).await.status, 202);
    assert_eq!(ada.get(&format!("/projects/{fork}")).await.status, 404);
}

#[actix_web::test]
async fn an_old_path_still_leads_to_a_renamed_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);

    let renamed = json!({ "name": "Difference Engine", "path": "difference" });
    let changed = ada.put(&format!("/projects/{id}"), renamed).await.ok();

    assert_eq!(changed["name_with_namespace"], "ada / Difference Engine");
    assert_eq!(ada.get("/projects/ada%2FEngine").await.ok()["id"], id.0);
    let next = ada.post("/projects", json!({ "path": "engine" })).await.created();
    assert_eq!(ada.get("/projects/ada%2Fengine").await.ok()["id"], next["id"]);
}

#[actix_web::test]
async fn only_owners_say_who_may_see_a_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let bob = app.member(id, "bob", Maintainer);
    let open = json!({ "visibility": "public" });

    bob.put(&format!("/projects/{id}"), open.clone()).await.with(403);
    assert_eq!(ada.put(&format!("/projects/{id}"), open).await.ok()["visibility"], "public");
    bob.delete(&format!("/projects/{id}")).await.with(403);
    bob.post(&format!("/projects/{id}/archive"), json!({})).await.with(403);
}

#[actix_web::test]
async fn the_default_branch_must_exist() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let wanted = json!({ "name": "Notes", "initialize_with_readme": true });
    let id = ada.post("/projects", wanted).await.created()["id"].clone();

    let text = "Could not change HEAD: branch 'x' does not exist";
    let refused = ada.put(&format!("/projects/{id}"), json!({ "default_branch": "x" })).await;

    refused.refused(400, json!({ "message": { "base": [text] } }));
}

#[actix_web::test]
async fn an_archived_project_is_read_only_until_it_is_unarchived() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let change = json!({ "description": "new" });

    let archived = ada.post(&format!("/projects/{id}/archive"), json!({})).await.created();

    assert_eq!(archived["archived"], true);
    ada.put(&format!("/projects/{id}"), change.clone()).await.with(403);
    ada.post(&format!("/projects/{id}/unarchive"), json!({})).await.created();
    ada.put(&format!("/projects/{id}"), change).await.ok();
}

#[actix_web::test]
async fn a_deleted_project_is_gone_and_its_path_free() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);

    let gone = ada.delete(&format!("/projects/{id}")).await;

    gone.refused(202, json!({ "message": "202 Accepted" }));
    ada.get(&format!("/projects/{id}"))
        .await
        .refused(404, json!({ "message": "404 Project Not Found" }));
    assert!(!app.state.storage.exists(id));
    let next = ada.post("/projects", json!({ "path": "engine" })).await.created();
    assert_ne!(next["id"], id.0);
}

#[actix_web::test]
async fn a_path_with_a_zero_byte_is_the_path_of_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "forge", Private);

    for (path, what) in [
        ("/projects/a%00b", "Project"),
        ("/projects/ada%2Fforge%00", "Project"),
        ("/projects/ada%2Fforge%00/issues", "Project"),
        ("/groups/%00", "Group"),
        ("/groups/a%00b/projects", "Group"),
    ] {
        let missing = json!({ "message": format!("404 {what} Not Found") });
        ada.get(path).await.refused(404, missing);
    }
    ada.get("/projects/ada%2Fforge").await.ok();
}

#[actix_web::test]
async fn strangers_see_no_more_than_they_may() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let hidden = app.project(&ada, "hidden", Private);
    let open = app.project(&ada, "open", kernel::Visibility::Public);

    app.person("bob").get(&format!("/projects/{hidden}")).await.with(404);
    let seen = app.anonymous().get(&format!("/projects/{open}")).await.ok();

    assert_eq!(seen.get("permissions"), None);
    assert_eq!(seen.get("runners_token"), None);
    assert_eq!(seen["visibility"], "public");
    let by_bob = app.person("bob").get(&format!("/projects/{open}")).await.ok();
    let none = json!({ "project_access": Value::Null, "group_access": Value::Null });
    assert_eq!(by_bob["permissions"], none);
}

#[actix_web::test]
async fn administrators_make_projects_for_others() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let user = app.user("ada").id;
    let path = format!("/projects/user/{user}");

    let made = app.admin().post(&path, json!({ "name": "gift" })).await.created();

    assert_eq!(made["path_with_namespace"], "ada/gift");
    ada.post(&path, json!({ "name": "x" })).await.with(403);
    let nobody = app.admin().post("/projects/user/999", json!({ "name": "x" })).await;
    nobody.refused(404, json!({ "message": "404 User Not Found" }));
    app.admin().post(&path, json!({})).await.refused(400, json!({ "error": "name is missing" }));
}

#[actix_web::test]
async fn there_is_one_storage_and_administrators_are_refused_others() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let id = app.project(&ada, "engine", Private);
    let path = format!("/projects/{id}");
    let told = json!({ "message": { "repository_storage": ["is not included in the list"] } });

    let elsewhere = json!({ "name": "x", "repository_storage": "elsewhere" });
    root.post("/projects", elsewhere.clone()).await.refused(400, told.clone());
    root.put(&path, elsewhere.clone()).await.refused(400, told);

    ada.put(&path, elsewhere).await.ok();
    let shown = root.put(&path, json!({ "repository_storage": "default" })).await.ok();
    assert_eq!(shown["repository_storage"], "default");
}

#[actix_web::test]
async fn a_part_of_a_policy_leaves_the_rest_of_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let policy = |fields: Value| json!({ "container_expiration_policy_attributes": fields });
    ada.put(&path, policy(json!({ "enabled": true, "keep_n": 5 }))).await.ok();

    let changed = ada.put(&path, policy(json!({ "keep_n": 10 }))).await.ok();

    let shown = &changed["container_expiration_policy"];
    assert_eq!((&shown["enabled"], &shown["keep_n"]), (&json!(true), &json!(10)));
}

#[actix_web::test]
async fn nobody_proposes_changes_to_an_archived_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let before = ada.get(&path).await.ok();

    let archived = ada.post(&format!("{path}/archive"), json!({})).await.created();

    let field = "can_create_merge_request_in";
    assert_eq!((&before[field], &archived[field]), (&json!(true), &json!(false)));
}

#[actix_web::test]
async fn one_asks_for_housekeeping_at_a_time() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "one", Private);
    let path = format!("/projects/{project}/housekeeping");
    let file = json!({ "branch": "main", "content": "x", "commit_message": "x" });
    ada.post(&format!("/projects/{project}/repository/files/a"), file).await.created();

    assert_eq!(ada.post(&path, json!({})).await.created(), Value::Null);
    let text = "Somebody already triggered housekeeping for this resource in the past 1440 minutes";
    ada.post(&path, json!({})).await.refused(409, json!({ "message": text }));
    app.work().await;

    // Care that waits for a burst of pushes to be over is in nobody's way.
    ada.post(&path, json!({})).await.created();
}
