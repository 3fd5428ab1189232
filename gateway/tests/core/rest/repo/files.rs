//! Reading, blaming and writing single files.

use std::fmt::Write as _;

use actix_web::http::Method;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::{AccessLevel, Visibility};
use org::{token::Scope, user::actions::NewUser};
use repo::testing::{Entry, Fixture, History};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Answer, TestApp};

fn forge() -> (TestApp, Fixture, String) {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let project = app.project_from(&fixture);
    (app, fixture, format!("/projects/{project}/repository/files"))
}

/// Each fact under both of its names.
#[track_caller]
fn fact<'a>(answer: &'a Answer, name: &str) -> &'a str {
    let value = answer.header(&format!("x-service-{name}"));
    assert_eq!(value, answer.header(&format!("x-gitlab-{name}")), "{name}");
    value.unwrap_or_else(|| panic!("{name} is missing"))
}

#[actix_web::test]
async fn a_file_is_what_git_keeps() {
    let (app, fixture, files) = forge();
    for (path, name) in [
        ("run.sh", "run.sh"),
        ("lib%2Fprogram.c", "program.c"),
        ("image.bin", "image.bin"),
        ("link", "link"),
        ("empty", "empty"),
        ("README.md%2Finner.txt", "inner.txt"),
    ] {
        let plain = path.replace("%2F", "/");
        let content = fixture.git(&["cat-file", "blob", &format!("main:{plain}")]);

        let answer = app.anonymous().get(&format!("{files}/{path}?ref=main")).await;

        assert_eq!(fact(&answer, "file-path"), plain);
        let body = answer.ok();
        assert_eq!(body["file_name"], name);
        assert_eq!(body["file_path"], json!(plain));
        assert_eq!(body["size"], content.len());
        assert_eq!(body["content"], json!(BASE64_STANDARD.encode(&content)));
        assert_eq!(body["content_sha256"], json!(hex::encode(Sha256::digest(&content))));
        assert_eq!(
            body["blob_id"],
            json!(fixture.lines(&["rev-parse", &format!("main:{plain}")])[0])
        );
        assert_eq!(body["commit_id"], json!(fixture.id("main").to_string()));
        let last = &fixture.lines(&["log", "-1", "--format=%H", "main", "--", &plain])[0];
        assert_eq!(body["last_commit_id"], json!(last));
        assert_eq!(body["execute_filemode"], json!(path == "run.sh"));
        assert_eq!((&body["ref"], &body["encoding"]), (&json!("main"), &json!("base64")));
    }
}

#[actix_web::test]
async fn head_tells_the_facts_without_the_content() {
    let (app, fixture, files) = forge();
    let head = fixture.id("main").to_string();

    for tail in ["", "/raw", "/blame"] {
        let answer = app.anonymous().head(&format!("{files}/run.sh{tail}?ref=main")).await;
        assert_eq!(answer.status, 200, "{tail}");
        assert_eq!(fact(&answer, "file-name"), "run.sh");
        assert_eq!(fact(&answer, "size"), "20");
        assert_eq!(fact(&answer, "encoding"), "base64");
        assert_eq!(fact(&answer, "ref"), "main");
        assert_eq!(fact(&answer, "execute-filemode"), "true");
        assert_eq!(fact(&answer, "commit-id"), head);
        assert_eq!(fact(&answer, "blob-id").len(), 40);
        assert_eq!(fact(&answer, "last-commit-id").len(), 40);
        assert_eq!(fact(&answer, "content-sha256").len(), 64);
        assert_eq!(answer.header("etag").is_none(), tail == "/blame");
    }
}

