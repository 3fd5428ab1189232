//! What a CI configuration would come to.

use kernel::{
    AccessLevel::{Developer, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

const SOUND: &str = "include: ci/base.yml\nunit:\n  script: cargo test\n  needs: [prepare]\n";

/// Commits files to the branch, which comes into being with the first commit.
async fn commit(person: &Person<'_>, project: ProjectId, files: &[(&str, &str)]) -> String {
    let action = |(path, text): &(&str, &str)| json!({ "action": "create", "file_path": path, "content": text });
    let actions: Vec<Value> = files.iter().map(action).collect();
    let body = json!({ "branch": "main", "commit_message": "files", "actions": actions });
    let made = person.post(&format!("/projects/{project}/repository/commits"), body).await;
    made.created()["id"].as_str().expect("an id").to_owned()
}

async fn base(person: &Person<'_>, project: ProjectId) -> String {
    commit(person, project, &[("ci/base.yml", "prepare:\n  stage: build\n  script: make\n")]).await
}

async fn judged(person: &Person<'_>, project: ProjectId, body: Value) -> Value {
    person.post(&format!("/projects/{project}/ci/lint"), body).await.ok()
}

#[actix_web::test]
async fn a_configuration_is_judged_with_its_jobs_and_all_in_one_document() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let sha = base(&ada, project).await;

    let lint = judged(&ada, project, json!({ "content": SOUND, "include_jobs": true })).await;

    assert_eq!((&lint["valid"], &lint["errors"]), (&json!(true), &json!([])), "{lint}");
    let names: Vec<_> = lint["jobs"].as_array().unwrap().iter().map(|job| &job["name"]).collect();
    assert_eq!(names, ["prepare", "unit"]);
    let need = json!([{ "name": "prepare", "artifacts": true, "optional": false }]);
    assert_eq!(lint["jobs"][1]["needs"], need);
    let include = &lint["includes"][0];
    let raw = format!("http://forge.test/ada/engine/-/raw/{sha}/ci/base.yml");
    assert_eq!((&include["type"], &include["raw"]), (&json!("local"), &json!(raw)));
    assert!(lint["merged_yaml"].as_str().unwrap().contains("script: make"));
    let short = judged(&ada, project, json!({ "content": "a: {script: [x], foo: 1}" })).await;
    assert_eq!(short["errors"], json!(["jobs:a config contains unknown keys: foo"]));
    assert!(short.get("jobs").is_none());
}

#[actix_web::test]
async fn the_committed_configuration_is_judged() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    let address = format!("/projects/{project}/ci/lint");
    let none = json!({ "message": "404 Repository Not Found" });
    ada.get(&address).await.refused(404, none);
    let first = base(&ada, project).await;

    let missing = ada.get(&address).await.ok();
    assert_eq!(missing["errors"], json!(["Please provide content of .gitlab-ci.yml"]));
    commit(&ada, project, &[(".gitlab-ci.yml", SOUND)]).await;
    assert_eq!(app.anonymous().get(&address).await.ok()["valid"], json!(true));
    let old = ada.get(&format!("{address}?sha={first}")).await.ok();
    assert_eq!(old["valid"], json!(false));
    let unknown = json!({ "message": "404 Commit Not Found" });
    ada.get(&format!("{address}?sha=nothing")).await.refused(404, unknown);
}

#[actix_web::test]
async fn a_dry_run_plays_a_push_through() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    base(&ada, project).await;
    let content = "a:\n  script: x\n  rules: [{if: '$CI_COMMIT_BRANCH == \"main\"'}]\nb:\n  script: x\n  only: [tags]\n";
    let body = |name: &str| json!({ "content": content, "dry_run": true, "ref": name, "include_jobs": true });

    for name in ["main", "refs/heads/main"] {
        let lint = judged(&ada, project, body(name)).await;
        assert_eq!(lint["jobs"].as_array().map(Vec::len), Some(1), "{lint}");
    }
    let nowhere = judged(&ada, project, body("gone")).await;
    assert_eq!(nowhere["errors"], json!(["Reference not found"]));
    let mia = app.member(project, "mia", Developer);
    let closed = judged(&mia, project, body("main")).await;
    let error = closed["errors"][0].as_str().unwrap();
    assert!(
        error.starts_with("You do not have sufficient permission to run a pipeline on 'main'.")
    );
}

