//! Containers, with a program that runs in a shell what a container would run.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{Bench, JobExt as _, job};

/// Knows every image but `missing`, says that every service runs, and writes down each call. A container is a file with
/// what it mounts; starting it runs its script with the folders of this machine in the place of its own.
const PROGRAM: &str = r#"#!/bin/sh
echo "$@" >> "$0.log"
option() { wanted=$1; shift; for word; do case $word in "$wanted"*) echo "${word#"$wanted"}"; return;; esac; done; }
case "$1 $2" in
  "image inspect") [ "$4" != missing ] ;;
  "pull "*) echo "no such image"; exit 1 ;;
  "inspect "*) echo true ;;
  "ps "*) if [ -e "$0.left" ]; then echo 0123456789ab; rm "$0.left"; fi ;;
  "network ls") echo fedcba987654 ;;
  "create "*)
    option --volume= "$@" > "$0.mount"
    file=$(option --env-file= "$@"); cp "$file" "$0.env"; stat -c %a "$file" > "$0.mode" ;;
  "start "*)
    IFS=: read -r source target mode < "$0.mount"
    sed "s#$target#$source#g" "$source.tmp/script.sh" > "$0.script"
    exec sh "$0.script" ;;
esac
"#;

struct Engine {
    bench: Bench,
    folder: tempfile::TempDir,
}

impl Engine {
    fn new() -> Self {
        Self::beside(|_folder| {})
    }

    /// In a folder that was made ready before the runner starts.
    fn beside(ready: impl FnOnce(&std::path::Path)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("podman");
        std::fs::write(&program, PROGRAM).expect("a program");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("its mode");
        ready(folder.path());
        let lines = format!(
            "executor = \"container\"\n[runners.container]\nimage = \"default:1\"\nprogram = {program:?}"
        );
        Self { bench: Bench::with(&lines), folder }
    }

    fn read(&self, ending: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(format!("podman.{ending}"))).expect("text")
    }

    fn calls(&self) -> Vec<String> {
        self.read("log").lines().map(str::to_owned).collect()
    }

    /// The first words of the calls that a job makes: those at the start of the runner are left out.
    fn begins(&self) -> Vec<String> {
        let calls = self.calls();
        let words = |call: &String| call.split(' ').next().expect("a word").to_owned();
        calls.iter().skip(3).map(words).collect()
    }
}

#[test]
fn a_step_runs_in_a_container_and_everything_is_taken_away() {
    let engine = Engine::new();
    let services = json!([{ "name": "postgres:16", "alias": "db", "variables": [{ "key": "A", "value": "b" }] }]);
    let (end, log) = engine.bench.run(job(&["echo inside", "exit 3"]).set("services", services));
    assert_eq!((&end["failure_reason"], &end["exit_code"]), (&json!("script_failure"), &json!(3)));
    assert!(log.contains("\ninside\n"), "{log}");
    let expected =
        ["image", "network", "image", "run", "inspect", "create", "start", "rm", "rm", "network"];
    assert_eq!(engine.begins(), expected);
    let calls = engine.calls();
    let call = |begin: &str| calls.iter().find(|call| call.starts_with(begin)).expect("a call");
    let run = call("run --detach");
    assert!(run.contains("--network-alias=db") && run.ends_with("postgres:16"), "{run}");
    let create = call("create");
    assert!(create.contains("default:1 sh -c"), "{create}");
    assert!(create.ends_with("/builds/group/project.tmp/script.sh"), "{create}");
}

#[test]
fn files_of_a_container_are_artifacts_of_the_job_and_there_for_the_next_step() {
    let engine = Engine::new();
    let artifacts =
        json!([{ "paths": ["out"], "artifact_type": "archive", "artifact_format": "zip" }]);
    let job = job(&["mkdir out", "echo made > out/file"]).set("artifacts", artifacts);
    let (end, log) = engine.bench.run(job.after(&["cat out/file"]));
    assert_eq!(end["state"], "success", "{log}");
    assert!(log.contains("\nmade\n"), "{log}");
    let (_, body) = engine.bench.server.lock().uploads.remove(0);
    let zip = zip::ZipArchive::new(std::io::Cursor::new(body)).expect("an archive");
    assert!(zip.file_names().any(|name| name.expect("a name") == "out/file"));
    // Each step has a container of its own.
    assert_eq!(engine.begins().iter().filter(|call| *call == "create").count(), 2);
}

