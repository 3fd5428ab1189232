//! A runner as its program behaves.

use actix_web::http::Method;
use kernel::{AccessLevel::Maintainer, Visibility, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp, ci::commit};

/// A runner of a project, as its program sees the server.
pub(crate) struct Runner<'a> {
    pub(crate) app: &'a TestApp,
    pub(crate) token: String,
}

impl<'a> Runner<'a> {
    pub(crate) async fn of(person: &Person<'a>, project: ProjectId, fields: Value) -> Self {
        let mut new = json!({ "runner_type": "project_type", "project_id": project.0 });
        for (name, value) in fields.as_object().expect("fields") {
            new[name] = value.clone();
        }
        let made = person.post("/user/runners", new).await.created();
        Self { app: person.app, token: made["token"].as_str().expect("a token").to_owned() }
    }

    pub(crate) async fn ask(&self, more: Value) -> Answer {
        let features = json!({ "refspecs": true, "upload_multiple_artifacts": true });
        let mut body = json!({ "token": self.token, "info": { "features": features } });
        for (name, value) in more.as_object().expect("fields") {
            body[name] = value.clone();
        }
        self.app.anonymous().post("/jobs/request", body).await
    }

    pub(crate) async fn take(&self) -> Value {
        self.ask(json!({})).await.created()
    }
}

/// What the program does with a job.
pub(crate) struct Work<'a> {
    pub(crate) caller: Person<'a>,
    pub(crate) path: String,
    pub(crate) token: Value,
}

impl<'a> Work<'a> {
    pub(crate) fn new(app: &'a TestApp, payload: &Value) -> Self {
        let token = payload["token"].as_str().expect("a token");
        let caller = app.anonymous().sending("JOB-TOKEN", token);
        Self { caller, path: format!("/jobs/{}", payload["id"]), token: payload["token"].clone() }
    }

    pub(crate) async fn write(&self, start: usize, text: &str) -> Answer {
        let end = (start + text.len()).saturating_sub(1);
        let caller = self.caller.sending("Content-Range", &format!("{start}-{end}"));
        let path = format!("{}/trace", self.path);
        caller.send_bytes(Method::PATCH, &path, "text/plain", text.as_bytes()).await
    }

    /// Brings a file, with more said in the query.
    pub(crate) async fn bring(&self, query: &str, name: &str, content: &[u8]) -> Answer {
        let head = format!(
            "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
        );
        let body = [head.as_bytes(), content, b"\r\n--edge--\r\n"].concat();
        let path = format!("{}/artifacts{query}", self.path);
        let form = "multipart/form-data; boundary=edge";
        self.caller.send_bytes(Method::POST, &path, form, &body).await
    }

    pub(crate) async fn report(&self, fields: Value) -> Answer {
        self.caller.put(&self.path, fields).await
    }
}

pub(crate) async fn set_up<'a>(
    app: &'a TestApp,
    text: &str,
) -> (ProjectId, Person<'a>, Runner<'a>) {
    let project = app.project(&app.person("olga"), "one", Visibility::Private);
    let mia = app.member(project, "mia", Maintainer);
    commit(&mia, project, "main", "jobs", text).await;
    let runner = Runner::of(&mia, project, json!({})).await;
    (project, mia, runner)
}