#[actix_web::test]
async fn raw_bytes_come_as_they_are() {
    let (app, fixture, files) = forge();
    for (path, plain, kind) in [
        ("run.sh", "run.sh", "text/plain"),
        ("image.bin", "image.bin", "application/octet-stream"),
        ("lib.c", "lib.c", "text/plain"),
    ] {
        let answer = app.anonymous().get(&format!("{files}/{path}/raw")).await;
        assert_eq!(answer.bytes, fixture.git(&["cat-file", "blob", &format!("main:{plain}")]));
        assert_eq!(answer.header("content-type"), Some(kind));
        let disposition = format!("inline; filename=\"{plain}\"; filename*=UTF-8''{plain}");
        assert_eq!(answer.header("content-disposition"), Some(disposition.as_str()));
        assert_eq!(answer.header("cache-control"), Some("no-store, no-cache"));
        assert_eq!(fact(&answer, "ref"), "HEAD");
    }
}

#[actix_web::test]
async fn names_that_are_no_text_are_found() {
    let (app, _fixture, files) = forge();

    let answer = app.anonymous().get(&format!("{files}/caf%E9.txt?ref=main")).await;
    assert_eq!(fact(&answer, "file-name"), "caf%E9.txt");
    assert_eq!(answer.ok()["size"], 6);
    let odd = "%C3%BCn%C3%AF%20c%C3%B6d%C3%A9%2F%22quoted%22%20name.txt";
    assert_eq!(app.anonymous().get(&format!("{files}/{odd}/raw?ref=main~3")).await.status, 404);
    let before = app.anonymous().get(&format!("{files}/{odd}/raw?ref=release%2F1.x")).await;
    assert_eq!(before.status, 404);
}

#[actix_web::test]
async fn every_kind_of_ref_leads_to_a_file() {
    let (app, fixture, files) = forge();
    let id = fixture.id("v1.0").to_string();

    for name in ["v1.0", "refs%2Ftags%2Fv1.0", &id, &id[..10]] {
        let body = app.anonymous().get(&format!("{files}/topic.txt?ref={name}")).await.ok();
        assert_eq!(body["commit_id"], json!(id), "{name}");
    }
    let head = app.anonymous().get(&format!("{files}/LICENSE?ref=HEAD")).await.ok();
    assert_eq!(head["commit_id"], json!(fixture.id("main").to_string()));
}

#[actix_web::test]
async fn what_is_no_file_is_not_found() {
    let (app, _fixture, files) = forge();
    let nobody = app.anonymous();
    let get = |path: &str| {
        let (nobody, url) = (nobody.clone(), format!("{files}/{path}"));
        async move { nobody.get(&url).await }
    };
    let no_file = json!({ "message": "404 File Not Found" });
    let no_commit = json!({ "message": "404 Commit Not Found" });
    let invalid = json!({ "error": "file_path should be a valid file path" });

    for path in ["nowhere", "docs", "module", "LICENSE%2Fx", "docs%2F%2Fb.txt"] {
        get(&format!("{path}?ref=main")).await.refused(404, no_file.clone());
        get(&format!("{path}/raw?ref=main")).await.refused(404, no_file.clone());
        get(&format!("{path}/blame?ref=main")).await.refused(404, no_file.clone());
    }
    for name in ["nowhere", "--output%3Dx", "a%20b"] {
        get(&format!("LICENSE?ref={name}")).await.refused(404, no_commit.clone());
    }
    for path in ["..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "a%2F..%2Fb", "a%00b"] {
        get(&format!("{path}?ref=main")).await.refused(400, invalid.clone());
    }
    get("LICENSE").await.refused(400, json!({ "error": "ref is missing" }));
    get("LICENSE?ref=").await.refused(400, json!({ "error": "ref is empty" }));
    get("LICENSE/blame").await.refused(400, json!({ "error": "ref is missing" }));
    get(&format!("{}?ref=main", "a".repeat(20_000))).await.refused(404, no_file);
}

