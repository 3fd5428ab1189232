//! Containers, with a program that only writes down what it is asked.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::{Bench, JobExt as _, job};

/// Knows every image but `missing`, and says that everything runs.
const PROGRAM: &str = r#"#!/bin/sh
echo "$@" >> "$0.log"
case "$1 $2" in
  "image inspect") [ "$4" != missing ] ;;
  "pull "*) echo "no such image"; exit 1 ;;
  "inspect "*) echo true ;;
  "start "*) echo "in the container"; exit 3 ;;
esac
"#;

fn bench() -> (Bench, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("works");
    let program = folder.path().join("engine");
    std::fs::write(&program, PROGRAM).expect("works");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("works");
    let lines = format!(
        "executor = \"podman\"\n[runners.container]\nimage = \"default:1\"\nprogram = {program:?}"
    );
    (Bench::with(&lines), folder)
}

fn calls(folder: &tempfile::TempDir) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path().join("engine.log")).expect("works");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_step_runs_in_a_container_and_everything_is_taken_away() {
    let (bench, folder) = bench();
    let services = json!([{ "name": "postgres:16", "alias": "db", "variables": [{ "key": "A", "value": "b" }] }]);
    let (end, log) = bench.run(job(&["true"]).set("services", services));
    assert_eq!((&end["failure_reason"], &end["exit_code"]), (&json!("script_failure"), &json!(3)));
    assert!(log.contains("in the container"), "{log}");
    let calls = calls(&folder);
    let begins: Vec<&str> = calls.iter().map(|call| call.split(' ').next().unwrap()).collect();
    let expected =
        ["image", "network", "image", "run", "inspect", "create", "start", "rm", "rm", "network"];
    assert_eq!(begins, expected, "{calls:?}");
    assert!(
        calls[3].contains("--network-alias=db") && calls[3].ends_with("postgres:16"),
        "{calls:?}"
    );
    assert!(
        calls[5].contains("default:1 sh -c")
            && calls[5].ends_with("/builds/group/project.tmp/script.sh")
    );
}

#[test]
fn an_image_that_cannot_be_fetched_fails_the_job() {
    let (bench, _folder) = bench();
    let (end, log) = bench.run(job(&["true"]).set("image", json!({ "name": "missing" })));
    assert_eq!(end["failure_reason"], "runner_system_failure");
    assert!(log.contains("cannot pull missing: no such image"), "{log}");
}

#[test]
fn a_secret_is_in_no_argument() {
    let (bench, folder) = bench();
    let secret = json!({ "key": "PASSWORD", "value": "hunter2-hunter2", "masked": true });
    bench.run(job(&["true"]).variable(secret));
    assert!(calls(&folder).iter().all(|call| !call.contains("hunter2")));
}
