//! A crash between a project's row and its repository is made good.

use db::schema::projects;
use diesel::prelude::*;
use gateway::compose::beginnings::SettleBeginning;
use kernel::{Visibility, ids::ProjectId};

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

    SettleBeginning::with(project, "trunk").run(&app.state).await.unwrap();

    let head = std::fs::read_to_string(home.as_path().join("HEAD")).unwrap();
    assert_eq!(head, "ref: refs/heads/trunk\n");
}

#[actix_web::test]
async fn a_repository_that_is_there_stays_as_it_is() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Visibility::Private);

    SettleBeginning::with(project, "trunk").run(&app.state).await.unwrap();

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
        SettleBeginning::as_fork(fork).run(&app.state).await.unwrap();
    }

    ada.get(&format!("/projects/{half}")).await.with(404);
    ada.get(&format!("/projects/{whole}")).await.ok();
}