#[actix_web::test]
async fn large_files_are_sent_piece_by_piece() {
    let app = TestApp::new();
    let content: Vec<u8> =
        (0..5_000_001_u32).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
    let mut history = History::new();
    let files = [Entry::File(b"large".to_vec(), content.clone()), Entry::file("pointer", pointer)];
    history.commit("main", 1_600_000_000, "Large\n", &[], &files);
    let project = app.project_from(&Fixture::of(history));
    let files = format!("/projects/{project}/repository/files");

    let raw = app.anonymous().get(&format!("{files}/large/raw")).await;
    assert_eq!(fact(&raw, "content-sha256"), hex::encode(Sha256::digest(&content)));
    assert_eq!(raw.header("content-type"), Some("application/octet-stream"));
    assert!(raw.bytes == content);
    let body = app.anonymous().get(&format!("{files}/large?ref=main")).await.ok();
    assert!(body["content"] == json!(BASE64_STANDARD.encode(&content)));
    for tail in ["", "/raw"] {
        let head = app.anonymous().head(&format!("{files}/large{tail}?ref=main")).await;
        assert_eq!((head.status, fact(&head, "size")), (200, "5000001"));
        assert_eq!(head.header("etag"), None);
        assert_eq!(head.bytes.len(), 0);
    }
    let kept = app.anonymous().get(&format!("{files}/pointer/raw?lfs=true")).await;
    assert_eq!(kept.bytes, pointer.as_bytes());
}

#[actix_web::test]
async fn blame_says_what_git_blame_says() {
    let (app, fixture, files) = forge();
    for (path, query) in [
        ("topic.txt", ""),
        ("lib/program.c", ""),
        ("lib/program.c", "&range[start]=3&range[end]=12"),
    ] {
        let encoded = path.replace('/', "%2F");
        let body =
            app.anonymous().get(&format!("{files}/{encoded}/blame?ref=main{query}")).await.ok();

        let mut arguments = vec!["blame", "-s", "-l", "--root", "--line-porcelain"];
        if !query.is_empty() {
            arguments.push("-L3,12");
        }
        arguments.extend(["main", "--", path]);
        let told = fixture.lines(&arguments);
        let lines: Vec<&str> = told.iter().filter_map(|line| line.strip_prefix('\t')).collect();
        let ids: Vec<&str> = told
            .iter()
            .filter_map(|line| line.split(' ').next().filter(|word| word.len() == 40))
            .collect();
        let ranges = body.as_array().cloned().unwrap_or_default();
        let shown = ranges.iter().flat_map(|range| range["lines"].as_array().into_iter().flatten());
        assert_eq!(shown.collect::<Vec<_>>(), lines, "{path}");
        let by_line = ranges.iter().flat_map(|range| {
            let count = range["lines"].as_array().map_or(0, Vec::len);
            std::iter::repeat_n(range["commit"]["id"].clone(), count)
        });
        assert_eq!(by_line.collect::<Vec<_>>(), ids, "{path}");
    }
    let body = app.anonymous().get(&format!("{files}/empty/blame?ref=main")).await.ok();
    let fields: Vec<&String> =
        body[0]["commit"].as_object().into_iter().flatten().map(|(key, _)| key).collect();
    assert_eq!(
        fields,
        [
            "id",
            "parent_ids",
            "message",
            "authored_date",
            "author_name",
            "author_email",
            "committed_date",
            "committer_name",
            "committer_email"
        ]
    );
}

#[actix_web::test]
async fn ranges_that_make_no_sense_are_refused() {
    let (app, _fixture, files) = forge();
    for (query, text) in [
        ("range[start]=1", "range[end] is missing, range[end] is empty"),
        ("range[start]=&range[end]=", "range[start] is empty, range[end] is empty"),
        (
            "range[start]=0&range[end]=0",
            "range[start] does not have a valid value, range[end] does not have a valid value",
        ),
        ("range[start]=a&range[end]=2", "range[start] is invalid"),
        ("range=1", "range is invalid"),
    ] {
        let answer = app.anonymous().get(&format!("{files}/LICENSE/blame?ref=main&{query}")).await;
        answer.refused(400, json!({ "error": text }));
    }
    let path = format!("{files}/LICENSE/blame?ref=main&range[start]=2&range[end]=1");
    let text = "range[start] must be less than or equal to range[end]";
    app.anonymous().get(&path).await.refused(400, json!({ "message": text }));
    let path = format!("{files}/LICENSE/blame?ref=main&range[start]=100&range[end]=200");
    assert_eq!(app.anonymous().get(&path).await.ok(), json!([]));
}

