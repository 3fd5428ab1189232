//! A monitor outside, which sends alerts.

use actix_web::http::Method;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use kernel::{AccessLevel::Maintainer, Visibility, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

pub(crate) struct Monitor<'a> {
    pub(crate) app: &'a TestApp,
    /// From the server's root.
    pub(crate) path: String,
    pub(crate) key: String,
}

impl<'a> Monitor<'a> {
    pub(crate) fn of(app: &'a TestApp, integration: &Value) -> Self {
        let url = integration["url"].as_str().expect("an address");
        let path = url.strip_prefix("http://forge.test").expect("an address of ours");
        let key = integration["token"].as_str().expect("a key").to_owned();
        Self { app, path: format!("/{path}"), key }
    }

    pub(crate) async fn send_to(&self, path: &str, body: &[u8]) -> Answer {
        let caller = self.app.anonymous().sending("Authorization", &format!("Bearer {}", self.key));
        caller.send_bytes(Method::POST, path, "application/json", body).await
    }

    pub(crate) async fn send_text(&self, body: &str) -> Answer {
        self.send_to(&self.path, body.as_bytes()).await
    }

    pub(crate) async fn send(&self, body: Value) -> Answer {
        self.send_text(&body.to_string()).await
    }

    pub(crate) async fn send_by_password(&self, user: &str, body: Value) -> Answer {
        let pair = BASE64.encode(format!("{user}:{}", self.key));
        let caller = self.app.anonymous().sending("Authorization", &format!("Basic {pair}"));
        caller.post(&self.path, body).await
    }
}

/// A project with an integration of this kind.
pub(crate) async fn set_up<'a>(
    app: &'a TestApp,
    kind: &str,
) -> (ProjectId, Person<'a>, Monitor<'a>) {
    let project = app.project(&app.person("olga"), "one", Visibility::Private);
    let mia = app.member(project, "mia", Maintainer);
    let integration = integrate(&mia, project, json!({ "type": kind })).await;
    (project, mia, Monitor::of(app, &integration))
}

pub(crate) async fn integrate(mia: &Person<'_>, project: ProjectId, more: Value) -> Value {
    let mut new = json!({ "name": "My Monitor", "active": true });
    for (name, value) in more.as_object().expect("fields") {
        new[name] = value.clone();
    }
    let path = format!("/projects/{project}/alert_management_integrations");
    mia.post(&path, new).await.created()
}

pub(crate) async fn alerts(person: &Person<'_>, project: ProjectId) -> Vec<Value> {
    let listed = person.get(&format!("/projects/{project}/alert_management_alerts")).await.ok();
    listed.as_array().expect("a list").clone()
}

/// A call of Prometheus with these alerts.
pub(crate) fn prometheus(all: &[Value]) -> Value {
    json!({
        "version": "4", "groupKey": "k", "status": "firing", "receiver": "r", "groupLabels": {}, "commonLabels": {},
        "commonAnnotations": {}, "externalURL": "u", "alerts": all,
    })
}
