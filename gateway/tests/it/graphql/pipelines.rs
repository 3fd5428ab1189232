//! Pipelines, jobs, variables and schedules by GraphQL.

use ::ci::{
    artifact::{ArtifactKind, ArtifactStore as _, NewArtifact},
    job::End,
};
use kernel::{
    AccessLevel::{Developer, Guest, Maintainer, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use repo::testing::Fixture;
use serde_json::{Value, json};

use super::review::{REFUSED, answer, ask, mutate, nodes, refusal};
use crate::support::{Person, TestApp, ci};

async fn report(person: &Person<'_>, project: ProjectId, sha: &str, state: &str) -> Value {
    let body = json!({ "state": state, "ref": sha });
    person.post(&format!("/projects/{project}/statuses/{sha}"), body).await.created()
}

/// A project with pipelines of `main` (failed) and `topic` (running), and its path.
async fn two(app: &TestApp) -> (ProjectId, Person<'_>, String) {
    let project = app.project_from(&Fixture::new());
    let ada = app.person("ada");
    report(&ada, project, "main", "failed").await;
    report(&ada, project, "topic", "running").await;
    let shown = ada.get(&format!("/projects/{project}")).await.ok();
    (project, ada, shown["path_with_namespace"].as_str().expect("a path").to_owned())
}

#[actix_web::test]
async fn pipelines_are_chosen_and_counted() {
    let app = TestApp::new();
    let (_, ada, path) = two(&app).await;
    let refs = async |filters: &str| {
        let query = format!(
            r#"{{ project(fullPath: "{path}") {{ pipelines{filters} {{ count nodes {{ ref }} }} }} }}"#
        );
        nodes(&ask(&ada, &query).await["project"]["pipelines"], "ref")
    };
    assert_eq!(refs("").await, ["topic", "main"]);
    assert_eq!(refs("(status: FAILED)").await, ["main"]);
    assert_eq!(refs("(scope: RUNNING)").await, ["topic"]);
    assert_eq!(refs("(refType: HEADS)").await, ["topic", "main"]);
    assert_eq!(refs("(refType: TAGS)").await, Vec::<Value>::new());
    assert_eq!(refs("(refType: TAGS, scope: RUNNING)").await, ["topic"]);
    assert_eq!(refs(r#"(ref: "main", username: "ada")"#).await, ["main"]);
    assert_eq!(refs(r#"(source: "push")"#).await, Vec::<Value>::new());
    assert_eq!(refs("(first: 1)").await, ["topic"]);
    let query = format!(
        r#"{{ project(fullPath: "{path}") {{ pipelineCounts {{ all finished running pending }} }} }}"#
    );
    let counts = json!({ "all": 2, "finished": 1, "running": 1, "pending": 0 });
    assert_eq!(ask(&ada, &query).await["project"]["pipelineCounts"], counts);
}

#[actix_web::test]
async fn a_list_of_pipelines_has_the_second_until_which_it_is_asked_for() {
    let app = TestApp::new();
    app.clock.advance(time::Duration::milliseconds(300));
    let (_, ada, path) = two(&app).await;
    let refs = async |until: &str| {
        let query = format!(
            r#"{{ project(fullPath: "{path}") {{ pipelines(updatedBefore: "{until}") {{ nodes {{ ref }} }} }} }}"#
        );
        nodes(&ask(&ada, &query).await["project"]["pipelines"], "ref")
    };
    assert_eq!(refs("2026-01-01T00:00:00Z").await, ["topic", "main"]);
    assert_eq!(refs("2026-01-01T00:00:00.200Z").await, Vec::<Value>::new());
}

#[actix_web::test]
async fn a_pipeline_tells_what_its_rest_record_tells() {
    let app = TestApp::new();
    let (project, ada, path) = two(&app).await;
    let rest = ada.get(&format!("/projects/{project}/pipelines?ref=main")).await.ok()[0].clone();
    let query = format!(
        r#"{{ project(fullPath: "{path}") {{ pipeline(iid: "1") {{ id iid sha ref status active complete path
            detailedStatus {{ group text detailsPath }} user {{ username }} userPermissions {{ updatePipeline }}
            stages {{ nodes {{ name status
            groups {{ nodes {{ name size }} }} jobs {{ nodes {{ name kind }} }} }} }} }} }} }}"#
    );

    let shown = ask(&ada, &query).await["project"]["pipeline"].clone();

    let id = format!("gid://gitlab/Ci::Pipeline/{}", rest["id"]);
    assert_eq!((&shown["id"], &shown["iid"]), (&json!(id), &json!("1")));
    assert_eq!((&shown["sha"], &shown["ref"]), (&rest["sha"], &rest["ref"]));
    assert_eq!((&shown["status"], &shown["complete"]), (&json!("FAILED"), &json!(true)));
    assert_eq!(shown["detailedStatus"]["group"], "failed");
    assert_eq!(shown["userPermissions"], json!({ "updatePipeline": true }));
    let stage = &shown["stages"]["nodes"][0];
    assert_eq!((&stage["name"], &stage["status"]), (&json!("external"), &json!("failed")));
    assert_eq!(stage["groups"]["nodes"], json!([{ "name": "default", "size": 1 }]));
    assert_eq!(stage["jobs"]["nodes"], json!([{ "name": "default", "kind": "BUILD" }]));
}

