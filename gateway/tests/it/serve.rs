//! What every answer carries: `gateway/src/serve.rs`.

use std::time::Duration;

use actix_web::http::Method;
use gateway::app::Limits;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{Answer, TestApp};

fn headers(answer: &Answer, names: [&str; 3]) -> [String; 3] {
    names.map(|name| answer.header(name).unwrap_or("none").to_owned())
}

#[actix_web::test]
async fn head_answers_like_get() {
    let app = TestApp::new();
    let ada = app.person("ada");

    let (get, head) = (ada.get("/version").await, ada.head("/version").await);

    let compared = ["content-type", "etag", "cache-control"];
    assert_eq!((head.status, headers(&head, compared)), (get.status, headers(&get, compared)));
    assert_eq!(app.anonymous().head("/version").await.status, 401);
    assert_eq!(ada.head("/nowhere").await.status, 404);
}

#[actix_web::test]
async fn options_tells_the_methods() {
    let app = TestApp::new();

    let answer = app.anonymous().send(Method::OPTIONS, "/projects/1/protected_tags", None).await;

    assert_eq!((answer.status, answer.bytes.len()), (204, 0));
    assert_eq!(answer.header("allow"), Some("OPTIONS, GET, POST, HEAD"));
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
}

#[actix_web::test]
async fn pages_of_other_origins_may_call_without_cookies() {
    let app = TestApp::new();
    let page = app.anonymous().sending("Origin", "https://elsewhere.test");
    let asked = page
        .sending("Access-Control-Request-Method", "DELETE")
        .sending("Access-Control-Request-Headers", "private-token");

    let preflight = asked.send(Method::OPTIONS, "/projects/1", None).await;
    assert_eq!(
        (preflight.status, preflight.header("access-control-allow-origin")),
        (204, Some("*"))
    );
    assert_eq!(preflight.header("access-control-allow-headers"), Some("private-token"));
    assert!(
        preflight.header("access-control-allow-methods").is_some_and(|all| all.contains("DELETE"))
    );
    assert_eq!(preflight.header("access-control-allow-credentials"), None);

    let refused = page.get("/version").await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, Some("*")));
    let exposed = "Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, \
                   X-Gitlab-Blob-Id, X-Gitlab-Commit-Id, X-Gitlab-Content-Sha256, X-Gitlab-Encoding, \
                   X-Gitlab-File-Name, X-Gitlab-File-Path, X-Gitlab-Last-Commit-Id, X-Gitlab-Ref, X-Gitlab-Size, \
                   X-Request-Id, ETag, \
                       Accept-Ranges, Content-Range";
    assert_eq!(refused.header("access-control-expose-headers"), Some(exposed));
    let own = app.anonymous().sending("Origin", "http://forge.test").get("/version").await;
    assert_eq!(own.header("access-control-allow-origin"), Some("http://forge.test"));
    assert_eq!(own.header("access-control-allow-credentials"), Some("true"));
    assert_eq!(own.header("vary"), Some("Origin"));
}

#[actix_web::test]
async fn pages_may_ask_for_tokens_without_cookies_and_nothing_beside_the_api() {
    let app = TestApp::new();
    let page = app.anonymous().sending("Origin", "http://forge.test");

    let asked = page.post("//oauth/token", json!({})).await;
    let other = page.get("//-/health").await;

    assert_eq!(asked.header("access-control-allow-origin"), Some("*"));
    assert_eq!(asked.header("access-control-allow-credentials"), None);
    assert_eq!(other.header("access-control-allow-origin"), None);
}