#[actix_web::test]
async fn who_may_run_no_pipelines_plays_none_through() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, &[(".gitlab-ci.yml", "a: {script: x}")]).await;
    let rita = app.member(project, "rita", Reporter);
    let address = format!("/projects/{project}/ci/lint");

    rita.post(&address, json!({ "content": "a: {script: x}" })).await.with(403);
    assert_eq!(rita.get(&address).await.ok()["valid"], json!(true));
    let dry = rita.get(&format!("{address}?dry_run=true")).await.ok();
    assert_eq!(dry["errors"], json!(["Insufficient permissions to create a new pipeline"]));
}

#[actix_web::test]
async fn files_of_another_project_are_for_those_who_read_it() {
    let app = TestApp::new();
    let (ada, mia) = (app.person("ada"), app.person("mia"));
    let (shared, own) = (app.project(&ada, "shared", Private), app.project(&mia, "own", Private));
    base(&ada, shared).await;
    let content = "include: {project: ada/shared, file: ci/base.yml}";
    let body = json!({ "content": content });

    let hidden = judged(&mia, own, body.clone()).await;
    let error = hidden["errors"][0].as_str().unwrap();
    assert!(error.starts_with("Project `ada/shared` not found or access denied!"), "{error}");
    app.member(shared, "mia", Reporter);
    let shown = judged(&mia, own, body).await;
    assert_eq!(shown["valid"], json!(true), "{shown}");
    let extra = json!({ "project": "ada/shared", "ref": "HEAD" });
    assert_eq!(shown["includes"][0]["extra"], extra);
}

#[actix_web::test]
async fn a_text_without_a_project_is_judged_for_whoever_signed_in() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let body = json!({ "content": "a: {script: x}", "include_merged_yaml": true });

    let lint = ada.post("/ci/lint", body.clone()).await.ok();

    assert_eq!(lint["status"], json!("valid"));
    assert_eq!(
        lint["merged_yaml"],
        json!(
            "---\na:\n  script: x\nstages:\n- \".pre\"\n- build\n- test\n- deploy\n- \".post\"\n"
        )
    );
    let bad = ada.post("/ci/lint", json!({ "content": "a" })).await.ok();
    assert_eq!(
        (&bad["status"], &bad["errors"]),
        (&json!("invalid"), &json!(["Invalid configuration format"]))
    );
    let missing = json!({ "error": "content is missing" });
    ada.post("/ci/lint", json!({})).await.refused(400, missing);
    app.anonymous().post("/ci/lint", body).await.with(401);
}

#[actix_web::test]
async fn a_dry_run_knows_the_variables_that_people_keep() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    base(&ada, project).await;
    for (key, protected) in [("DIR", false), ("SHUT", true)] {
        let new = json!({ "key": key, "value": "ci", "protected": protected });
        ada.post(&format!("/projects/{project}/variables"), new).await.created();
    }
    let branch = json!({ "branch": "open", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let text = "include: $DIR/base.yml\nopen: {script: x, rules: [{if: $DIR == 'ci'}]}\n\
        shut: {script: x, rules: [{if: $SHUT == 'ci'}]}\n";
    let names = |lint: &Value| -> Vec<Value> {
        lint["jobs"].as_array().expect("jobs").iter().map(|job| job["name"].clone()).collect()
    };
    let body = |dry_run: bool, name: &str| json!({ "content": text, "dry_run": dry_run, "ref": name, "include_jobs": true });

    let protected = judged(&ada, project, body(true, "main")).await;
    let open = judged(&ada, project, body(true, "open")).await;
    let unplayed = judged(&ada, project, body(false, "main")).await;

    assert_eq!(names(&protected), ["prepare", "open", "shut"], "{protected}");
    assert_eq!(names(&open), ["prepare", "open"], "{open}");
    assert_eq!(unplayed["valid"], true, "{unplayed}");
}

#[actix_web::test]
async fn who_only_reads_learns_no_variable_from_a_lint() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, &[(".gitlab-ci.yml", "include: $PLACE/base.yml\n")]).await;
    let new = json!({ "key": "PLACE", "value": "hidden-place" });
    ada.post(&format!("/projects/{project}/variables"), new).await.created();
    let path = format!("/projects/{project}/ci/lint");

    let to_owner = ada.get(&path).await.ok().to_string();
    let to_reader = app.member(project, "rob", Reporter).get(&path).await.ok().to_string();

    assert!(
        to_owner.contains("hidden-place") && !to_reader.contains("hidden-place"),
        "{to_reader}"
    );
}
