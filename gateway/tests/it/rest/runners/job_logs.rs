//! What jobs write, for people: `gateway/src/rest/ci/job_traces.rs`.

use std::time::{Duration, Instant};

use actix_web::http::Method;
use kernel::{AccessLevel::Guest, ids::ProjectId};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use super::program::{Work, set_up};
use crate::support::{Answer, Person, Server, TestApp, ci::job};

const JOB: &str = "job: {script: x}\n";
/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(20);

/// Somebody who follows a log over a connection of their own.
struct Follower {
    stream: TcpStream,
    heard: String,
}

impl Follower {
    async fn of(server: &Server, person: &Person<'_>, path: &str, more: &str) -> Self {
        let mut stream = TcpStream::connect(&server.address).await.expect("a server");
        let token = person.token.as_ref().map_or("", |token| token.reveal());
        let request = format!(
            "GET /api/v4{path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nPRIVATE-TOKEN: {token}\r\n{more}\r\n"
        );
        stream.write_all(request.as_bytes()).await.expect("the request is sent");
        Self { stream, heard: String::new() }
    }

    /// Reads until this was heard; the answer is all that was heard by then.
    async fn until(&mut self, text: &str) -> &str {
        while !self.heard.contains(text) {
            let mut block = [0; 4096];
            let read = timeout(PATIENCE, self.stream.read(&mut block)).await;
            let read = read.unwrap_or_else(|_late| panic!("no {text:?} in {:?}", self.heard));
            let read = read.expect("the connection holds");
            assert!(read > 0, "no {text:?} in {:?}", self.heard);
            self.heard.push_str(&String::from_utf8_lossy(&block[..read]));
        }
        &self.heard
    }
}

/// A job that runs, and where its log is shown.
async fn running<'a>(app: &'a TestApp) -> (ProjectId, Person<'a>, Work<'a>, String) {
    let (project, mia, runner) = set_up(app, JOB).await;
    let secret = json!({ "key": "S", "value": "hunter22", "masked": true });
    mia.post(&format!("/projects/{project}/variables"), secret).await.created();
    let payload = runner.take().await;
    let path = format!("/projects/{project}/jobs/{}/trace", payload["id"]);
    (project, mia, Work::new(app, &payload), path)
}