fn written(content: &str, more: Value) -> Value {
    let mut body = json!({ "branch": "main", "commit_message": "Write", "content": content });
    if let Value::Object(more) = more {
        more.into_iter().for_each(|(key, value)| body[key] = value);
    }
    body
}

#[actix_web::test]
async fn a_file_is_made_changed_and_removed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "empty", Visibility::Public);
    let file = format!("/projects/{project}/repository/files/a%2Fb.txt");
    let answer = json!({ "file_path": "a/b.txt", "branch": "main" });
    let author = json!({ "author_name": "Grace", "author_email": "grace@example.com", "execute_filemode": true });

    assert_eq!(ada.post(&file, written("one", author)).await.created(), answer);
    let first = ada.get(&format!("{file}?ref=main")).await.ok();
    assert_eq!((&first["content"], &first["execute_filemode"]), (&json!("b25l"), &json!(true)));
    let commits = format!("/projects/{project}/repository/commits");
    let made = ada.get(&format!("{commits}/main")).await.ok();
    assert_eq!((&made["author_name"], &made["committer_name"]), (&json!("Grace"), &json!("ada")));

    let base64 = json!({ "encoding": "base64", "last_commit_id": first["last_commit_id"] });
    assert_eq!(ada.put(&file, written("dH\ndv\n", base64)).await.ok(), answer);
    let second = ada.get(&format!("{file}?ref=main")).await.ok();
    assert_eq!((&second["content"], &second["execute_filemode"]), (&json!("dHdv"), &json!(true)));
    ada.put(&file, written("two", json!({ "execute_filemode": false }))).await.ok();
    assert_eq!(ada.get(&format!("{file}?ref=main")).await.ok()["execute_filemode"], false);

    let gone = ada.delete(&format!("{file}?branch=main&commit_message=Gone")).await;
    assert_eq!((gone.status, gone.bytes.len()), (204, 0));
    assert_eq!(ada.get(&format!("{file}?ref=main")).await.status, 404);
}

#[actix_web::test]
async fn names_that_are_no_text_are_written_like_any_other() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "empty", Visibility::Public);
    let repository = format!("/projects/{project}/repository");
    let file = format!("{repository}/files/caf%E9.txt");

    ada.post(&file, written("one", json!({}))).await.created();
    ada.put(&file, written("two", json!({}))).await.ok();
    assert_eq!(ada.get(&format!("{file}/raw")).await.bytes, b"two");
    let form = "branch=main&commit_message=Move&actions[][action]=move\
                &actions[][previous_path]=caf%E9.txt&actions[][file_path]=d%FE%2Fx%FF";
    let commits = format!("{repository}/commits");
    let kind = "application/x-www-form-urlencoded";
    ada.send_bytes(Method::POST, &commits, kind, form.as_bytes()).await.created();

    let inside = ada.get(&format!("{repository}/tree?path=d%FE")).await.ok();
    assert_eq!(inside[0]["path"], "d\u{fffd}/x\u{fffd}");
    assert_eq!(ada.get(&format!("{repository}/archive.tar?path=d%FE")).await.status, 200);
    let moved = format!("{repository}/files/d%FE%2Fx%FF");
    let gone = ada.delete(&format!("{moved}?branch=main&commit_message=Gone")).await;
    assert_eq!((gone.status, ada.get(&file).await.status), (204, 400));
    assert_eq!(ada.get(&format!("{moved}?ref=main")).await.status, 404);
}

