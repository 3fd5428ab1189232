//! `forgeway runner` as a process, from its registration to its end.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use kernel::Visibility;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::workshop::patiently;
use crate::support::TestApp;

/// Runs a command in a folder; what it has printed, after it went well.
async fn runner(folder: &std::path::Path, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forgeway"));
    command.arg("runner").args(words).current_dir(folder);
    let done = patiently(move || command.output().expect("it runs")).await;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

/// Starts the runners of a folder, waits until they ask for jobs, and tells them to stop.
fn run_and_stop(folder: &std::path::Path) -> bool {
    run_and_stop_with(folder, |command| command)
}

/// The same with settings of one's own.
fn run_and_stop_with(
    folder: &std::path::Path,
    set: impl FnOnce(&mut Command) -> &mut Command,
) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forgeway"));
    command.args(["runner", "run"]).current_dir(folder).stderr(Stdio::piped());
    set(&mut command);
    let mut child = command.spawn().expect("it runs");
    let mut log = BufReader::new(child.stderr.take().expect("its log")).lines();
    let waits = log.any(|line| line.expect("text").contains("waiting for jobs"));
    assert!(waits, "the log ended");
    let begun = Instant::now();
    let id = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
    kill_process(id.expect("a process"), Signal::TERM).expect("a signal");
    let ended = child.wait().expect("an end");
    ended.success() && begun.elapsed() < Duration::from_secs(8)
}

#[actix_web::test]
async fn a_program_registers_works_and_leaves() {
    let app = TestApp::new();
    let server = app.serve();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Visibility::Private);
    let new = json!({ "runner_type": "project_type", "project_id": project.0 });
    let made = olga.post("/user/runners", new).await.created();
    let (token, url) =
        (made["token"].as_str().expect("a token"), format!("http://{}", server.address));
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();

    runner(place, &["register", "--url", &url, "--name", "here", "--token", token]).await;
    assert_eq!(runner(place, &["verify"]).await, format!("here at {url}: is known\n"));
    let listed = runner(place, &["list"]).await;
    assert!(listed.starts_with(&format!("here  shell  {url}  number {}", made["id"])), "{listed}");
    let own = place.to_owned();
    assert!(patiently(move || run_and_stop(&own)).await, "it stops at once");

    runner(place, &["unregister", "--name", "here"]).await;
    assert_eq!(runner(place, &["list"]).await, "");
    let managers = olga.get(&format!("/runners/{}/managers", made["id"])).await.ok();
    assert_eq!(managers, json!([]));
}

#[test]
fn a_program_of_containers_is_looked_for_on_the_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();
    let text = "[[runners]]\nname = \"box\"\nurl = \"http://127.0.0.1:9\"\ntoken = \"t\"\nexecutor = \"container\"\n";
    std::fs::write(place.join("forgeway-runner.toml"), text).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_forgeway"));
    command.args(["runner", "run"]).current_dir(place).env("PATH", place);

    let refused = command.output().expect("it runs");

    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("the executor container finds no program podman nor docker"), "{said}");
    let podman = place.join("podman");
    std::fs::write(&podman, "#!/bin/sh\n").expect("a program");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&podman, mode).expect("its mode");
    let path = place.to_owned();
    assert!(run_and_stop_with(&path, |command| command.env("PATH", &path)), "it waits for jobs");
}
