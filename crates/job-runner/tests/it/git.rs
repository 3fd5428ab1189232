//! Sources from a repository on this machine.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use crate::support::{Bench, job};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(arguments);
    let done = command.current_dir(folder).output().expect("works");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("works").trim().to_owned()
}

/// A repository with one commit, and its id.
fn repository(bench: &Bench) -> (String, String) {
    let folder = bench.folder.path().join("origin");
    std::fs::create_dir(&folder).expect("works");
    git(&folder, &["init", "-q", "-b", "main"]);
    std::fs::write(folder.join("file.txt"), "from git\n").expect("works");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "one"]);
    (format!("file://{}", folder.display()), git(&folder, &["rev-parse", "HEAD"]))
}

fn of(repository: &(String, String), script: &[&str]) -> Value {
    let mut job = job(script);
    job["variables"] = json!([]);
    job["git_info"] = json!({
        "repo_url": repository.0, "ref": "main", "sha": repository.1, "depth": 20,
        "refspecs": ["+refs/heads/main:refs/remotes/origin/main"],
    });
    job
}

#[test]
fn the_commit_is_there_and_what_jobs_leave_is_cleaned() {
    let bench = Bench::new();
    let repository = repository(&bench);
    let (end, log) =
        bench.run(of(&repository, &["cat file.txt", "echo x > left-over", "echo y >> file.txt"]));
    assert_eq!(end["state"], "success", "{log}");
    assert!(log.contains("\nfrom git\n") && log.contains("Cloning repository"), "{log}");
    let (end, log) = bench
        .run(of(&repository, &["test ! -e left-over", "git status --porcelain", "cat file.txt"]));
    assert_eq!(end["state"], "success", "{log}");
    assert!(log.contains("Fetching changes") && !log.contains("\ny\n"), "{log}");
}

#[test]
fn a_repository_that_is_broken_is_cloned_anew() {
    let bench = Bench::new();
    let repository = repository(&bench);
    bench.run(of(&repository, &["echo [broken > .git/config"]));
    let (end, log) = bench.run(of(&repository, &["cat file.txt"]));
    assert_eq!(end["state"], "success", "{log}");
    assert!(log.contains("cloned anew") && log.contains("\nfrom git\n"), "{log}");
}

#[test]
fn no_token_is_left_in_the_repository() {
    let bench = Bench::new();
    let repository = repository(&bench);
    let mut job = of(&repository, &["cat .git/config"]);
    job["variables"] =
        json!([{ "key": "CI_JOB_TOKEN", "value": "glcbt-job-token", "masked": true }]);
    let (_, log) = bench.run(job);
    assert!(log.contains("[remote \"origin\"]") && !log.contains("[MASKED]"), "{log}");
}

#[test]
fn untracked_files_are_told_from_those_of_git() {
    let bench = Bench::new();
    let mut job = of(&repository(&bench), &["mkdir new", "echo x > new/one", "echo y >> file.txt"]);
    job["artifacts"] =
        json!([{ "untracked": true, "artifact_type": "archive", "artifact_format": "zip" }]);
    let (end, log) = bench.run(job);
    assert_eq!(end["state"], "success", "{log}");
    let (_, body) = bench.server.lock().uploads.remove(0);
    let zip = zip::ZipArchive::new(std::io::Cursor::new(body)).unwrap();
    let names: Vec<_> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(names, ["new/one"]);
}

#[test]
fn a_repository_that_is_not_there_is_the_runners_trouble() {
    let bench = Bench::new();
    let missing = (format!("file://{}/none", bench.folder.path().display()), "0".repeat(40));
    let (end, log) = bench.run(of(&missing, &["echo never"]));
    assert_eq!(end["failure_reason"], "runner_system_failure");
    assert!(log.contains("git failed with exit code") && !log.contains("\nnever\n"), "{log}");
}
