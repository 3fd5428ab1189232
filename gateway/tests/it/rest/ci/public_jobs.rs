//! What a project keeps back that does not show its jobs to everybody (`public_jobs`), on every route about them.

use ci::job::End;
use gateway::{rest, route::RouteRow};
use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility,
};
use serde_json::json;

use crate::support::{
    Person, RowRequest, TestApp,
    ci::{commit, finish, run},
};

/// What may be read from guests on, unless the project keeps it back.
const READ_WITH_JOBS: [&str; 4] =
    ["ReadPipelines", "ReadJobs", "ReadSchedules", "ReadCommitStatuses"];

fn rows() -> impl Iterator<Item = &'static RouteRow> {
    let all = rest::tables().into_iter().flatten();
    all.filter(|row| READ_WITH_JOBS.contains(&row.ability)).collect::<Vec<_>>().into_iter()
}

#[actix_web::test]
async fn deployments_tell_of_their_jobs_those_who_may_read_jobs() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Visibility::Public);
    let text = "deploy: {script: x, environment: {name: production}}\n";
    commit(&ada, project, "main", "first", text).await;
    ada.put(&format!("/projects/{project}"), json!({ "public_jobs": false })).await.ok();
    let place = format!("/projects/{project}/environments");
    let environment = ada.get(&place).await.ok()[0]["id"].clone();
    run(&app, &ada, project, "deploy").await;
    finish(&app, &ada, project, "deploy", End::Success).await;
    let jobs = async |person: &Person<'_>| {
        let all = person.get(&format!("/projects/{project}/deployments")).await.ok()[0].clone();
        let one = person.get(&format!("/projects/{project}/deployments/{}", all["id"])).await.ok();
        let last = person.get(&format!("{place}/{environment}")).await.ok();
        [&all, &one, &last["last_deployment"]].map(|shown| shown["deployable"].is_object())
    };
    assert_eq!(jobs(&app.member(project, "reporter", Reporter)).await, [true; 3]);
    for person in [app.member(project, "guest", Guest), app.person("stranger")] {
        assert_eq!(jobs(&person).await, [false; 3], "{}", person.username);
    }
}

#[actix_web::test]
async fn below_reporters_nobody_reads_what_a_project_keeps_back_about_its_jobs() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Visibility::Public);
    // There is a first pipeline with a first job, which the requests name.
    let sha = json!(commit(&ada, project, "main", "first", "x: {script: x}").await);
    ada.put(&format!("/projects/{project}"), json!({ "public_jobs": false })).await.ok();
    let callers = [app.member(project, "guest", Guest), app.person("stranger")];
    let (mut wrong, mut asked) = (Vec::new(), 0);
    for row in rows() {
        for person in &callers {
            asked += 1;
            let request = RowRequest::of(row, &project.to_string());
            let answer = match row.pattern.contains("{sha}") {
                true => request.with("sha", &sha).by(person).await,
                false => request.by(person).await,
            };
            // Where no branch of that name is, there is nothing to keep back.
            let is_unknown = answer.status == 404 && row.pattern.contains("{ref}");
            if answer.status != 403 && !is_unknown {
                wrong.push(format!("{row:?} {}: {}", person.username, answer.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(asked > 30, "{asked} requests");
    let reporter = app.member(project, "reporter", Reporter);
    assert_eq!(reporter.get(&format!("/projects/{project}/pipelines/1")).await.ok()["id"], 1);
    assert_eq!(reporter.get(&format!("/projects/{project}/jobs/1")).await.ok()["id"], 1);
}
