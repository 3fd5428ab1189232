//! Commits and merge requests for tests that need some.

use serde_json::{Value, json};

use super::Person;

impl Person<'_> {
    /// Commits a file to a branch, which begins at `main` where it is not there; the answer is the commit's id.
    pub(crate) async fn commit(&self, project: &Value, branch: &str, path: &str) -> String {
        self.commit_text(project, branch, path, &format!("{path} on {branch}\n")).await
    }

    pub(crate) async fn commit_text(
        &self,
        project: &Value,
        branch: &str,
        path: &str,
        text: &str,
    ) -> String {
        let base = format!("/projects/{project}/repository");
        let there = self.get(&format!("{base}/branches/{branch}")).await.status == 200;
        let known = self.get(&format!("{base}/files/{path}?ref={branch}")).await.status == 200;
        let mut commit = json!({
            "branch": branch,
            "commit_message": format!("Change {path}"),
            "actions": [{
                "action": if known { "update" } else { "create" },
                "file_path": path,
                "content": text,
            }],
        });
        if !there {
            commit["start_branch"] = json!("main");
        }
        let made = self.post(&format!("{base}/commits"), commit).await.created();
        made["id"].as_str().expect("a commit").to_owned()
    }

    /// A project of one's own with a README on `main`.
    pub(crate) async fn filled_project(&self, name: &str, visibility: &str) -> Value {
        let new = json!({ "name": name, "visibility": visibility, "initialize_with_readme": true });
        self.post("/projects", new).await.created()["id"].clone()
    }

    /// Proposes a branch to `main`.
    pub(crate) async fn propose(&self, project: &Value, branch: &str, title: &str) -> Value {
        let new = json!({ "title": title, "source_branch": branch, "target_branch": "main" });
        self.post(&format!("/projects/{project}/merge_requests"), new).await.created()
    }
}