#[actix_web::test]
async fn exactly_one_argument_names_a_pipeline() {
    let app = TestApp::new();
    let (_, ada, path) = two(&app).await;
    let query = format!(r#"{{ project(fullPath: "{path}") {{ pipeline {{ id }} }} }}"#);
    let told = "One and only one of [iid, sha] arguments is required.";
    assert_eq!(refusal(&ada, &query).await, told);
}

#[actix_web::test]
async fn pipelines_are_canceled_and_removed_by_those_who_may() {
    let app = TestApp::new();
    let (project, ada, path) = two(&app).await;
    let eve = app.person("eve");
    let listed = ada.get(&format!("/projects/{project}/pipelines?ref=topic")).await.ok();
    let id = format!("gid://gitlab/Ci::Pipeline/{}", listed[0]["id"]);
    let input = format!(r#"id: "{id}""#);
    let query = format!("mutation {{ pipelineCancel(input: {{ {input} }}) {{ errors }} }}");
    assert_eq!(refusal(&eve, &query).await, REFUSED);
    let canceled = mutate(&ada, "pipelineCancel", &input, "pipeline { status }").await;
    assert_eq!(canceled, json!({ "errors": [], "pipeline": { "status": "CANCELED" } }));
    assert_eq!(mutate(&ada, "pipelineDestroy", &input, "").await, json!({ "errors": [] }));
    let query = format!(r#"{{ project(fullPath: "{path}") {{ pipelines {{ count }} }} }}"#);
    assert_eq!(ask(&ada, &query).await["project"]["pipelines"]["count"], 1);
}

#[actix_web::test]
async fn a_job_that_runs_is_not_done_again() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    ci::commit(&ada, project, "main", "first", "make: {script: x}\n").await;
    let id = ci::job(&ada, project, "make").await["id"].clone();
    let input = format!(r#"id: "gid://gitlab/Ci::Build/{id}""#);
    let refused = mutate(&ada, "jobRetry", &input, "job { id }").await;
    assert_eq!(refused, json!({ "errors": ["Job is not retryable"], "job": null }));
}

#[actix_web::test]
async fn a_job_that_is_done_again_moves_no_other_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "a: {script: x}\nb: {script: x}\nc: {script: x}\n";
    ci::commit(&ada, project, "main", "first", text).await;
    let page = async |arguments: &str| {
        let query = format!(
            r#"{{ project(fullPath: "ada/engine") {{ pipeline(iid: "1") {{ jobs({arguments}) {{
               nodes {{ name }} pageInfo {{ endCursor }} }} }} }} }}"#
        );
        ask(&ada, &query).await["project"]["pipeline"]["jobs"].clone()
    };
    let first = page("first: 2").await;
    assert_eq!(nodes(&first, "name"), ["c", "b"]);
    let job = format!("/projects/{project}/jobs/{}", ci::job(&ada, project, "c").await["id"]);
    ada.post(&format!("{job}/cancel"), json!({})).await.created();
    ada.post(&format!("{job}/retry"), json!({})).await.created();
    let after = format!("first: 9, after: {}", first["pageInfo"]["endCursor"]);
    assert_eq!(nodes(&page(&after).await, "name"), ["a"]);
}