#[actix_web::test]
async fn each_refused_write_has_its_text() {
    let (app, _fixture, files) = forge();
    let ada = app.person("ada");
    let refused = |answer: Answer, text: &str| answer.refused(400, json!({ "message": text }));
    let license = format!("{files}/LICENSE");
    let seen = app.anonymous().get(&format!("{files}/topic.txt?ref=v1.0")).await.ok();
    let seen = json!({ "last_commit_id": seen["last_commit_id"] });

    refused(
        ada.post(&license, written("x", json!({}))).await,
        "A file with this name already exists",
    );
    let nowhere = format!("{files}/nowhere");
    refused(
        ada.put(&nowhere, written("x", json!({}))).await,
        "A file with this name doesn't exist",
    );
    let path = format!("{nowhere}?branch=main&commit_message=m");
    refused(ada.delete(&path).await, "A file with this name doesn't exist");
    let same = written("All rights reserved.\n", json!({}));
    refused(ada.put(&license, same).await, "Your changes could not be committed");
    let topic = format!("{files}/topic.txt");
    let text = "You are attempting to update a file that has changed since you started editing it.";
    refused(ada.put(&topic, written("x", seen.clone())).await, text);
    let text = "You are attempting to delete a file that has been previously updated.";
    let path = format!(
        "{topic}?branch=main&commit_message=m&last_commit_id={}",
        seen["last_commit_id"].as_str().unwrap_or_default()
    );
    refused(ada.delete(&path).await, text);
    let fresh = json!({ "branch": "fresh" });
    let text = "You can only create or edit files when you are on a branch";
    refused(ada.post(&nowhere, written("x", fresh)).await, text);
    let git = format!("{files}/.git%2Fconfig");
    refused(ada.post(&git, written("x", json!({}))).await, "invalid path: '.git/config'");
}

#[actix_web::test]
async fn parameters_of_writes_are_checked_first() {
    let (app, _fixture, files) = forge();
    let ada = app.person("ada");
    let new = format!("{files}/new");

    let text = "branch is missing, commit_message is missing, content is missing";
    ada.post(&new, json!({})).await.refused(400, json!({ "error": text }));
    let blank = json!({ "branch": "", "commit_message": " ", "content": "" });
    let text = "branch is empty, commit_message is empty";
    ada.put(&new, blank).await.refused(400, json!({ "error": text }));
    let odd = written("x", json!({ "encoding": "morse" }));
    let text = "encoding does not have a valid value";
    ada.post(&new, odd).await.refused(400, json!({ "error": text }));
    let wrong = written("?", json!({ "encoding": "base64" }));
    ada.post(&new, wrong).await.refused(400, json!({ "error": "content is invalid" }));
    let up = format!("{files}/..%2Fup");
    let text = "file_path should be a valid file path";
    ada.post(&up, written("x", json!({}))).await.refused(400, json!({ "error": text }));
}

#[actix_web::test]
async fn a_new_branch_begins_where_it_is_told_to() {
    let (app, fixture, files) = forge();
    let ada = app.person("ada");

    let body = written("x", json!({ "branch": "fresh", "start_branch": "topic" }));
    ada.post(&format!("{files}/new"), body).await.created();

    let path = files.replace("/files", "/commits/fresh");
    let parents = ada.get(&path).await.ok()["parent_ids"].clone();
    assert_eq!(parents, json!([fixture.id("topic").to_string()]));
}

#[actix_web::test]
async fn files_are_read_with_the_scope_for_repositories() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "secret", Visibility::Private);
    let file = format!("/projects/{project}/repository/files/a");
    ada.post(&file, written("x", json!({}))).await.created();
    let reader = app.someone(&NewUser::named("ada"), &[Scope::ReadRepository]);
    let guest = app.member(project, "guest", AccessLevel::Guest);
    let reporter = app.member(project, "reporter", AccessLevel::Reporter);

    assert_eq!(reader.get(&format!("{file}?ref=main")).await.status, 200);
    assert_eq!(reader.get(&format!("{file}/raw")).await.status, 200);
    assert_eq!(reader.put(&file, written("y", json!({}))).await.status, 403);
    let commits = format!("/projects/{project}/repository/commits");
    assert_eq!(reader.get(&commits).await.status, 403);
    let forbidden = json!({ "message": "403 Forbidden" });
    guest.get(&format!("{file}?ref=main")).await.refused(403, forbidden.clone());
    reporter.put(&file, written("y", json!({}))).await.refused(403, forbidden);
    assert_eq!(app.anonymous().get(&format!("{file}?ref=main")).await.status, 404);
}

