//! Fetches of nodes: `gateway/src/git_http/node_fetch.rs`

use geo::credential::Statement;
use kernel::ids::ProjectId;
use repo::testing::Fixture;
use serde_json::json;

use super::{caller, credential, secondary, showing};
use crate::support::{TestApp, git::Client};

const REFS: &str = "//ada/forge.git/info/refs?service=git-upload-pack";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[actix_web::test]
async fn a_node_is_shown_refs_that_are_hidden_from_people() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let project = app.project_from(&Fixture::new());
    let home = app.state.storage.repository(project);
    let main = app.refs(project).into_iter().find_map(|(_, text)| {
        let id = text.split_whitespace().find(|word| word.len() == 40);
        id.map(str::to_owned)
    });
    let main = main.expect("a commit");
    let folder = home.as_path().join("refs/keep-around");
    std::fs::create_dir_all(&folder).expect("a folder is made");
    std::fs::write(folder.join(&main), format!("{main}\n")).expect("a ref is written");
    let scope = Statement::new([("scope", json!("ada/forge"))]);

    let shown = showing(&app, &credential(&app, &node, &scope)).get(REFS).await;

    assert_eq!(shown.status, 200);
    assert!(text(&shown.bytes).contains("refs/keep-around/"));
    let people = app.anonymous().get(REFS).await;
    assert!(!text(&people.bytes).contains("refs/keep-around/"));
}

/// A commit that nothing but a hidden ref leads to.
async fn hidden_commit(app: &TestApp, project: ProjectId) -> String {
    let home = app.state.storage.repository(project);
    let home = home.as_path().to_str().expect("a path").to_owned();
    let git = Client::new();
    let made = git.git(&["--git-dir", &home, "commit-tree", "main^{tree}", "-m", "Hidden"]).await;
    let id = made.ok();
    let name = format!("refs/keep-around/{id}");
    git.git(&["--git-dir", &home, "update-ref", &name, &id]).await.ok();
    id
}

#[actix_web::test]
async fn git_is_given_hidden_refs_with_the_signature_of_a_node_alone() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let project = app.project_from(&Fixture::new());
    let (id, server) = (hidden_commit(&app, project).await, app.serve());
    let url = format!("http://{}/ada/forge.git", server.address);
    let scope = Statement::new([("scope", json!("ada/forge"))]);
    let header = format!("http.extraHeader=Authorization: {}", credential(&app, &node, &scope));
    let (copy, all) = (Client::new(), "refs/keep-around/*:refs/keep-around/*");
    copy.run("init -q .").await.ok();

    copy.git(&["fetch", "-q", &url, all]).await.ok();
    assert_eq!(copy.run("for-each-ref").await.ok(), "");
    let by_name = copy.git(&["fetch", "-q", &url, &format!("refs/keep-around/{id}")]).await;
    assert!(by_name.refused().contains("couldn't find remote ref"));

    copy.git(&["-c", &header, "fetch", "-q", &url, all]).await.ok();
    let found = copy.run("for-each-ref --format=%(objectname)").await.ok();
    assert!(found.lines().any(|line| line == id), "{found}");
    copy.run(&format!("cat-file -e {id}^{{tree}}")).await.ok();
}

#[actix_web::test]
async fn git_is_refused_a_private_repository_without_the_signature_of_a_node() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let project = app.project_from(&Fixture::new());
    let (id, server) = (hidden_commit(&app, project).await, app.serve());
    let hide = json!({ "visibility": "private" });
    app.person("ada").put(&format!("/projects/{project}"), hide).await.ok();
    let url = format!("http://{}/ada/forge.git", server.address);
    let header = |scope: &str| {
        let scope = Statement::new([("scope", json!(scope))]);
        format!("http.extraHeader=Authorization: {}", credential(&app, &node, &scope))
    };
    let copy = Client::new();
    copy.run("init -q .").await.ok();
    for version in ["protocol.version=0", "protocol.version=2"] {
        copy.git(&["-c", version, "fetch", "-q", &url, &id]).await.refused();
        let other = ["-c", &header("ada/other"), "-c", version, "fetch", "-q", &url, &id];
        copy.git(&other).await.refused();
    }
    assert!(!copy.run(&format!("cat-file -e {id}")).await.went_well());

    copy.git(&["-c", &header("ada/forge"), "fetch", "-q", &url, &id]).await.ok();
    copy.run(&format!("cat-file -e {id}^{{tree}}")).await.ok();
}

#[actix_web::test]
async fn a_node_fetches_only_what_it_signed_for() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    app.project_from(&Fixture::new());
    assert_eq!(caller(&app, &node).get(REFS).await.status, 401);
    let scope = Statement::new([("scope", json!("ada/nothing"))]);
    let shown = credential(&app, &node, &scope);
    let nothing = "//ada/nothing.git/info/refs?service=git-upload-pack";
    assert_eq!(showing(&app, &shown).get(nothing).await.status, 404);
    let push = REFS.replace("upload", "receive");
    assert_eq!(showing(&app, &shown).get(&push).await.status, 401);
}

#[actix_web::test]
async fn a_node_is_told_the_refs_of_pipelines() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    let project = app.project_from(&Fixture::new());
    let path = format!("/geo/repositories/project-{project}/pipeline_refs");
    let found = caller(&app, &node).get(&path).await.ok();
    assert_eq!(found, json!({ "pipeline_refs": [] }));
    app.admin().get(&path).await.with(401);
    caller(&app, &node).get("/geo/repositories/cat-1/pipeline_refs").await.with(404);
}

#[actix_web::test]
async fn a_disabled_node_fetches_nothing() {
    let app = TestApp::new();
    let node = secondary(&app, "copy").await;
    app.project_from(&Fixture::new());
    let scope = Statement::new([("scope", json!("ada/forge"))]);
    assert_eq!(showing(&app, &credential(&app, &node, &scope)).get(REFS).await.status, 200);
    let change = json!({ "name": "copy", "url": "https://copy.test", "enabled": false });
    app.admin().put(&format!("/geo_nodes/{}", node.id), change).await.ok();

    let refused = showing(&app, &credential(&app, &node, &scope)).get(REFS).await;

    assert_eq!(refused.status, 401);
}