#[actix_web::test]
async fn a_configuration_is_compiled_once_a_request() {
    let app = TestApp::new();
    let (_, ada, path) = two(&app).await;
    let one = |name: &str, content: &str| {
        format!(
            r#"{name}: ciConfig(projectPath: "{path}", content: "{content}") {{ status errors
                stages {{ nodes {{ name groups {{ nodes {{ name size jobs {{ nodes {{ name script }} }} }} }} }} }} }}"#
        )
    };
    let query = format!("{{ {} }}", one("a", r"unit:\n  script: make test\n"));
    let shown = ask(&ada, &query).await["a"].clone();
    assert_eq!((&shown["status"], &shown["errors"]), (&json!("VALID"), &json!([])));
    let job = &shown["stages"]["nodes"][0]["groups"]["nodes"][0]["jobs"]["nodes"][0];
    assert_eq!(job, &json!({ "name": "unit", "script": ["make test"] }));
    let query = format!("{{ {} }}", one("a", r"unit:\n  stage: nowhere\n  script: x\n"));
    assert_eq!(ask(&ada, &query).await["a"]["status"], "INVALID");
    let eve = app.person("eve");
    assert_eq!(ask(&eve, &query).await["a"], Value::Null);
}

#[actix_web::test]
async fn variables_are_for_those_who_keep_them() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Public);
    let (max, rita) =
        (app.member(project, "max", Maintainer), app.member(project, "rita", Reporter));
    let new = json!({ "key": "TOKEN", "value": "secret words", "protected": true });
    max.post(&format!("/projects/{project}/variables"), new).await.created();
    let query = r#"{ project(fullPath: "ada/forge") { ciVariables { nodes { key value protected masked variableType
        environmentScope } } } }"#;
    let shown = json!({ "key": "TOKEN", "value": "secret words", "protected": true, "masked": false,
        "variableType": "ENV_VAR", "environmentScope": "*" });
    let of = async |person: &Person<'_>| ask(person, query).await["project"]["ciVariables"].clone();
    assert_eq!(of(&max).await["nodes"], json!([shown]));
    assert_eq!(of(&rita).await, Value::Null);
    let admin = "{ ciVariables { nodes { key } } jobs { nodes { id } } }";
    assert_eq!(ask(&max, admin).await, json!({ "ciVariables": null, "jobs": null }));
    assert_eq!(ask(&app.admin(), admin).await["ciVariables"]["nodes"], json!([]));
}