#[actix_web::test]
async fn a_log_is_followed_while_it_is_written() {
    let app = TestApp::new();
    let (_, mia, work, path) = running(&app).await;
    let server = app.serve();
    work.write(0, "one\r\n").await.with(202);

    let mut follower = Follower::of(&server, &mia, &path, "").await;
    let head = follower.until("id: 5\ndata: \"one\\r\\n\"\n\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("content-type: text/event-stream\r\n"), "{head}");
    let mut waits = Vec::new();
    for round in 0..5 {
        work.write(5 + round, "x").await.with(202);
        let began = Instant::now();
        follower.until(&format!("id: {}\ndata: \"x\"\n\n", 6 + round)).await;
        waits.push(began.elapsed());
    }
    assert!(waits.iter().min() < Some(&Duration::from_millis(100)), "{waits:?}");
    let _before = app.statements();
    sleep(Duration::from_millis(200)).await;
    assert_eq!(app.statements(), Vec::<String>::new(), "nobody asks while nothing happens");

    work.report(json!({ "state": "success" })).await.with(200);
    follower.until("event: end\ndata: {\"status\":\"success\"}\n\n").await;
    let all = follower.until("\r\n0\r\n\r\n").await;
    assert_eq!(all.matches("data: ").count(), 7, "{all}");
}

#[actix_web::test]
async fn a_follower_goes_on_where_the_connection_broke() {
    let app = TestApp::new();
    let (_, mia, work, path) = running(&app).await;
    let server = app.serve();
    work.write(0, "one two €").await.with(202);

    let mut later = Follower::of(&server, &mia, &path, "Last-Event-ID: 4\r\n").await;
    let heard = later.until("id: 11\ndata: \"two €\"").await;
    assert!(!heard.contains("one"), "{heard}");
    let mut ahead = Follower::of(&server, &mia, &path, "Last-Event-ID: 11\r\n").await;
    ahead.until("retry: ").await;
    let (first, second) = "ü".as_bytes().split_at(1);
    for (start, piece) in [(11, first), (12, second)] {
        let caller = work.caller.sending("Content-Range", &format!("{start}-{start}"));
        let sent = format!("{}/trace", work.path);
        caller.send_bytes(Method::PATCH, &sent, "text/plain", piece).await.with(202);
    }
    for follower in [&mut later, &mut ahead] {
        follower.until("id: 13\ndata: \"ü\"").await;
    }
    work.report(json!({ "state": "failed" })).await.with(200);
    let mut late = Follower::of(&server, &mia, &path, "Last-Event-ID: 13\r\n").await;
    let heard = late.until("event: end\ndata: {\"status\":\"failed\"}").await;
    assert!(!heard.contains("\nid: "), "{heard}");
}

#[actix_web::test]
async fn a_follower_sees_no_secret_that_comes_in_pieces() {
    let app = TestApp::new();
    let (project, mia, work, path) = running(&app).await;
    let server = app.serve();
    let mut follower = Follower::of(&server, &mia, &path, "").await;

    work.write(0, "say hunt").await.with(202);
    let heard = follower.until("id: 4\ndata: \"say \"").await;
    assert!(!heard.contains("hunt"), "{heard}");
    work.write(8, "er22, or hunt").await.with(202);
    follower.until("id: 17\ndata: \"xxxxxxxx, or \"").await;
    let id = job(&mia, project, "job").await["id"].clone();
    mia.post(&format!("/projects/{project}/jobs/{id}/cancel"), json!({})).await.created();
    let heard = follower.until("event: end\ndata: {\"status\":\"canceled\"}").await;
    assert!(heard.contains("id: 21\ndata: \"hunt\""), "{heard}");
}

#[actix_web::test]
async fn a_log_that_is_no_longer_for_somebody_ends_without_a_word() {
    let app = TestApp::new();
    let (project, mia, work, path) = running(&app).await;
    let server = app.serve();
    let gus = app.member(project, "gus", Guest);
    let mut guest = Follower::of(&server, &gus, &path, "").await;
    let mut own = Follower::of(&server, &mia, &path, "").await;
    guest.until("retry: ").await;
    own.until("retry: ").await;

    let caller = work.caller.sending("Content-Range", "0-3");
    let sent = format!("{}/trace?debug_trace=true", work.path);
    caller.send_bytes(Method::PATCH, &sent, "text/plain", b"env!").await.with(202);

    let heard = guest.until("\r\n0\r\n\r\n").await;
    assert!(!heard.contains("env") && !heard.contains("event: end"), "{heard}");
    own.until("data: \"env!\"").await;
    work.report(json!({ "state": "success" })).await.with(200);
    own.until("event: end").await;
    for (caller, status) in [(&gus, "403"), (&app.person("eve"), "404")] {
        let mut refused = Follower::of(&server, caller, &path, "").await;
        let heard = refused.until("\r\n\r\n").await;
        assert!(heard.starts_with(&format!("HTTP/1.1 {status} ")), "{heard}");
    }
}

#[actix_web::test]
async fn followers_are_bounded_and_leave_nothing_behind() {
    let app = TestApp::new();
    let (_, mia, work, path) = running(&app).await;
    let server = app.serve();
    let mut followers = Vec::new();
    for _ in 0..50 {
        let mut follower = Follower::of(&server, &mia, &path, "").await;
        follower.until("retry: ").await;
        followers.push(follower);
    }

    let mut refused = Follower::of(&server, &mia, &path, "").await;
    let heard = refused.until("\r\n\r\n").await;
    assert!(heard.starts_with("HTTP/1.1 429 ") && heard.contains("retry-after: "), "{heard}");
    drop(followers);
    let began = Instant::now();
    while app.state.followers.count() > 0 {
        assert!(began.elapsed() < PATIENCE, "{} are left", app.state.followers.count());
        sleep(Duration::from_millis(20)).await;
    }
    let mut again = Follower::of(&server, &mia, &path, "").await;
    again.until("retry: ").await;
    app.state.followers.close();
    again.until("\r\n0\r\n\r\n").await;
    work.write(0, "nobody listens").await.with(202);
}

fn told(answer: &Answer) -> (u16, String, Value) {
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    (answer.status, text, answer.header("Content-Range").into())
}

#[actix_web::test]
async fn a_part_of_a_log_is_had_by_its_bytes() {
    let app = TestApp::new();
    let (_, mia, work, path) = running(&app).await;
    let part = async |range: &str| told(&mia.sending("Range", range).get(&path).await);
    assert_eq!(part("bytes=0-").await.0, 416, "there is nothing yet");
    work.write(0, "0123456789").await.with(202);

    for (range, text, place) in [
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=8-", "89", "bytes 8-9/10"),
        ("bytes=-1", "9", "bytes 9-9/10"),
    ] {
        assert_eq!(part(range).await, (206, text.to_owned(), json!(place)), "{range}");
    }
    let behind = mia.sending("Range", "bytes=10-").get(&path).await;
    assert_eq!(behind.header("Content-Range"), Some("bytes */10"));
    behind.refused(416, json!({ "error": "416 Range Not Satisfiable" }));
    assert_eq!(part("bytes=0-1,3-4").await, (200, "0123456789".to_owned(), Value::Null));
    work.write(10, "a").await.with(202);
    assert_eq!(part("bytes=10-").await, (206, "a".to_owned(), json!("bytes 10-10/11")));
    let whole = mia.get(&path).await;
    assert_eq!((whole.status, whole.header("Accept-Ranges")), (200, Some("bytes")));
}

#[actix_web::test]
async fn a_follower_of_a_log_that_is_erased_hears_its_end() {
    let app = TestApp::new();
    let (project, mia, work, path) = running(&app).await;
    let server = app.serve();
    work.write(0, "secret").await.with(202);
    work.report(json!({ "state": "success" })).await.with(200);
    let id = job(&mia, project, "job").await["id"].clone();
    mia.post(&format!("/projects/{project}/jobs/{id}/erase"), json!({})).await.created();

    let mut follower = Follower::of(&server, &mia, &path, "").await;
    let heard = follower.until("event: end").await;

    assert!(!heard.contains("secret"), "{heard}");
}
