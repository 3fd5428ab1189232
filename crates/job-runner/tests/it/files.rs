//! Artifacts and caches.

use std::io::{Cursor, Read as _, Write as _};

use serde_json::json;
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use crate::support::{Bench, JobExt as _, job};

fn names(archive: &[u8]) -> Vec<String> {
    let zip = ZipArchive::new(Cursor::new(archive)).expect("works");
    zip.file_names().map(|name| name.expect("works").into_owned()).collect()
}

fn archive(name: &str, content: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(name, SimpleFileOptions::default()).expect("works");
    zip.write_all(content.as_bytes()).expect("works");
    zip.finish().expect("works").into_inner()
}

#[test]
fn artifacts_are_packed_and_sent() {
    let bench = Bench::new();
    let script =
        ["mkdir -p out/sub", "echo a > out/a.txt", "echo b > out/sub/b.txt", "echo c > out/c.tmp"];
    let artifacts = json!([{
        "name": "$CI_PROJECT_DIR-x", "paths": ["out/"], "exclude": ["**/*.tmp"], "expire_in": "1 week",
        "artifact_type": "archive", "artifact_format": "zip", "when": "on_success",
    }]);
    let (end, log) = bench.run(job(&script).set("artifacts", artifacts));
    assert_eq!(end["state"], "success", "{log}");
    let (query, body) = bench.server.lock().uploads.remove(0);
    assert_eq!(query, "artifact_type=archive&artifact_format=zip&expire_in=1%20week");
    assert_eq!(names(&body), ["out/", "out/a.txt", "out/sub/", "out/sub/b.txt"]);
}

#[test]
fn reports_are_gzipped_and_sent_after_a_failure() {
    let bench = Bench::new();
    let artifacts = json!([
        { "name": "junit.xml", "paths": ["*.xml"], "when": "always", "artifact_type": "junit", "artifact_format": "gzip" },
        { "paths": ["x"], "when": "on_success", "artifact_type": "archive", "artifact_format": "zip" },
    ]);
    let script = ["echo '<a/>' > a.xml", "echo '<b/>' > b.xml", "false"];
    let (end, _) = bench.run(job(&script).set("artifacts", artifacts));
    assert_eq!(end["state"], "failed");
    let uploads = std::mem::take(&mut bench.server.lock().uploads);
    assert_eq!(uploads.len(), 1);
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(uploads[0].1.as_slice()).read_to_string(&mut text).unwrap();
    assert_eq!(text, "<a/>\n<b/>\n");
}

#[test]
fn nothing_from_outside_of_the_project_is_sent() {
    let bench = Bench::new();
    let artifacts = json!([{
        "paths": ["/etc/passwd", "../../../*", "link", "dir/passwd", "ok"], "artifact_type": "archive", "artifact_format": "zip",
    }]);
    let script = ["ln -s /etc/passwd link", "ln -s /etc dir", "echo ok > ok"];
    let (_, log) = bench.run(job(&script).set("artifacts", artifacts));
    assert!(log.contains("outside of the project folder"), "{log}");
    let (_, body) = bench.server.lock().uploads.remove(0);
    assert_eq!(names(&body), ["ok"]);
}

#[test]
fn an_upload_is_tried_again_while_the_server_has_trouble() {
    let bench = Bench::new();
    bench.server.lock().odd_uploads.extend([503, 500]);
    let artifacts =
        json!([{ "paths": ["a"], "artifact_type": "archive", "artifact_format": "zip" }]);
    let (end, log) = bench.run(job(&["echo a > a"]).set("artifacts", artifacts.clone()));
    assert_eq!(end["state"], "success", "{log}");
    bench.server.lock().odd_uploads.push_back(413);
    let (end, log) = bench.run(job(&["echo a > a"]).set("artifacts", artifacts));
    assert_eq!(end["state"], "failed");
    assert!(log.contains("artifacts were not taken: 413 not now"), "{log}");
}

#[test]
fn artifacts_of_other_jobs_are_there_before_the_script() {
    let bench = Bench::new();
    bench.server.lock().archives.insert(5, archive("from/other.txt", "hello\n"));
    let dependencies = json!([
        { "id": 5, "name": "other", "token": "glcbt-job-token", "artifacts_file": { "filename": "a.zip", "size": 1 } },
        { "id": 6, "name": "without", "token": "glcbt-job-token" },
    ]);
    let (end, log) = bench.run(job(&["cat from/other.txt"]).set("dependencies", dependencies));
    assert_eq!(end["state"], "success", "{log}");
    assert!(
        log.contains("\nhello\n") && log.contains("Downloading artifacts for other (5)"),
        "{log}"
    );
}

#[test]
fn an_archive_that_leads_out_of_the_project_fails_the_job() {
    let bench = Bench::new();
    bench.server.lock().archives.insert(5, archive("../evil", "x"));
    let dependencies = json!([{ "id": 5, "name": "o", "token": "glcbt-job-token", "artifacts_file": { "filename": "a.zip" } }]);
    let (end, log) = bench.run(job(&["echo never"]).set("dependencies", dependencies));
    assert_eq!(end["state"], "failed");
    assert!(log.contains("leads out of the project folder") && !log.contains("\nnever\n"), "{log}");
}

#[test]
fn a_cache_is_there_for_the_next_job_of_its_key() {
    let bench = Bench::new();
    let cache = |key: &str, policy: &str| json!([{ "key": key, "paths": ["deps/"], "policy": policy, "when": "on_success" }]);
    let make = job(&["test -e deps/x || { mkdir deps; echo kept > deps/x; }"]);
    let (_, log) = bench.run(make.set("cache", cache("a/b-protected", "pull-push")));
    assert!(log.contains("No cache for a/b-protected") && log.contains("Created cache"), "{log}");
    let (_, log) = bench.run(job(&["cat deps/x"]).set("cache", cache("a/b-protected", "pull")));
    assert!(log.contains("\nkept\n"), "{log}");
    let mut other = cache("b-non_protected", "pull");
    other[0]["fallback_keys"] = json!(["a/b-protected"]);
    let (end, _) = bench.run(job(&["cat deps/x"]).set("cache", other));
    assert_eq!(end["state"], "failed");
}
