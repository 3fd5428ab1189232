//! Real answers against the JSON Schemas that the widely used product publishes for them. The schemas lie beside the
//! project where it is worked on; where they do not, there is nothing to compare with.

use std::{
    collections::BTreeMap,
    error::Error,
    path::{Path, PathBuf},
};

use gateway::{
    rest,
    route::{ROOT, RouteMatch, Router},
};
use jsonschema::{Retrieve, Uri, Validator};
use kernel::ids::ProjectId;
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::TestApp;

/// Where the specification, the contract or a decision of ours says otherwise, it wins: the schema, the field, and what
/// holds instead.
const OTHERWISE: &[(&str, &str, &str)] = &[
    ("boards.json", "repository_storage", "administrators see it in the short form, too"),
    ("environments.json", "repository_storage", "administrators see it in the short form, too"),
    ("integration.json", "properties", "a single integration shows its parameters"),
    ("members.json", "expires_at", "the last day of a membership is a date, not a moment"),
    ("milestone.json", "_date", "the days of a milestone are dates, not moments"),
    ("milestones.json", "_date", "the days of a milestone are dates, not moments"),
    ("notes.json", "attachment", "the specification shows an attachment with every note"),
    ("projects.json", "repository_storage", "administrators see it in the short form, too"),
    ("user/admins.json", "namespace_id", "the bot of a project token has no namespace of its own"),
];

/// The schemas, with the list of what answers in which shape.
struct Schemas {
    folder: PathBuf,
    map: Value,
}

impl Schemas {
    /// `None` where the schemas are not at hand.
    fn find() -> Option<Self> {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/schemas");
        let folder = beside.canonicalize().ok()?;
        let map = read(&folder.join("map.json")).ok()?;
        Some(Self { folder, map })
    }

    /// Endpoints and the names of their schemas; `[x.json]` is a list of `x.json`.
    fn endpoints(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let rows = ["map", "ee"].into_iter().flat_map(|part| self.map[part].as_array());
        rows.flatten().map(|row| (text(&row[0]), text(&row[1]))).collect()
    }

    fn files(&self) -> Files {
        let root = self.folder.join("spec/fixtures/api/schemas/public_api/v4");
        Files { root, newer: self.map["newer"].clone() }
    }

    /// Whether the schema is at hand; those of paid editions may not be.
    fn has(&self, name: &str) -> bool {
        self.files().root.join(name.trim_matches(['[', ']'])).is_file()
    }

    fn validator(&self, name: &str) -> Validator {
        let files = self.files();
        let file = name.trim_matches(['[', ']']);
        let schema = json!({ "$ref": format!("file://{}", files.root.join(file).display()) });
        let schema = match name.starts_with('[') {
            true => json!({ "type": "array", "items": schema }),
            false => schema,
        };
        let options = jsonschema::options().should_validate_formats(true).with_retriever(files);
        options.build(&schema).unwrap_or_else(|cause| panic!("the schema {name}: {cause}"))
    }
}

/// Reads the schemas that others refer to, from disk alone.
struct Files {
    root: PathBuf,
    /// Fields by schema that came to the product after the version that is specified.
    newer: Value,
}

impl Retrieve for Files {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let path = Path::new(uri.path().as_str());
        let mut schema = read(path)?;
        let name = path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy();
        for field in self.newer[name.as_ref()].as_array().into_iter().flatten() {
            forget(&mut schema, field);
        }
        Ok(schema)
    }
}

fn read(path: &Path) -> Result<Value, Box<dyn Error + Send + Sync>> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

/// Lets a field be absent, and be there where only named fields may be.
fn forget(schema: &mut Value, field: &Value) {
    match schema {
        Value::Object(map) => {
            if let Some(required) = map.get_mut("required").and_then(Value::as_array_mut) {
                required.retain(|name| name != field);
            }
            if let (Some(properties), Some(name)) = (map.get_mut("properties"), field.as_str())
                && properties.get(name).is_none()
            {
                properties[name] = json!({});
            }
            map.values_mut().for_each(|inner| forget(inner, field));
        }
        Value::Array(values) => values.iter_mut().for_each(|inner| forget(inner, field)),
        _ => {}
    }
}

