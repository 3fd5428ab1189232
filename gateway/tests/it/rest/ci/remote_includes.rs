//! Files from addresses that a configuration includes: what they say, and what fetching them costs others.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Barrier, mpsc},
};

use forge::memory;
use futures_util::future::{join, join_all, select_all};
use kernel::Visibility::Private;
use org::access::{IdOrPath, locate_project};
use repo::{
    git::{Oid, RefName},
    push::{Push, PushSource, RefChange, land_apart},
};
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, job, pipelines},
};

/// Answers one request; gives the path that it asks for to `text`, which makes the file.
fn answer(mut stream: TcpStream, text: impl Fn(&str) -> String) {
    let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
    let head: Vec<String> =
        lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let text = text(path);
    let length = text.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all((head + &text).as_bytes());
}

/// A server of this machine that answers every request with what `text` makes of its path.
fn serve(text: impl Fn(SocketAddr, &str) -> String + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            answer(stream, |path| text(address, path));
        }
    });
    address
}

fn include(address: SocketAddr) -> Value {
    let content = format!("include: {{remote: 'http://{address}/ci.yml'}}\n");
    json!({ "content": content, "include_jobs": true })
}

async fn judged(person: &Person<'_>, name: &str, body: Value) -> Value {
    let project = person.app.project(person, name, Private);
    person.post(&format!("/projects/{project}/ci/lint"), body).await.ok()
}

fn job_names(lint: &Value) -> Vec<&Value> {
    lint["jobs"].as_array().expect("jobs").iter().map(|job| &job["name"]).collect()
}

#[actix_web::test]
async fn a_remote_file_is_included_from_the_internet_and_from_inside_where_that_is_set() {
    let address = serve(|_, _| "far: {script: [make]}\n".to_owned());
    let [closed, open] = [TestApp::new(), TestApp::reaching("127.0.0.1")];

    let refused = judged(&closed.person("ada"), "engine", include(address)).await;
    let fetched = judged(&open.person("bob"), "engine", include(address)).await;

    let told = format!(
        "Remote file `http://{address}/ci.yml` could not be fetched because the host is not allowed!"
    );
    assert_eq!(refused["errors"], json!([told]));
    assert_eq!(job_names(&fetched), ["far"]);
}

#[actix_web::test]
async fn a_remote_file_includes_others_up_to_a_depth() {
    let next = |address: SocketAddr, path: &str| {
        let depth: usize =
            path.trim_matches(|sign: char| !sign.is_ascii_digit()).parse().expect("a number");
        format!(
            "include: ['http://{address}/{}.yml']\njob-{depth}: {{script: [make]}}\n",
            depth + 1
        )
    };
    let end = serve(move |address, path| match path {
        "/3.yml" => "last: {script: [make]}\n".to_owned(),
        path => next(address, path),
    });
    let endless = serve(next);
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let from = |address: SocketAddr| {
        let content = format!("include: ['http://{address}/1.yml', 'http://{address}/2.yml']\n");
        json!({ "content": content, "include_jobs": true })
    };

    let whole = judged(&ada, "whole", from(end)).await;
    let cut = judged(&ada, "cut", from(endless)).await;

    assert_eq!(job_names(&whole), ["last", "job-2", "job-1"]);
    let error = cut["errors"][0].as_str().expect("an error");
    assert!(error.ends_with("could not be fetched because of a timeout error!"), "{error}");
}

/// What reads git takes at once.
fn reads_at_once() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    memory::at_once(cores * 2, 16)
}

#[actix_web::test]
async fn whoever_waits_for_a_remote_file_keeps_nobody_from_reading_git() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (asked, is_asked) = tokio::sync::oneshot::channel();
    let (release, is_released) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a request");
        asked.send(()).expect("the test waits");
        is_released.recv().expect("the test goes on");
        answer(stream, |_| "far: {script: [make]}\n".to_owned());
    });
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let project = app.project(&ada, "other", Private);

    let reads = async {
        is_asked.await.expect("the file is asked for");
        // They end together, so each has a place of its own.
        let all = Arc::new(Barrier::new(reads_at_once()));
        let read = |_| {
            let all = Arc::clone(&all);
            app.state.git_read(project, move |_| {
                all.wait();
                Ok(())
            })
        };
        join_all((0..reads_at_once()).map(read)).await;
        release.send(()).expect("the server waits");
    };
    let (lint, ()) = join(judged(&ada, "engine", include(address)), reads).await;

    assert_eq!(job_names(&lint), ["far"]);
}

#[actix_web::test]
async fn whoever_sends_many_texts_at_once_is_asked_to_come_back() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = silent.local_addr().expect("an address");
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");

    // Four of a person are fetched at once, and 64 wait for a place.
    let post = |_| Box::pin(ada.post("/ci/lint", include(address)));
    let (first, _, _others) = select_all((0..100).map(post)).await;

    first.with(503);
}

#[actix_web::test]
async fn a_pipeline_is_made_with_what_was_fetched() {
    let address = serve(|_, _| "far: {script: [make]}\n".to_owned());
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = format!("include: ['http://{address}/ci.yml']\n");

    commit(&ada, project, "main", "one", &text).await;

    assert_eq!(pipelines(&ada, project, "").await.len(), 1);
    assert_eq!(job(&ada, project, "far").await["status"], "pending");
}

#[actix_web::test]
async fn a_ref_of_a_push_does_not_wait_for_what_another_includes() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        // Neither is answered before both have asked.
        let both: Vec<TcpStream> = listener.incoming().map_while(Result::ok).take(2).collect();
        for stream in both {
            answer(stream, |_| "far: {script: [make]}\n".to_owned());
        }
    });
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let access = async |level: &str| {
        let body = json!({ "builds_access_level": level });
        ada.put(&format!("/projects/{project}"), body).await.ok();
    };
    access("disabled").await;
    let text = format!("include: ['http://{address}/ci.yml']\n");
    let new: Oid = commit(&ada, project, "main", "one", &text).await.parse().unwrap();
    access("enabled").await;
    let actor = app.user("ada").actor();
    let located = app.write(move |tx| locate_project(tx, actor, &IdOrPath::Id(project.0)));
    let change = |name| RefChange::plain(RefName::branch(name).unwrap(), None, Some(new));
    let changes = Vec::from(["a", "b"].map(change));

    let push = Push::new(located.0.0, located.1, PushSource::Git, changes);
    assert!(land_apart(app.state.writer(), &push, false).await.refused.is_empty());

    let made = pipelines(&ada, project, "").await;
    let told: Vec<_> = made.iter().map(|one| (&one["ref"], &one["status"])).collect();
    let pending = json!("pending");
    assert_eq!(told, [(&json!("b"), &pending), (&json!("a"), &pending)]);
}