#[actix_web::test]
async fn schedules_are_made_changed_and_removed() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Private);
    let dan = app.member(project, "dan", Developer);
    let input = r#"projectPath: "ada/forge", description: "nightly", cron: "0 4 * * *", ref: "main",
        variables: [{ key: "TO", value: "staging", variableType: ENV_VAR }]"#;
    let payload = "pipelineSchedule { id description active owner { username } variables { nodes { key value } } }";
    let made = mutate(&dan, "pipelineScheduleCreate", input, payload).await;
    let schedule = &made["pipelineSchedule"];
    assert_eq!((&made["errors"], &schedule["active"]), (&json!([]), &json!(true)));
    assert_eq!(schedule["variables"]["nodes"], json!([{ "key": "TO", "value": "staging" }]));
    let id = format!(r#"id: {}"#, schedule["id"]);
    let refused = format!(r#"{id}, cron: "nonsense""#);
    let changed = mutate(&dan, "pipelineScheduleUpdate", &refused, "").await;
    assert_ne!(changed["errors"], json!([]));
    let changed = format!("{id}, active: false");
    let changed = mutate(&dan, "pipelineScheduleUpdate", &changed, payload).await;
    assert_eq!(changed["pipelineSchedule"]["active"], false);
    assert_eq!(mutate(&dan, "pipelineScheduleDelete", &id, "").await["errors"], json!([]));
    let query = r#"{ project(fullPath: "ada/forge") { pipelineSchedules { count } } }"#;
    assert_eq!(ask(&dan, query).await["project"]["pipelineSchedules"]["count"], 0);
}

#[actix_web::test]
async fn a_schedule_does_not_take_the_id_of_a_variable_of_another_one() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Private);
    let dan = app.member(project, "dan", Developer);
    let payload = "pipelineSchedule { id variables { nodes { id key } } }";
    let made = async |name: &str| {
        let input = format!(
            r#"projectPath: "ada/forge", description: "{name}", cron: "0 4 * * *", ref: "main",
            variables: [{{ key: "{name}", value: "x", variableType: ENV_VAR }}]"#
        );
        mutate(&dan, "pipelineScheduleCreate", &input, payload).await["pipelineSchedule"].clone()
    };
    let (one, other) = (made("ONE").await, made("OTHER").await);
    let update = |variable: &Value| {
        format!(
            r#"id: {}, description: "changed", variables: [{{ id: {variable}, key: "ONE", value: "y",
            variableType: ENV_VAR, destroy: true }}]"#,
            one["id"]
        )
    };

    let foreign = update(&other["variables"]["nodes"][0]["id"]);
    let query =
        format!("mutation {{ pipelineScheduleUpdate(input: {{ {foreign} }}) {{ errors }} }}");
    assert_eq!(refusal(&dan, &query).await, REFUSED);
    let query = r#"{ project(fullPath: "ada/forge") { pipelineSchedules { nodes {
        description variables { nodes { key } } } } } }"#;
    let shown = nodes(&ask(&dan, query).await["project"]["pipelineSchedules"], "description");
    assert!(!shown.contains(&json!("changed")), "{shown:?}");
    let own = update(&one["variables"]["nodes"][0]["id"]);
    let changed = mutate(&dan, "pipelineScheduleUpdate", &own, payload).await;
    assert_eq!(changed["pipelineSchedule"]["variables"]["nodes"], json!([]));
}

#[actix_web::test]
async fn ci_settings_and_job_tokens_are_set_by_maintainers() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "forge", Private);
    app.project(&ada, "other", Private);
    let input =
        r#"fullPath: "ada/forge", keepLatestArtifact: false, inboundJobTokenScopeEnabled: true"#;
    let payload =
        "ciCdSettings { keepLatestArtifact inboundJobTokenScopeEnabled project { fullPath } }";
    let set = mutate(&ada, "projectCiCdSettingsUpdate", input, payload).await;
    assert_eq!(
        set["ciCdSettings"],
        json!({ "keepLatestArtifact": false, "inboundJobTokenScopeEnabled": true,
            "project": { "fullPath": "ada/forge" } })
    );
    let both = r#"projectPath: "ada/forge", targetProjectPath: "ada/other""#;
    let payload = "ciJobTokenScope { projects { nodes { fullPath } } }";
    let added = mutate(&ada, "ciJobTokenScopeAddProject", both, payload).await;
    let projects = nodes(&added["ciJobTokenScope"]["projects"], "fullPath");
    assert_eq!(projects, ["ada/forge", "ada/other"]);
    let removed = mutate(&ada, "ciJobTokenScopeRemoveProject", both, payload).await;
    assert_eq!(nodes(&removed["ciJobTokenScope"]["projects"], "fullPath"), ["ada/forge"]);
    let eve = app.person("eve");
    let told = answer(
        &eve,
        r#"{ project(fullPath: "ada/forge") { ciCdSettings { keepLatestArtifact } } }"#,
    );
    assert_eq!(told.await["data"]["project"], Value::Null);
}