#[test]
fn an_entrypoint_stands_before_the_shell() {
    let engine = Engine::new();
    let image = json!({ "name": "tool:2", "entrypoint": ["/bin/tini", "--"] });
    let (end, log) = engine.bench.run(job(&["true"]).set("image", image));
    assert_eq!(end["state"], "success", "{log}");
    let calls = engine.calls();
    let create = calls.iter().find(|call| call.starts_with("create")).expect("a call");
    assert!(create.contains("--entrypoint=/bin/tini tool:2 -- sh -c"), "{create}");
}

#[test]
fn a_cancelled_job_leaves_no_container() {
    let engine = Engine::new();
    engine.bench.server.lock().status_after = Some(("\nwaiting\n", "canceling"));
    let (_, log) = engine.bench.run(job(&["echo waiting", "sleep 1000"]));
    assert!(log.contains("Job failed: canceled"), "{log}");
    assert_eq!(engine.begins(), ["image", "create", "start", "rm"]);
}

#[test]
fn a_job_whose_time_is_up_leaves_no_container() {
    let engine = Engine::new();
    let limit = json!({ "key": "RUNNER_SCRIPT_TIMEOUT", "value": "1s" });
    let (end, _) = engine.bench.run(job(&["sleep 1000"]).variable(limit));
    assert_eq!(end["failure_reason"], "job_execution_timeout");
    assert_eq!(engine.begins().last().expect("a call"), "rm");
}

#[test]
fn what_a_killed_runner_has_left_goes_at_the_next_start() {
    let engine = Engine::beside(|folder| {
        std::fs::write(folder.join("podman.left"), "").expect("a file");
    });
    engine.bench.run(job(&["true"]));
    let filter = "--filter=label=com.forgeway.runner=r_test/012345678";
    let expected = [
        format!("ps --all --quiet {filter}"),
        "rm --force --volumes 0123456789ab".to_owned(),
        format!("network ls --quiet {filter}"),
        "network rm fedcba987654".to_owned(),
    ];
    let calls = engine.calls();
    assert_eq!(calls[..4], expected);
    let is_marked = |call: &&String| call.contains("--label=com.forgeway.runner=r_test/012345678");
    assert_eq!(calls.iter().filter(is_marked).count(), 1, "{calls:?}");
}

#[test]
fn an_image_that_cannot_be_fetched_fails_the_job() {
    let engine = Engine::new();
    let (end, log) = engine.bench.run(job(&["true"]).set("image", json!({ "name": "missing" })));
    assert_eq!(end["failure_reason"], "runner_system_failure");
    assert!(log.contains("cannot pull missing: no such image"), "{log}");
}

#[test]
fn names_that_would_be_options_are_refused_before_anything_is_called() {
    for image in ["--privileged", "a --volume=/:/host", "$EVIL"] {
        let engine = Engine::new();
        let evil = json!({ "key": "EVIL", "value": "-v/:/host" });
        let refused = job(&["true"]).variable(evil).set("image", json!({ "name": image }));
        let (end, log) = engine.bench.run(refused);
        assert_eq!(end["state"], "failed");
        assert!(log.contains("is not the name of an image"), "{log}");
        assert_eq!(engine.begins(), Vec::<String>::new());
    }
}

#[test]
fn a_secret_is_in_no_argument_but_in_a_file_for_the_runner_alone() {
    let engine = Engine::new();
    let secret = json!({ "key": "PASSWORD", "value": "hunter2-hunter2", "masked": true });
    let evil: Value = json!({ "key": "ODD", "value": "one\nPATH=/evil" });
    engine.bench.run(job(&["true"]).variable(secret).variable(evil));
    assert!(engine.calls().iter().all(|call| !call.contains("hunter2")));
    let text = engine.read("env");
    assert!(text.contains("\nPASSWORD=hunter2-hunter2\n") && !text.contains("/evil"), "{text}");
    assert_eq!(engine.read("mode"), "600\n");
}

#[test]
fn a_runner_whose_program_is_missing_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("runner.toml");
    let text = "[[runners]]\nname = \"a\"\nurl = \"http://127.0.0.1:9\"\ntoken = \"t\"\nexecutor = \"docker\"\n\
                [runners.container]\nprogram = \"/nonexistent/docker\"\n";
    std::fs::write(&file, text).expect("a file");
    let config = job_runner::config::Config::load(&file).expect("a configuration");
    let pace = crate::support::PACE;
    let failure = job_runner::fleet::Fleet::start(&config, "r_test", pace).expect_err("no program");
    assert!(format!("{failure:#}").contains("finds no program /nonexistent/docker"), "{failure:#}");
}
