//! From the first start to a quiet end.

use std::{collections::BTreeMap, io::Write};

use crate::support::{Connection, Git, Installation, TOKEN, eventually, is_private};

#[test]
fn the_first_start_shows_secrets_that_work_and_a_push_line_that_works() {
    let forge = Installation::bare();
    let server = forge.start();

    let printed = forge.printed();
    let after = |label: &str| {
        let line = printed.lines().find_map(|line| line.trim().strip_prefix(label));
        line.unwrap_or_else(|| panic!("no {label} in {printed}")).trim().to_owned()
    };
    assert!(printed.starts_with(&format!("Forgeway serves on http://127.0.0.1:{}\n", forge.port)));
    assert!(printed.contains("The administrator is root"), "{printed}");
    assert!(after("password:").len() >= 16);
    let token = after("token:");
    let reply = server.open().get("/api/v4/version", &[("PRIVATE-TOKEN", &token)]);
    assert_eq!(reply.status, 200);

    let git = Git::new(forge.folder.path(), "work");
    let push = after("git push");
    let words: Vec<&str> = ["push"].into_iter().chain(push.split(' ')).collect();
    git.run(&words);
    let told = git.run(&["ls-remote", words[1], "refs/heads/main"]);
    assert!(told.starts_with(&git.run(&["rev-parse", "HEAD"])), "{told}");
    server.stop();
}

#[test]
fn later_starts_show_the_address_only() {
    let forge = Installation::bare();
    forge.start().stop();
    let before = forge.printed().len();

    forge.start().stop();

    let printed = forge.printed()[before..].to_owned();
    assert_eq!(printed, format!("Forgeway serves on http://127.0.0.1:{}\n", forge.port));
}

#[test]
fn given_secrets_are_used_and_not_shown() {
    let forge = Installation::new();
    let server = forge.start();

    assert_eq!(server.get("/api/v4/version").status, 200);
    let printed = forge.printed();
    assert!(!printed.contains(TOKEN) && !printed.contains(crate::support::PASSWORD), "{printed}");
    assert!(printed.contains("$FORGEWAY_ROOT_TOKEN"), "{printed}");
    server.stop();
}

#[test]
fn nobody_else_can_read_what_is_kept() {
    let forge = Installation::new();
    forge.start().stop();

    assert!(is_private(&forge.data()));
    for entry in std::fs::read_dir(forge.data()).unwrap() {
        let path = entry.unwrap().path();
        assert!(is_private(&path), "{}", path.display());
    }
}

#[test]
fn a_second_server_on_the_same_folder_is_refused() {
    let forge = Installation::new();
    let server = forge.start();

    let told = forge.run(&["serve", "--listen", "127.0.0.1:0"]).failed();

    assert!(told.contains("is in use by another forgeway process"), "{told}");
    assert!(told.contains("stop it first, or give --data another folder"), "{told}");
    server.stop();
}

#[test]
fn a_port_that_is_taken_is_named() {
    let forge = Installation::new();
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = taken.local_addr().unwrap().to_string();

    let told = forge.run(&["--listen", &address]).failed();

    assert!(told.contains(&format!("cannot listen on {address}")), "{told}");
}

#[test]
fn a_request_under_way_is_answered_after_sigterm() {
    let forge = Installation::new();
    let mut server = forge.start();
    let idle = server.open();
    let mut slow = server.open();
    let body = format!("{{\"private_token\":\"{TOKEN}\"}}");
    let head = format!(
        "GET /api/v4/version HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    slow.write(head.as_bytes());
    slow.write(&body.as_bytes()[..5]);
    // Connections go to the workers in turn: when each of them has answered, the head above was read, too.
    for _ in 0..16 {
        assert_eq!(server.get("/-/readiness").status, 200);
    }

    server.terminate();
    eventually("no new connections", || Connection::try_open(forge.port).is_none().then_some(()));
    slow.write(&body.as_bytes()[5..]);

    assert_eq!(slow.reply().status, 200);
    assert!(server.ended().success(), "{}", forge.log());
    drop(idle);
    assert!(forge.log().contains("stopped"), "{}", forge.log());
}

#[test]
fn probes_need_no_credential_and_count_for_no_limit() {
    let mut forge = Installation::new();
    forge.set("FORGEWAY_RATE_LIMIT_ADDRESS", "1");
    let server = forge.start();

    for _ in 0..3 {
        assert_eq!(server.open().get("/-/health", &[]).text, "GitLab OK");
        assert_eq!(server.open().get("/-/liveness", &[]).with(200)["status"], "ok");
        let ready = server.open().get("/-/readiness", &[]).with(200);
        assert_eq!(ready["database_check"][0]["status"], "ok");
        assert_eq!(ready["serving_check"][0]["status"], "ok");
    }
    server.stop();
}

#[test]
fn figures_are_there_for_requests_database_git_and_queue() {
    let forge = Installation::new();
    let server = forge.start();
    server.get("/api/v4/version");
    server.open().get("/api/v4/nowhere", &[]);

    let page = server.open().get("/-/metrics", &[]).text;

    let names: BTreeMap<&str, &str> = page
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.rsplit_once(' '))
        .collect();
    let some = |start: &str| names.keys().any(|name| name.starts_with(start));
    assert_eq!(
        names["forgeway_requests_total{method=\"GET\",route=\"/version\",status=\"200\"}"],
        "1"
    );
    assert!(
        some("forgeway_requests_total{method=\"GET\",route=\"none\",status=\"404\"}"),
        "{page}"
    );
    assert!(
        some("forgeway_request_seconds_bucket{method=\"GET\",route=\"/version\",le="),
        "{page}"
    );
    for way in ["peek", "read", "write"] {
        let count = &names[format!("forgeway_database_seconds_count{{way=\"{way}\"}}").as_str()];
        assert!(*count != "0", "{page}");
    }
    assert!(some("forgeway_database_wait_seconds_bucket{way=\"write\""), "{page}");
    assert_eq!(names["forgeway_git_children"], "0");
    assert_eq!(names["forgeway_work_given_up"], "0");
    assert!(names.contains_key("forgeway_work_waiting") && names["forgeway_ready"] == "1");
    assert!(page.contains("# HELP forgeway_request_seconds"), "{page}");
    server.stop();
}

#[test]
fn a_lock_that_a_killed_server_left_keeps_nobody_out() {
    let forge = Installation::new();
    drop(forge.start());

    let mut lock =
        std::fs::File::options().append(true).open(forge.data().join("forgeway.lock")).unwrap();
    lock.write_all(b"left behind").unwrap();

    forge.start().stop();
}

#[test]
fn a_database_that_a_newer_version_made_is_refused() {
    let forge = Installation::new();
    forge.start().stop();
    forge.change_rows("INSERT INTO __diesel_schema_migrations (version) VALUES ('20991231235959')");

    for command in [&["serve"][..], &["user", "list"], &["doctor"]] {
        let told = forge.run(command).failed();
        assert!(told.contains("it was made by a newer version of Forgeway"), "{told}");
        assert!(told.contains("20991231235959") && told.contains("restore a backup"), "{told}");
    }
    forge.change_rows("DELETE FROM __diesel_schema_migrations WHERE version = '20991231235959'");
    forge.start().stop();
}
