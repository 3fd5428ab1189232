//! Clients that send too much, too slowly, too often or not at all.

use serde_json::json;

use crate::support::{Installation, Server, TOKEN};

fn raw(server: &Server<'_>, request: &[u8]) -> (u16, String) {
    let mut connection = server.open();
    connection.write(request);
    let reply = connection.reply();
    (reply.status, reply.text)
}

#[test]
fn heads_have_a_size() {
    let forge = Installation::new();
    let server = forge.start();

    let long = format!("GET /api/v4/version HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(200_000));
    assert_eq!(raw(&server, long.as_bytes()).0, 431);
    let many: String = (0..200).map(|n| format!("X-{n}: 1\r\n")).collect();
    assert_eq!(raw(&server, format!("GET / HTTP/1.1\r\n{many}\r\n").as_bytes()).0, 431);
    let path = "a".repeat(40_000);
    let reply = server.get(&format!("/api/v4/{path}"));
    assert_eq!(reply.with(414), json!({ "error": "414 URI Too Long" }));
    let reply = server.get(&format!("/api/v4/version?x={path}"));
    assert_eq!(reply.status, 414);
    assert_eq!(server.get("/api/v4/version").status, 200);
    server.stop();
}

#[test]
fn what_is_no_http_is_refused() {
    let forge = Installation::new();
    let server = forge.start();

    assert_eq!(raw(&server, b"hello\r\n\r\n").0, 400);
    assert_eq!(raw(&server, b"GET /a\0b HTTP/1.1\r\n\r\n").0, 400);
    let twice = b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
    assert_eq!(raw(&server, twice).0, 400);
    let both =
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert_ne!(raw(&server, both).0, 200);
    server.stop();
}

#[test]
fn a_head_that_does_not_come_is_cut_off() {
    let mut forge = Installation::new();
    forge.set("FORGEWAY_REQUEST_SECONDS", "1");
    let server = forge.start();

    let mut slow = server.open();
    slow.write(b"GET /api/v4/version HTTP/1.1\r\nX-Half: ");

    let answer = String::from_utf8(slow.rest()).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    server.stop();
}

#[test]
fn a_body_that_does_not_come_is_cut_off() {
    let mut forge = Installation::new();
    forge.set("FORGEWAY_REQUEST_SECONDS", "1");
    let server = forge.start();
    let begun = |kind: &str| {
        let mut slow = server.open();
        let head = format!(
            "GET /api/v4/version HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {TOKEN}\r\nContent-Type: {kind}\r\n\
             Content-Length: 1000\r\nConnection: close\r\n\r\n--x\r\n"
        );
        slow.write(head.as_bytes());
        slow.reply().with(408)
    };

    let told = json!({ "message": "408 Request Timeout" });
    assert_eq!(begun("application/json"), told);
    assert_eq!(begun("multipart/form-data; boundary=x"), told);
    server.stop();
}

#[test]
fn a_body_has_a_size() {
    let mut forge = Installation::new();
    forge.set("FORGEWAY_BODY_LIMIT", "1000");
    let server = forge.start();

    let reply = server.open().send(
        "GET",
        "/api/v4/version",
        &[("PRIVATE-TOKEN", TOKEN), ("Content-Type", "application/json")],
        format!("{{\"x\":\"{}\"}}", "y".repeat(2_000)).as_bytes(),
    );

    assert_eq!(reply.with(413), json!({ "message": "413 Request Entity Too Large" }));
    server.stop();
}

#[test]
fn json_has_a_depth() {
    let forge = Installation::new();
    let server = forge.start();
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));

    let headers = [("PRIVATE-TOKEN", TOKEN), ("Content-Type", "application/json")];
    let reply = server.open().send("GET", "/api/v4/version", &headers, deep.as_bytes());

    assert_eq!(reply.status, 400);
    assert!(
        reply.json()["error"].as_str().is_some_and(|text| text.contains("valid application/json"))
    );
    server.stop();
}

#[test]
fn many_names_take_no_longer_than_many_bytes() {
    let forge = Installation::new();
    let server = forge.start();
    let many: String = (0..200_000).map(|n| format!("n{n}=&")).collect();

    let headers = [("PRIVATE-TOKEN", TOKEN), ("Content-Type", "application/x-www-form-urlencoded")];
    let reply = server.open().send("GET", "/api/v4/version", &headers, many.as_bytes());

    assert_eq!(reply.status, 200);
    server.stop();
}

#[test]
fn people_and_addresses_have_limits_of_their_own() {
    let mut forge = Installation::new();
    forge.set("FORGEWAY_RATE_LIMIT_USER", "3");
    forge.set("FORGEWAY_RATE_LIMIT_ADDRESS", "2");
    let server = forge.start();
    let nobody = || server.open().get("/api/v4/version", &[]);
    let guess = || server.open().get("/api/v4/version", &[("PRIVATE-TOKEN", "guess")]);

    assert_eq!((nobody().status, guess().status), (401, 401));
    assert_eq!((nobody().status, guess().status), (429, 429), "guesses count as well");
    for _ in 0..3 {
        assert_eq!(server.get("/api/v4/version").status, 200);
    }
    let refused = server.get("/api/v4/version");

    assert_eq!((refused.status, refused.text.as_str()), (429, "Retry later\n"));
    assert_eq!(refused.header("content-type"), Some("text/plain"));
    assert_eq!(refused.header("ratelimit-name"), Some("throttle_authenticated_api"));
    assert_eq!(refused.header("ratelimit-limit"), Some("3"));
    assert_eq!(refused.header("ratelimit-observed"), Some("4"));
    assert_eq!(refused.header("ratelimit-remaining"), Some("0"));
    let reset = refused.header("ratelimit-reset").and_then(|at| at.parse::<u64>().ok());
    assert!(reset.is_some_and(|at| at > 1_700_000_000), "{refused:?}");
    assert!(refused.header("ratelimit-resettime").is_some_and(|at| at.ends_with(" GMT")));
    let wait = refused.header("retry-after").and_then(|wait| wait.parse::<u64>().ok());
    assert!(wait.is_some_and(|wait| (1..=60).contains(&wait)), "{refused:?}");
    assert!(refused.header("x-request-id").is_some());
    server.stop();
}

#[test]
fn two_thousand_idle_connections_do_no_harm() {
    let forge = Installation::new();
    let server = forge.start();
    allow_many_files();

    let idle: Vec<_> = (0..2_000).map(|_| server.open()).collect();

    for _ in 0..10 {
        assert_eq!(server.get("/api/v4/version").status, 200);
    }
    assert_eq!(idle.len(), 2_000);
    drop(idle);
    server.stop();
}

/// The test holds one end of each connection itself.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("enough files");
}