#[actix_web::test]
async fn a_protected_branch_is_kept_from_developers() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Visibility::Public);
    let file = format!("/projects/{project}/repository/files/a");
    ada.post(&file, written("x", json!({}))).await.created();
    let developer = app.member(project, "dev", AccessLevel::Developer);

    let text = "You are not allowed to push into this branch";
    developer.put(&file, written("y", json!({}))).await.refused(400, json!({ "message": text }));
    let commits = format!("/projects/{project}/repository/commits");
    let delete = json!([{ "action": "delete", "file_path": "a" }]);
    let body = json!({ "branch": "main", "commit_message": "m", "actions": delete });
    let told = json!({ "message": format!("403 Forbidden - {text}") });
    developer.post(&commits, body).await.refused(403, told.clone());
    for verb in ["cherry_pick", "revert"] {
        let path = format!("{commits}/main/{verb}");
        developer.post(&path, json!({ "branch": "main" })).await.refused(403, told.clone());
    }
    let aside = written("y", json!({ "branch": "aside", "start_branch": "main" }));
    developer.put(&file, aside).await.ok();
}

/// A text of so many lines whose first and last were changed later, in a public project.
fn with_large_file(lines: usize) -> (TestApp, Fixture, String) {
    let text = |first: &str| {
        let mut text = format!("{first}\n");
        for number in 2..lines {
            let _infallible = writeln!(text, "line {number}");
        }
        text + first
    };
    let mut history = History::new();
    let one =
        history.commit("main", 1_600_000_000, "one", &[], &[Entry::file("large", &text("a"))]);
    history.commit("main", 1_600_000_001, "two", &[one], &[Entry::file("large", &text("b"))]);
    let (app, fixture) = (TestApp::new(), Fixture::of(history));
    let project = app.project_from(&fixture);
    (app, fixture, format!("/projects/{project}/repository/files/large/blame?ref=main"))
}

#[actix_web::test]
async fn a_large_file_is_blamed_line_by_line() {
    const LINES: usize = 300_000;
    let (app, fixture, path) = with_large_file(LINES);

    let body = app.anonymous().get(&path).await.ok();

    let (new, old) = (fixture.id("main").to_string(), fixture.id("main~1").to_string());
    let spans: Vec<(&str, usize)> = body
        .as_array()
        .expect("spans")
        .iter()
        .map(|span| {
            let lines = span["lines"].as_array().expect("lines");
            (span["commit"]["id"].as_str().expect("an id"), lines.len())
        })
        .collect();
    assert_eq!(spans, [(&*new, 1), (&*old, LINES - 2), (&*new, 1)]);
    assert_eq!(body[0]["lines"][0], "b");
    assert_eq!(body[1]["lines"][LINES - 3], format!("line {}", LINES - 1));
    assert_eq!(body[2]["commit"]["message"], "two");

    let ranged =
        app.anonymous().get(&format!("{path}&range[start]=299999&range[end]=400000")).await.ok();
    assert_eq!(ranged[0]["lines"], json!(["line 299999"]));
    assert_eq!(
        (ranged[0]["commit"]["id"].as_str(), &ranged[1]["lines"]),
        (Some(&*old), &json!(["b"]))
    );
    let beyond =
        app.anonymous().get(&format!("{path}&range[start]=300001&range[end]=300002")).await;
    assert_eq!(beyond.ok(), json!([]));
}