/// Things to ask for, by the names that the list of endpoints gives them.
async fn made(app: &TestApp) -> BTreeMap<&'static str, String> {
    let fixture = Fixture::new();
    fixture.git(&["tag", "v1", "main"]);
    let project = app.project_from(&fixture);
    let admin = app.admin();
    let comments = format!("/projects/{project}/repository/commits/main/comments");
    admin.post(&comments, json!({ "note": "Seen" })).await.created();
    let status = json!({ "state": "success", "name": "build" });
    admin.post(&format!("/projects/{project}/statuses/main"), status).await.created();
    let release = json!({ "tag_name": "v1", "description": "First" });
    admin.post(&format!("/projects/{project}/releases"), release).await.created();
    let file = format!("/projects/{project}/repository/files/.gitlab-ci.yml");
    let config = json!({ "branch": "build", "start_branch": "main", "commit_message": "Build", "content": "build: {script: make}" });
    admin.post(&file, config).await.created();
    app.person("grace");
    let grace = app.user("grace").id;
    let member = json!({ "user_id": grace, "access_level": 30, "expires_at": "2030-01-01" });
    admin.post(&format!("/projects/{project}/members"), member.clone()).await;
    let group = admin.post("/groups", json!({ "name": "Group", "path": "group" })).await;
    let group = group.body["id"].to_string();
    admin.post(&format!("/groups/{group}/members"), member).await;
    let inside = json!({ "name": "Inside", "namespace_id": group });
    admin.post("/projects", inside).await;
    let token = json!({ "name": "t", "scopes": ["api"], "expires_at": "2026-02-01" });
    admin.post(&format!("/projects/{project}/access_tokens"), token).await;
    let label = json!({ "name": "bug", "color": "red", "description": "Broken" });
    admin.post(&format!("/projects/{project}/labels"), label.clone()).await.created();
    admin.post(&format!("/groups/{group}/labels"), label).await.created();
    let milestone = json!({ "title": "1.0", "start_date": "2026-01-01", "due_date": "2026-02-01" });
    let milestone = admin.post(&format!("/projects/{project}/milestones"), milestone).await;
    let place = json!({ "namespace": group });
    admin.put(&format!("/projects/{project}/transfer"), place).await.ok();
    let (issue, merge_request) = proposed(app, project).await;
    let deployment = json!({ "environment": "production", "sha": fixture.id("main").to_string(), "ref": "main", "tag": false, "status": "success" });
    let deployment = admin.post(&format!("/projects/{project}/deployments"), deployment).await;
    let deployment = deployment.created();
    let pipelines = admin.get(&format!("/projects/{project}/pipelines")).await.ok();
    let jobs = admin.get(&format!("/projects/{project}/jobs")).await.ok();
    let url = json!({ "url": "https://hooks.example.com" });
    admin.post("/hooks", url.clone()).await.created();
    let hook = admin.post(&format!("/projects/{project}/hooks"), url).await.created();
    let board = json!({ "name": "Plan" });
    admin.post(&format!("/projects/{project}/boards"), board).await.created();
    let key = json!({ "api_key": "k3y" });
    admin.put(&format!("/projects/{project}/integrations/asana"), key).await.ok();
    BTreeMap::from([
        ("{issue}", issue),
        ("{mr}", merge_request),
        ("{pipeline}", pipelines[0]["id"].to_string()),
        ("{job}", jobs[0]["id"].to_string()),
        ("{hook}", hook["id"].to_string()),
        ("{milestone}", milestone.created()["id"].to_string()),
        ("{deployment}", deployment["id"].to_string()),
        ("{environment}", deployment["environment"]["id"].to_string()),
        ("{project}", project.to_string()),
        ("{group}", group),
        ("{user}", grace.to_string()),
        ("{sha}", fixture.id("main").to_string()),
    ])
}

/// An issue and a merge request of the project, each with a label, a person and a note.
async fn proposed(app: &TestApp, project: ProjectId) -> (String, String) {
    let (admin, project) = (app.admin(), format!("/projects/{project}"));
    let grace = app.user("grace").id;
    let issues = format!("{project}/issues");
    let issue = json!({ "title": "Broken", "labels": "bug", "assignee_id": grace, "weight": 3 });
    let issue = admin.post(&issues, issue).await.created()["iid"].to_string();
    let other = admin.post(&issues, json!({ "title": "Also" })).await.created()["iid"].clone();
    let link =
        json!({ "target_project_id": project.rsplit('/').next(), "target_issue_iid": other });
    admin.post(&format!("{issues}/{issue}/links"), link).await.created();
    let note = json!({ "body": "Seen" });
    admin.post(&format!("{issues}/{issue}/notes"), note.clone()).await.created();

    let branch = json!({ "branch": "old", "ref": "main~1" });
    admin.post(&format!("{project}/repository/branches"), branch).await.created();
    let asked = json!({ "source_branch": "main", "target_branch": "old", "title": "Mend", "labels": "bug",
        "reviewer_ids": [grace], "description": format!("Closes #{issue}") });
    let requests = format!("{project}/merge_requests");
    let request = admin.post(&requests, asked).await.created()["iid"].to_string();
    admin.post(&format!("{requests}/{request}/notes"), note).await.created();
    (issue, request)
}

/// What is wrong with an answer, but for what is meant to be otherwise.
fn flaws(validator: &Validator, schema: &str, answer: &Value) -> Vec<String> {
    let known = |flaw: &str| {
        OTHERWISE.iter().any(|(name, field, _)| *name == schema && flaw.contains(field))
    };
    let errors = validator.iter_errors(answer);
    let found = errors.map(|flaw| format!("{}: {flaw}", flaw.instance_path()));
    found.filter(|flaw| !known(flaw)).collect()
}

#[actix_web::test]
#[expect(clippy::print_stderr, reason = "whoever runs the test should know what it left out")]
async fn answers_have_the_published_shapes() {
    let Some(schemas) = Schemas::find() else {
        eprintln!("skipped: no schemas beside the project");
        return;
    };
    let app = TestApp::new();
    let (admin, names, router) = (app.admin(), made(&app).await, Router::new(&rest::tables()));
    let mut wrong = Vec::new();
    let mut served = 0;
    for (endpoint, schema) in schemas.endpoints() {
        let path =
            names.iter().fold(endpoint.clone(), |path, (name, made)| path.replace(name, made));
        let bare = path.split('?').next().unwrap_or_default();
        if matches!(router.find("GET", &format!("{ROOT}{bare}")), RouteMatch::Nothing) {
            eprintln!("not served yet: {endpoint}");
            continue;
        }
        if !schemas.has(&schema) {
            eprintln!("no schema at hand: {schema}");
            continue;
        }
        served += 1;
        let answer = admin.get(&path).await;
        let found = match answer.status {
            200 => flaws(&schemas.validator(&schema), &schema, &answer.body),
            status => vec![format!("{status} {}", answer.body)],
        };
        wrong.extend(found.into_iter().map(|flaw| format!("{endpoint} ({schema}) {flaw}")));
        if answer.body == json!([]) {
            wrong.push(format!("{endpoint} shows nothing"));
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(served > 10, "only {served} endpoints were looked at");
}
