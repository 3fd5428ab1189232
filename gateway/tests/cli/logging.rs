//! What the log says, and what it must never say.

use serde_json::Value;

use crate::support::{Git, Installation, PASSWORD, TOKEN};

const SESAME: &str = "sesame-that-nobody-knows";

#[test]
fn no_secret_reaches_the_log_however_much_is_logged() {
    let mut forge = Installation::new();
    forge.set("FORGEWAY_LOG", "trace");
    let server = forge.start();
    let form = [("Content-Type", "application/x-www-form-urlencoded")];

    server.get("/api/v4/version");
    server.open().get(&format!("/api/v4/version?private_token={TOKEN}"), &[]);
    server.open().get("/api/v4/version", &[("Authorization", &format!("Bearer {TOKEN}"))]);
    server.open().get("/api/v4/version", &[("PRIVATE-TOKEN", SESAME)]);
    server.open().send("POST", "/api/v4/users", &form, format!("password={SESAME}").as_bytes());
    let grant = format!("grant_type=password&username=root&password={SESAME}");
    server.open().send("POST", "/oauth/token", &form, grant.as_bytes());
    let git = Git::new(forge.folder.path(), "work");
    git.run(&["push", "-q", &forge.remote("root/quiet"), "main"]);
    let wrong = format!("http://root:{SESAME}@127.0.0.1:{}/root/quiet.git", forge.port);
    assert!(!git.attempt(&["ls-remote", &wrong]).0);
    server.stop();

    let log = forge.log();
    assert!(log.contains("answered"), "{log}");
    let basic = "cm9vdDp0b2tlbi1vZi10aGUtdGVzdHMtMDEyMzQ1Njc4OQ";
    for secret in [TOKEN, PASSWORD, SESAME, basic] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None);
    }
}

#[test]
fn each_request_can_be_found_by_its_id() {
    let mut forge = Installation::new();
    forge.set("FORGEWAY_LOG", "gateway=debug");
    forge.set("FORGEWAY_LOG_FORMAT", "json");
    let server = forge.start();

    let reply = server.open().get("/api/v4/nowhere", &[("X-Request-Id", "mine")]);
    let id = reply.header("x-request-id").expect("an id").to_owned();
    assert_ne!(id, "mine");
    server.stop();

    let lines = forge.log();
    let found: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .filter(|line: &Value| line["fields"]["request_id"] == id.as_str())
        .collect();
    assert_eq!(found.len(), 1, "{lines}");
    assert_eq!(found[0]["fields"]["status"], 404);
}

#[test]
fn what_broke_inside_is_told_to_the_log_only() {
    let forge = Installation::new();
    if !forge.is_on_sqlite() {
        return;
    }
    let server = forge.start();
    // A table that is gone makes every look for a token fail.
    let file = forge.data().join("forgeway.sqlite3");
    crate::support::break_table(&file, "access_tokens");

    let reply = server.get("/api/v4/version");

    let id = reply.header("x-request-id").expect("an id").to_owned();
    assert_eq!(reply.with(500), serde_json::json!({ "message": "500 Internal Server Error" }));
    let log = forge.log();
    let line = log.lines().find(|line| line.contains(&id)).expect("the failure is logged");
    assert!(line.contains("request failed") && line.contains("access_tokens"), "{line}");
}

#[test]
fn what_strangers_send_is_no_error_of_the_server() {
    for (level, told) in [("info", false), ("debug", true)] {
        let mut forge = Installation::new();
        forge.set("FORGEWAY_LOG", level);
        let server = forge.start();

        let mut stranger = server.open();
        stranger.write(b"GET / HTTP/1.1\r\nbad header\x00\r\n\r\n");
        assert!(stranger.rest().starts_with(b"HTTP/1.1 400"));
        server.stop();

        let log = forge.log();
        assert_eq!(log.contains("request parse error"), told, "{log}");
        assert!(told || !log.contains("ERROR"), "{log}");
    }
}
