//! A service that is asked before there is a pipeline: `crates/forge/src/pipeline/validation.rs`.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
};

use kernel::Visibility::Private;
use serde_json::{Value, json};

use crate::support::{
    TestApp,
    ci::{commit, pipelines},
};

type RecordedRequests = Arc<Mutex<Vec<(String, Value)>>>;

/// Answers with 406 where a job, or the branch, is called `mine`; notes the token and the body of each request.
fn serve() -> (SocketAddr, RecordedRequests) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let heard = RecordedRequests::default();
    let kept = Arc::clone(&heard);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let (mut token, mut length) = (String::new(), 0);
            for line in
                reader.by_ref().lines().map_while(Result::ok).take_while(|it| !it.is_empty())
            {
                let (name, value) = line.split_once(": ").unwrap_or_default();
                match name.to_lowercase().as_str() {
                    "x-gitlab-token" => token = value.to_owned(),
                    "content-length" => length = value.parse().expect("a number"),
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let body: Value = serde_json::from_slice(&body).expect("JSON");
            let refused =
                body.to_string().contains("\"name\":\"mine\"") || body["pipeline"]["ref"] == "mine";
            kept.lock().expect("unpoisoned").push((token, body));
            let status = if refused { "406 Not Acceptable" } else { "200 OK" };
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
        }
    });
    (address, heard)
}

async fn ask_there(app: &TestApp, address: SocketAddr) {
    let settings = json!({ "external_pipeline_validation_service_url": format!("http://{address}/"),
                           "external_pipeline_validation_service_token": "s3cret",
                           "external_pipeline_validation_service_timeout": 1 });
    app.admin().put("/application/settings", settings).await.ok();
}

#[actix_web::test]
async fn a_service_says_which_pipelines_run() {
    let (address, heard) = serve();
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    ask_there(&app, address).await;

    commit(&ada, project, "main", "one", "good: {script: [make]}\n").await;
    commit(&ada, project, "main", "two", "mine: {script: [mine]}\n").await;

    let made = pipelines(&ada, project, "").await;
    let statuses: Vec<&Value> = made.iter().map(|pipeline| &pipeline["status"]).collect();
    assert_eq!(statuses, ["failed", "pending"]);
    let heard = heard.lock().expect("unpoisoned");
    let (token, body) = &heard[0];
    assert_eq!(token, "s3cret");
    assert_eq!(
        (&body["user"]["username"], &body["project"]["path"]),
        (&json!("ada"), &json!("ada/engine"))
    );
    assert_eq!(body["builds"][0]["script"], json!(["make"]));
}

#[actix_web::test]
async fn who_asks_for_a_refused_pipeline_is_told_and_nothing_is_stored() {
    let (address, _) = serve();
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    ask_there(&app, address).await;
    commit(&ada, project, "main", "one [skip ci]", "mine: {script: [mine]}\n").await;

    let made = ada.post(&format!("/projects/{project}/pipeline"), json!({ "ref": "main" })).await;

    made.refused(400, json!({ "message": { "base": ["External validation failed"] } }));
    assert_eq!(pipelines(&ada, project, "?source=api").await, Vec::<Value>::new());
}

#[actix_web::test]
async fn the_service_is_heard_before_somebody_is_told_that_there_are_no_jobs() {
    let (address, heard) = serve();
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    ask_there(&app, address).await;
    let text = "none: {script: x, rules: [{if: $NO}]}\n";
    commit(&ada, project, "main", "one", text).await;
    let branch = json!({ "branch": "mine", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();

    let path = format!("/projects/{project}/pipeline");
    for (name, sentence) in
        [("main", "No stages / jobs for this pipeline."), ("mine", "External validation failed")]
    {
        let refusal = json!({ "message": { "base": [sentence] } });
        ada.post(&path, json!({ "ref": name })).await.refused(400, refusal);
    }

    let made = pipelines(&ada, project, "").await;
    let seen: Vec<_> = made.iter().map(|one| (&one["ref"], &one["status"])).collect();
    assert_eq!(seen, [(&json!("mine"), &json!("failed"))], "the push of the branch says why");
    let heard = heard.lock().expect("unpoisoned");
    assert!(heard.iter().all(|(_, body)| body["total_builds_count"] == 0), "{heard:?}");
}

#[actix_web::test]
async fn a_service_that_does_not_answer_in_time_keeps_nobody_from_working() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    ask_there(&app, silent.local_addr().expect("an address")).await;

    commit(&ada, project, "main", "one", "good: {script: [make]}\n").await;

    assert_eq!(pipelines(&ada, project, "").await[0]["status"], "pending");
}
