//! Commits with a configuration, and jobs that are moved as a runner would.

use ci::job::{End, Job, progress};
use kernel::ids::{JobId, ProjectId};
use serde_json::{Value, json};

use super::{Person, TestApp};

/// Writes the configuration of a branch, which comes into being with the first commit; tells the commit.
pub(crate) async fn commit(
    person: &Person<'_>,
    project: ProjectId,
    branch: &str,
    message: &str,
    text: &str,
) -> String {
    let file = format!("/projects/{project}/repository/files/.gitlab-ci.yml?ref={branch}");
    let action = if person.get(&file).await.status == 200 { "update" } else { "create" };
    let actions = json!([{ "action": action, "file_path": ".gitlab-ci.yml", "content": text }]);
    let body = json!({ "branch": branch, "commit_message": message, "actions": actions });
    let made = person.post(&format!("/projects/{project}/repository/commits"), body).await;
    made.created()["id"].as_str().expect("an id").to_owned()
}

/// Those that the list shows.
pub(crate) async fn pipelines(person: &Person<'_>, project: ProjectId, query: &str) -> Vec<Value> {
    let listed = person.get(&format!("/projects/{project}/pipelines{query}")).await.ok();
    listed.as_array().expect("a list").clone()
}

/// The newest job of that name.
pub(crate) async fn job(person: &Person<'_>, project: ProjectId, name: &str) -> Value {
    let listed = person.get(&format!("/projects/{project}/jobs?per_page=100")).await.ok();
    let all = listed.as_array().expect("a list");
    all.iter().find(|job| job["name"] == name).expect("a job of that name").clone()
}

async fn id(person: &Person<'_>, project: ProjectId, name: &str) -> JobId {
    JobId(job(person, project, name).await["id"].as_i64().expect("an id"))
}

/// A runner takes the newest job of that name.
pub(crate) async fn run(app: &TestApp, person: &Person<'_>, project: ProjectId, name: &str) -> Job {
    let id = id(person, project, name).await;
    app.write(move |tx| progress::run(tx, id, None))
}

/// A runner ends the newest job of that name.
pub(crate) async fn finish(
    app: &TestApp,
    person: &Person<'_>,
    project: ProjectId,
    name: &str,
    end: End,
) -> Job {
    let id = id(person, project, name).await;
    app.write(move |tx| progress::finish(tx, id, end.clone()))
}

/// The token of a job that runs in a project, for this person.
pub(crate) async fn job_token(person: &Person<'_>, project: ProjectId) -> String {
    commit(person, project, "main", "jobs", "job: {script: x}\n").await;
    let new = json!({ "runner_type": "project_type", "project_id": project.0 });
    let runner = person.post("/user/runners", new).await.created();
    let ask = json!({ "token": runner["token"] });
    let payload = person.app.anonymous().post("/jobs/request", ask).await.created();
    payload["token"].as_str().expect("a token").to_owned()
}