#[actix_web::test]
async fn pipelines_are_counted_by_day_and_their_coverage_is_told() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "one", Private);
    let query = r#"{ project(fullPath: "ada/one") { codeCoverageSummary { averageCoverage coverageCount lastUpdatedOn }
        pipelineAnalytics { weekPipelinesTotals weekPipelinesSuccessful yearPipelinesTotals monthPipelinesLabels
        pipelineTimesLabels pipelineTimesValues } } }"#;
    ci::commit(&ada, project, "main", "Start", "a:\n  script: x\nb:\n  script: x\n").await;
    let covered = |state: &str, name: &str, coverage: i64| json!({ "state": state, "name": name, "coverage": coverage });
    assert_eq!(ask(&ada, query).await["project"]["codeCoverageSummary"], Value::Null);
    for name in ["a", "b"] {
        ci::run(&app, &ada, project, name).await;
        ci::finish(&app, &ada, project, name, End::Success).await;
    }
    for (name, coverage) in [("c", 40), ("d", 41)] {
        let at = format!("/projects/{project}/statuses/main");
        ada.post(&at, covered("success", name, coverage)).await.created();
    }

    let shown = ask(&ada, query).await["project"].clone();
    let today = kernel::time::date_text(app.clock.now().date());
    let summary = json!({ "averageCoverage": 40.5, "coverageCount": 2, "lastUpdatedOn": today });
    assert_eq!(shown["codeCoverageSummary"], summary);
    let figures = &shown["pipelineAnalytics"];
    assert_eq!(figures["weekPipelinesTotals"], json!([0, 0, 0, 0, 0, 0, 0, 1]));
    assert_eq!(figures["weekPipelinesSuccessful"], json!([0, 0, 0, 0, 0, 0, 0, 1]));
    assert_eq!(figures["yearPipelinesTotals"][12], 1);
    assert_eq!(figures["monthPipelinesLabels"].as_array().map(Vec::len), Some(31));
    assert_eq!(figures["pipelineTimesValues"], json!([0]));
    let covered = r#"{ namespace(fullPath: "ada") { projects(hasCodeCoverage: true) { nodes { path } }
        scanned: projects(hasCodeCoverage: true, hasVulnerabilities: true) { nodes { path } } } }"#;
    let found = ask(&ada, covered).await["namespace"].clone();
    assert_eq!(nodes(&found["projects"], "path"), ["one"]);
    assert_eq!(found["scanned"]["nodes"], json!([]));
    let stranger = ask(&app.person("eve"), query).await;
    assert_eq!(stranger["project"], Value::Null);
}

#[actix_web::test]
async fn a_pipeline_tells_where_its_configuration_came_from() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let shared = app.project(&ada, "shared", Private);
    let project = app.project(&ada, "one", Private);
    ci::commit(&ada, shared, "main", "Start", "a: {script: x}\n").await;
    ci::commit(&ada, shared, "main", "Again [ci skip]", "a: {script: y}\n").await;
    let down = "down: {trigger: {include: [{project: ada/shared, file: .gitlab-ci.yml}]}}\n";
    ci::commit(&ada, project, "main", "Start", down).await;
    app.work().await;
    let elsewhere = json!({ "ci_config_path": ".gitlab-ci.yml@ada/shared" });
    ada.put(&format!("/projects/{project}"), elsewhere).await.ok();
    ada.post(&format!("/projects/{project}/pipeline"), json!({ "ref": "main" })).await.created();
    let sources = async |path: &str, filter: &str| {
        let query = format!(
            r#"{{ project(fullPath: "{path}") {{ pipelines{filter} {{ nodes {{ configSource }} }} }} }}"#
        );
        nodes(&ask(&ada, &query).await["project"]["pipelines"], "configSource")
    };

    assert_eq!(sources("ada/one", "").await, ["EXTERNAL_PROJECT_SOURCE", "REPOSITORY_SOURCE"]);
    let children = sources("ada/one", r#"(source: "parent_pipeline")"#).await;
    assert_eq!(children, ["BRIDGE_SOURCE"]);
    assert_eq!(sources("ada/shared", "").await, ["UNKNOWN_SOURCE", "REPOSITORY_SOURCE"]);
}

