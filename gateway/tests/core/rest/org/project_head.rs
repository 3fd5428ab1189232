//! What a project's record tells of its default branch is true for the very next reader.

use kernel::Visibility;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

struct Project<'a> {
    ada: Person<'a>,
    path: String,
}

fn project(app: &TestApp) -> Project<'_> {
    let ada = app.person("ada");
    let id = app.project(&ada, "forge", Visibility::Public);
    Project { ada, path: format!("/projects/{id}") }
}

impl Project<'_> {
    async fn commit(&self, branch: &str, actions: Value) {
        let body = json!({ "branch": branch, "commit_message": "Act", "actions": actions });
        self.ada.post(&format!("{}/repository/commits", self.path), body).await.created();
    }

    async fn record(&self) -> Value {
        self.ada.get(&format!("{}?statistics=true", self.path)).await.ok()
    }

    async fn languages(&self) -> Value {
        self.ada.get(&format!("{}/languages", self.path)).await.ok()
    }

    /// Whether the list of projects written in a language has this one.
    async fn is_listed_under(&self, language: &str) -> bool {
        let list = format!("/projects?with_programming_language={language}");
        self.ada.get(&list).await.ok().as_array().is_some_and(|found| !found.is_empty())
    }
}

fn file(action: &str, path: &str, content: &str) -> Value {
    json!({ "action": action, "file_path": path, "content": content })
}

#[actix_web::test]
async fn the_first_commit_is_told_of_at_once() {
    let app = TestApp::new();
    let project = project(&app);

    let files = json!([
        file("create", "README.md", "# Forge"),
        file("create", "LICENSE", "MIT"),
        file("create", "main.rs", "fn main() {}")
    ]);
    project.commit("main", files).await;

    let record = project.record().await;
    assert_eq!(record["readme_url"], "http://forge.test/ada/forge/-/blob/main/README.md");
    assert_eq!(record["statistics"]["commit_count"], 1);
    assert!(record["statistics"]["repository_size"].as_i64() > Some(0));
    assert_eq!(project.languages().await, json!({ "Rust": 100.0 }));
    assert!(project.is_listed_under("Rust").await);
}

#[actix_web::test]
async fn further_commits_are_followed() {
    let app = TestApp::new();
    let project = project(&app);
    project
        .commit(
            "main",
            json!([
                file("create", "README", "old"),
                file("create", "a.rs", "1234"),
                file("create", "b.py", "12")
            ]),
        )
        .await;
    let before = project.record().await;

    project
        .commit(
            "main",
            json!([
                { "action": "delete", "file_path": "README" },
                file("create", "readme.md", "new"),
                file("update", "a.rs", "123456"),
                { "action": "move", "file_path": "b.go", "previous_path": "b.py" }
            ]),
        )
        .await;

    let record = project.record().await;
    assert_eq!(record["readme_url"], "http://forge.test/ada/forge/-/blob/main/readme.md");
    assert_eq!(record["statistics"]["commit_count"], 2);
    let size = |record: &Value| record["statistics"]["repository_size"].as_i64();
    assert!(size(&record) > size(&before));
    assert_eq!(project.languages().await, json!({ "Rust": 75.0, "Go": 25.0 }));
    assert!(project.is_listed_under("Go").await);
    assert!(!project.is_listed_under("Python").await);
}

#[actix_web::test]
async fn another_branch_changes_nothing_until_it_is_the_default_one() {
    let app = TestApp::new();
    let project = project(&app);
    project.commit("main", json!([file("create", "README", "x")])).await;
    let body = json!({ "branch": "next", "ref": "main" });
    project.ada.post(&format!("{}/repository/branches", project.path), body).await.created();
    project
        .commit("next", json!([file("create", "README.md", "y"), file("create", "a.c", "z")]))
        .await;
    let record = project.record().await;
    assert_eq!(record["readme_url"], "http://forge.test/ada/forge/-/blob/main/README");
    assert_eq!(record["statistics"]["commit_count"], 1);

    project.ada.put(&project.path, json!({ "default_branch": "next" })).await.ok();

    let record = project.record().await;
    assert_eq!(record["readme_url"], "http://forge.test/ada/forge/-/blob/next/README.md");
    assert_eq!(record["statistics"]["commit_count"], 2);
    assert!(project.is_listed_under("C").await);
}

#[actix_web::test]
async fn a_branch_that_goes_back_is_counted_anew() {
    let app = TestApp::new();
    let project = project(&app);
    project.commit("main", json!([file("create", "README", "x")])).await;
    let first = project.ada.get(&format!("{}/repository/commits/main", project.path)).await.ok();
    project.commit("main", json!([file("create", "a.rs", "y")])).await;
    project.commit("main", json!([file("create", "b.rs", "z")])).await;
    let rules = format!("{}/protected_branches/main", project.path);
    project.ada.patch(&rules, json!({ "allow_force_push": true })).await.ok();

    let body = json!({
        "branch": "main", "commit_message": "Begin again", "start_sha": first["id"], "force": true,
        "actions": [file("create", "c.py", "1")],
    });
    project.ada.post(&format!("{}/repository/commits", project.path), body).await.created();

    assert_eq!(project.record().await["statistics"]["commit_count"], 2);
    assert!(project.is_listed_under("Python").await);
    assert!(!project.is_listed_under("Rust").await);
}
