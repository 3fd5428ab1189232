//! A repository as one tar file.

use kernel::AccessLevel;
use repo::testing::Fixture;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn an_administrator_takes_a_repository_away_whole() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let project = app.project_from(&fixture);
    let path = format!("/projects/{project}/snapshot");

    let answer = app.admin().get(&path).await;

    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/x-tar")));
    let folder = tempfile::tempdir().expect("a folder");
    tar::Archive::new(&answer.bytes[..]).unpack(folder.path()).expect("a tar file");
    let told = |arguments: &[&str]| {
        let git = std::process::Command::new("git")
            .args(["-c", "safe.directory=*", "--git-dir"])
            .arg(folder.path())
            .args(arguments)
            .output();
        let output = git.expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(told(&["rev-parse", "main"]), fixture.id("main").to_string());
    told(&["fsck", "--strict"]);
    assert!(app.admin().head(&path).await.bytes.is_empty());
}

#[actix_web::test]
async fn nobody_else_may() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let project = app.project_from(&fixture);
    let path = format!("/projects/{project}/snapshot");
    let owner = app.member(project, "olga", AccessLevel::Owner);

    owner.get(&path).await.refused(403, json!({ "message": "403 Forbidden" }));
    app.anonymous().get(&path).await.refused(401, json!({ "message": "401 Unauthorized" }));
}