#[actix_web::test]
async fn coverage_is_looked_for_where_pipelines_are_shown() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = json!({ "name": "orchid", "path": "orchid", "visibility": "public" });
    let group = ada.post("/groups", group).await.created()["id"].clone();
    let new = json!({ "name": "one", "namespace_id": group, "visibility": "public" });
    let made = ada.post("/projects", new).await.created();
    let project = ProjectId(made["id"].as_i64().expect("an id"));
    ci::commit(&ada, project, "main", "Start", "a:\n  script: x\n").await;
    ci::run(&app, &ada, project, "a").await;
    ci::finish(&app, &ada, project, "a", End::Success).await;
    let covered = json!({ "state": "success", "name": "c", "coverage": 40 });
    ada.post(&format!("/projects/{project}/statuses/main"), covered).await.created();
    let (eve, gus) = (app.person("eve"), app.member(project, "gus", Guest));
    let rita = app.member(project, "rita", Reporter);
    let query =
        r#"{ group(fullPath: "orchid") { projects(hasCodeCoverage: true) { nodes { path } } } }"#;
    let found = async |person: &Person<'_>| {
        nodes(&ask(person, query).await["group"]["projects"], "path").len()
    };

    assert_eq!((found(&eve).await, found(&gus).await, found(&rita).await), (1, 1, 1));
    ada.put(&format!("/projects/{project}"), json!({ "public_jobs": false })).await.ok();
    assert_eq!((found(&eve).await, found(&gus).await, found(&rita).await), (0, 0, 1));
    let kept = json!({ "public_jobs": true, "builds_access_level": "private" });
    ada.put(&format!("/projects/{project}"), kept).await.ok();
    assert_eq!((found(&eve).await, found(&gus).await, found(&rita).await), (0, 1, 1));
}

#[actix_web::test]
async fn what_jobs_leave_behind_counts_in_the_sizes_of_projects_and_groups() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("orchid", None).await;
    let made =
        ada.post("/projects", json!({ "name": "one", "namespace_id": group })).await.created();
    let project = ProjectId(made["id"].as_i64().expect("an id"));
    ci::commit(&ada, project, "main", "Start", "a:\n  script: x\n").await;
    let job = ci::run(&app, &ada, project, "a").await;
    let file = NewArtifact {
        kind: ArtifactKind::Archive,
        filename: "artifacts.zip".to_owned(),
        size: 1_234,
        sha256: "0".repeat(64),
        location: "nowhere".to_owned(),
        expires_at: None,
    };
    app.write(move |tx| tx.insert_artifact(&job, &file));
    let query = r#"{ group(fullPath: "orchid") { rootStorageStatistics { buildArtifactsSize storageSize }
        projects { nodes { statistics { buildArtifactsSize storageSize } } } } }"#;
    let shown = ask(&ada, query).await["group"].clone();
    let sizes = &shown["projects"]["nodes"][0]["statistics"];
    assert_eq!(sizes["buildArtifactsSize"], 1234.0);
    assert!(sizes["storageSize"].as_f64().expect("a size") >= 1_234.0);
    assert_eq!(shown["rootStorageStatistics"]["buildArtifactsSize"], 1234.0);
}
