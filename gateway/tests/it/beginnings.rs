//! A crash between a project's row and its repository is made good.

use db::schema::projects;
use diesel::prelude::*;
use forge::project::repository::EnsureRepository;
use gateway::belonging::{self, DataFolderMatch};
use kernel::{Visibility, ids::ProjectId};
use serde_json::json;

use crate::support::TestApp;

fn tell_import(app: &TestApp, project: ProjectId, status: &'static str) {
    app.write(move |tx| {
        let row = projects::table.find(project);
        db::each_backend!(tx, |conn| diesel::update(row)
            .set(projects::import_status.eq(status))
            .execute(conn)
            .map_err(db::error("Project")))
    });
}

#[actix_web::test]
async fn a_project_without_a_repository_gets_one() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Visibility::Private);
    let home = app.state.storage.repository(project);
    std::fs::remove_dir_all(home.as_path()).unwrap();

    EnsureRepository::with(project, "trunk").run(&app.state).await.unwrap();

    let head = std::fs::read_to_string(home.as_path().join("HEAD")).unwrap();
    assert_eq!(head, "ref: refs/heads/trunk\n");
}

#[actix_web::test]
async fn a_repository_that_is_there_stays_as_it_is() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Visibility::Private);

    EnsureRepository::with(project, "trunk").run(&app.state).await.unwrap();

    let home = app.state.storage.repository(project);
    let head = std::fs::read_to_string(home.as_path().join("HEAD")).unwrap();
    assert_eq!(head, "ref: refs/heads/main\n");
}

#[actix_web::test]
async fn a_half_made_fork_goes_and_a_finished_one_stays() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let half = app.project(&ada, "half", Visibility::Private);
    let whole = app.project(&ada, "whole", Visibility::Private);
    tell_import(&app, whole, "finished");

    for fork in [half, whole] {
        EnsureRepository::as_fork(fork).run(&app.state).await.unwrap();
    }

    ada.get(&format!("/projects/{half}")).await.with(404);
    ada.get(&format!("/projects/{whole}")).await.ok();
}

/// A repository that lies where the next project's is to be, with something in it.
fn repository_in_the_way(app: &TestApp, before: ProjectId) -> std::path::PathBuf {
    let next = ProjectId(before.0 + 1);
    let main = repo::git::RefName::branch("main").expect("a repository in the way");
    let home = app.state.storage.create(next, &main).expect("a repository in the way");
    std::fs::write(home.as_path().join("precious"), "work of years")
        .expect("a repository in the way");
    home.as_path().join("precious")
}

#[actix_web::test]
async fn a_project_that_cannot_be_made_leaves_what_lay_there_before() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let before = app.project(&ada, "forge", Visibility::Private);
    let precious = repository_in_the_way(&app, before);

    assert_eq!(ada.post("/projects", json!({ "name": "next" })).await.status, 500);
    app.work().await;

    assert!(precious.exists());
    ada.get("/projects/ada%2Fnext").await.with(404);
    ada.post("/projects", json!({ "name": "next" })).await.with(201);
}

#[actix_web::test]
async fn a_fork_that_cannot_be_made_leaves_what_lay_there_before() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let source = app.project(&ada, "forge", Visibility::Private);
    let precious = repository_in_the_way(&app, source);

    let fork = ada
        .post(&format!("/projects/{source}/fork"), json!({ "path": "copy", "name": "copy" }))
        .await;
    assert_eq!(fork.status, 500);
    app.work().await;

    assert!(precious.exists());
    ada.get("/projects/ada%2Fcopy").await.with(404);
}

#[actix_web::test]
async fn a_database_knows_its_data_folder() {
    let app = TestApp::new();
    belonging::ensure(&app.state).await.unwrap();
    app.project(&app.person("ada"), "forge", Visibility::Private);
    belonging::ensure(&app.state).await.unwrap();
    assert_eq!(belonging::data_folder_match(&app.state).await.unwrap(), DataFolderMatch::Sealed);

    app.write(|tx| db::stamp::keep(tx, "data folder", 7));

    let refusal = belonging::ensure(&app.state).await.unwrap_err().to_string();
    assert!(refusal.contains("belongs to another data folder"), "{refusal}");
    belonging::adopt(&app.state).await.unwrap();
    belonging::ensure(&app.state).await.unwrap();
}

#[actix_web::test]
async fn an_empty_database_is_refused_beside_a_full_folder() {
    let app = TestApp::new();
    repository_in_the_way(&app, ProjectId(0));

    let refusal = belonging::ensure(&app.state).await.unwrap_err().to_string();

    assert!(refusal.contains("the database is empty"), "{refusal}");
    assert!(belonging::adopt(&app.state).await.is_err());
}