#[actix_web::test]
async fn an_address_of_any_length_is_told_that_it_is_too_long() {
    let app = TestApp::new();
    let server = app.serve();

    for length in [40_000, 66_000, 131_000, 1_000_000] {
        let mut client = TcpStream::connect(&server.address).await.expect("a server");
        let request =
            format!("GET /api/v4/version?x={} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(length));
        client.write_all(request.as_bytes()).await.expect("all of it");
        client.shutdown().await.expect("the end");
        let mut heard = String::new();
        client.read_to_string(&mut heard).await.expect("an answer");

        assert!(heard.starts_with("HTTP/1.1 414 URI Too Long\r\n"), "{length}: {heard}");
        assert!(heard.contains("x-request-id: "), "{length}: {heard}");
        assert!(heard.ends_with(r#"{"error":"414 URI Too Long"}"#), "{length}: {heard}");
    }
}

#[actix_web::test]
async fn a_body_that_stalls_ends_its_connection() {
    let app =
        TestApp::with_limits(Limits { patience: Duration::from_millis(50), ..Limits::default() });
    let (server, ada) = (app.serve(), app.person("ada"));
    let token = ada.token.as_ref().expect("a token").reveal();
    let form = "multipart/form-data; boundary=edge";

    for (path, kind) in [
        ("/api/v4/user/emails", "application/json"),
        ("/api/v4/user/emails", form),
        ("/api/graphql", "application/json"),
        ("/api/graphql", form),
    ] {
        for length in ["Transfer-Encoding: chunked", "Content-Length: 90"] {
            let mut client = TcpStream::connect(&server.address).await.expect("a server");
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {token}\r\nContent-Type: {kind}\r\n{length}\r\n\r\n"
            );
            client.write_all(format!("{head}6\r\n--edge").as_bytes()).await.expect("a server");
            let mut heard = vec![0; 4096];
            let answer = client.read(&mut heard).await.expect("an answer");
            let heard = String::from_utf8_lossy(&heard[..answer]);
            assert!(heard.starts_with("HTTP/1.1 408 "), "{path} {kind} {length}: {heard}");
            // The connection ends once the client has had five seconds to read this.
            assert!(heard.contains("connection: close"), "{path} {kind} {length}: {heard}");
        }
    }
}

#[actix_web::test]
async fn what_is_no_request_is_refused_with_a_body() {
    let app = TestApp::new();
    let server = app.serve();
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nLong: {}\r\n\r\n", "a".repeat(200_000));
    let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(1000));

    for (request, status) in [
        ("nonsense\r\n\r\n", "400 Bad Request"),
        ("GET /api/v4/version HTTP/1.1\r\nHost: x\r\nBad Name: x\r\n\r\n", "400 Bad Request"),
        (long.as_str(), "431 Request Header Fields Too Large"),
        (many.as_str(), "431 Request Header Fields Too Large"),
    ] {
        let mut client = TcpStream::connect(&server.address).await.expect("a server");
        // An answer may come before all of it is heard.
        let _early = client.write_all(request.as_bytes()).await;
        let mut heard = Vec::new();
        let _reset = client.read_to_end(&mut heard).await;
        let heard = String::from_utf8_lossy(&heard);

        assert!(heard.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{heard}");
        assert!(heard.contains("content-type: application/json\r\n"), "{heard}");
        assert!(heard.contains("x-request-id: "), "{heard}");
        assert!(heard.ends_with(&format!("\r\n\r\n{{\"error\":\"{status}\"}}")), "{heard}");
    }
}

#[actix_web::test]
async fn what_follows_a_request_and_is_none_is_refused_with_a_body() {
    let app = TestApp::new();
    let server = app.serve();
    let good = "GET /api/v4/version HTTP/1.1\r\nHost: x\r\n\r\n";

    for before in [1, 3] {
        let mut client = TcpStream::connect(&server.address).await.expect("a server");
        let asked = format!("{}GET / HTTP/1.1\r\nBad Name: x\r\n\r\n", good.repeat(before));
        client.write_all(asked.as_bytes()).await.expect("all of it");
        let mut heard = String::new();
        client.read_to_string(&mut heard).await.expect("an answer");

        assert_eq!(heard.matches("HTTP/1.1 401 Unauthorized\r\n").count(), before, "{heard}");
        assert_eq!(heard.matches("HTTP/1.1 400 Bad Request\r\n").count(), 1, "{heard}");
        assert_eq!(heard.matches("x-request-id: ").count(), before + 1, "{heard}");
        assert!(heard.ends_with("\r\n\r\n{\"error\":\"400 Bad Request\"}"), "{heard}");
    }
}

#[actix_web::test]
async fn a_json_suffix_is_ignored() {
    let app = TestApp::new();
    let ada = app.person("ada");

    assert_eq!(ada.get("/version.json").await.ok(), ada.get("/version").await.ok());
    assert_eq!(ada.get("/nowhere.json").await.status, 404);
    assert_eq!(ada.post("/version.json", json!({})).await.status, 405);
}

#[actix_web::test]
async fn every_refusal_has_an_id_of_its_own() {
    let app = TestApp::new();
    let (nobody, ada) = (app.anonymous().sending("X-Request-Id", "mine"), app.person("ada"));

    let refusals = [
        nobody.get("/version").await,
        nobody.get("/nowhere").await,
        nobody.post("/version", json!({})).await,
        nobody.get("//api/v3/projects").await,
        ada.send_bytes(Method::POST, "/projects", "text/plain", b"hello").await,
        ada.post("/projects", json!({})).await,
    ];

    assert_eq!(refusals.each_ref().map(|answer| answer.status), [401, 404, 405, 410, 415, 400]);
    let mut ids: Vec<&str> =
        refusals.iter().filter_map(|answer| answer.header("x-request-id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), refusals.len());
    assert!(ids.iter().all(|id| id.len() == 32));
    for answer in &refusals {
        assert_eq!(answer.header("content-type"), Some("application/json"), "{answer:?}");
        let seconds = answer.header("x-runtime").unwrap_or_default();
        assert!(seconds.split_once('.').is_some_and(|(_, digits)| digits.len() == 6), "{seconds}");
    }
}

#[actix_web::test]
async fn a_body_that_cannot_be_read_is_told_in_the_words_of_the_contract() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let send = |kind: &'static str, body: &'static [u8]| {
        let ada = ada.clone();
        async move { ada.send_bytes(Method::POST, "/projects", kind, body).await }
    };

    send("text/plain", b"name=x").await.refused(
        415,
        json!({ "error": "The provided content-type 'text/plain' is not supported." }),
    );
    let text = "\nProblem:\n  message body does not match declared format\nResolution:\n  when specifying \
                application/json as content-type, you must pass valid application/json in the request's \
                'body' ";
    send("application/json", b"{\"name\":").await.refused(400, json!({ "error": text }));
    assert_eq!(send("application/json", b"").await.status, 400, "no parameters, so one is missing");
    assert_eq!(send("application/json", b"[1]").await.status, 400);
    assert_eq!(send("multipart/form-data", b"no boundary").await.status, 400);
}
