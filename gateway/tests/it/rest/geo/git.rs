//! Fetches of nodes: `gateway/src/git_http/node_fetch.rs`

use geo::credential::Statement;
use repo::testing::Fixture;
use serde_json::json;

use super::{caller, credential, secondary, showing};
use crate::support::TestApp;

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
