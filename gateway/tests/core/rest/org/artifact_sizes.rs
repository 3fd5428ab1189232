//! What the artifacts of jobs take, as projects and groups tell it.

use ci::artifact::{ArtifactKind, ArtifactStore as _, NewArtifact};
use kernel::ids::ProjectId;
use serde_json::json;

use crate::support::{
    Person, TestApp,
    ci::{commit, run},
};

/// A project of a group with a job that left 1,234 bytes behind.
async fn project(app: &TestApp, ada: &Person<'_>, group: i64, name: &str) -> ProjectId {
    let new = json!({ "name": name, "namespace_id": group });
    let made = ada.post("/projects", new).await.created();
    let project = ProjectId(made["id"].as_i64().expect("an id"));
    commit(ada, project, "main", "Start", "a:\n  script: x\n").await;
    let job = run(app, ada, project, "a").await;
    let file = NewArtifact {
        kind: ArtifactKind::Archive,
        filename: "artifacts.zip".to_owned(),
        size: 1_234,
        sha256: "0".repeat(64),
        location: "nowhere".to_owned(),
        expires_at: None,
    };
    app.write(move |tx| tx.insert_artifact(&job, &file));
    project
}

#[actix_web::test]
async fn artifacts_count_in_the_sizes_of_a_project_by_either_api() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("orchid", None).await;
    let project = project(&app, &ada, group, "one").await;

    let shown = ada.get(&format!("/projects/{project}?statistics=true")).await.ok();

    let sizes = &shown["statistics"];
    assert_eq!(sizes["job_artifacts_size"], 1234);
    let rest: i64 = ["repository_size", "wiki_size", "lfs_objects_size", "uploads_size"]
        .iter()
        .map(|name| sizes[name].as_i64().expect("a size"))
        .sum();
    assert_eq!(sizes["storage_size"], rest + 1234);
    let query =
        r#"{ project(fullPath: "orchid/one") { statistics { buildArtifactsSize storageSize } } }"#;
    let answer = ada.post("//api/graphql", json!({ "query": query })).await.ok();
    let other = &answer["data"]["project"]["statistics"];
    assert_eq!(other["buildArtifactsSize"].as_f64(), sizes["job_artifacts_size"].as_f64());
    assert_eq!(other["storageSize"].as_f64(), sizes["storage_size"].as_f64());
}

#[actix_web::test]
async fn groups_add_up_what_the_artifacts_of_their_own_projects_take() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let group = ada.group("orchid", None).await;
    let below = ada.group("leaf", Some(group)).await;
    for (group, name) in [(group, "one"), (group, "two"), (below, "three")] {
        project(&app, &ada, group, name).await;
    }

    let listed = root.get("/groups?statistics=true&order_by=id").await.ok();

    let size = |place: usize, name: &str| listed[place]["statistics"][name].clone();
    assert_eq!(size(0, "job_artifacts_size"), 2468);
    assert_eq!(size(1, "job_artifacts_size"), 1234);
    assert!(size(0, "storage_size").as_i64() >= Some(2468));
    let query = r#"{ group(fullPath: "orchid") { rootStorageStatistics { buildArtifactsSize } } }"#;
    let answer = ada.post("//api/graphql", json!({ "query": query })).await.ok();
    let whole = &answer["data"]["group"]["rootStorageStatistics"]["buildArtifactsSize"];
    assert_eq!(whole.as_f64(), Some(3702.0), "all that is inside");
}

#[actix_web::test]
async fn a_list_with_sizes_costs_the_same_for_any_number_of_projects() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("orchid", None).await;
    let list = "/projects?statistics=true&membership=true";
    let size = async || ada.get(list).await.ok()[0]["statistics"]["job_artifacts_size"].clone();
    let cost = async || app.cost(async || assert_eq!(size().await, 1234)).await;
    project(&app, &ada, group, "one").await;
    let alone = cost().await;
    for name in ["two", "three"] {
        project(&app, &ada, group, name).await;
    }

    assert_eq!(cost().await, alone);
}
