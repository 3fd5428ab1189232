//! What every git child is held to.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forgeway_repo::git::cli::{GitProblem, Settings};
use forgeway_repo::git::{Git, GitError};
use rustix::process::{Pid, test_kill_process_group};

use crate::scratch::Scratch;

/// A program that stands in for git: answers `version`, and otherwise runs `body`.
fn stand_in(folder: &Path, version: &str, body: &str) -> Settings {
    let program = folder.join("stand-in");
    let script =
        format!("#!/bin/sh\nif [ \"$1\" = version ]; then echo '{version}'; exit 0; fi\n{body}\n");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    Settings { program, ..Settings::new(OsString::from("/usr/bin:/bin")) }
}

#[tokio::test]
async fn an_old_git_is_refused_with_a_plain_sentence() {
    let folder = tempfile::tempdir().unwrap();

    let refused = Git::find(stand_in(folder.path(), "git version 2.38.1", "")).await.unwrap_err();

    assert_eq!(refused.to_string(), "git 2.38 is too old: install git 2.39 or newer");
}

#[tokio::test]
async fn git_is_started_by_its_full_path() {
    let scratch = Scratch::new().await;

    assert!(scratch.git.program().is_absolute());
    assert!(scratch.git.program().ends_with("git"));

    let settings = Settings::new(OsString::from("/nonexistent"));
    assert!(matches!(Git::find(settings).await, Err(GitProblem::NotFound { .. })));
}

#[tokio::test]
async fn a_missing_git_is_told_apart_from_an_old_one() {
    let settings = Settings {
        program: PathBuf::from("/nonexistent/git"),
        ..Settings::new(OsString::from("/usr/bin"))
    };

    assert!(matches!(Git::find(settings).await, Err(GitProblem::NotFound { .. })));
}

#[tokio::test]
async fn a_child_inherits_nothing() {
    let scratch = Scratch::new().await;
    let folder = tempfile::tempdir().unwrap();
    let git = Git::find(stand_in(folder.path(), "git version 2.47.0", "env")).await.unwrap();

    let told = git.at(&scratch.repo, "anything").succeed().await.unwrap();

    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("LC_ALL=C\n") && told.contains("GIT_LITERAL_PATHSPECS=1\n"), "{told}");
    assert!(!told.contains("CARGO"), "{told}");
}

#[tokio::test]
async fn a_child_that_says_too_much_is_cut_off() {
    let scratch = Scratch::new().await;
    let folder = tempfile::tempdir().unwrap();
    let git = Git::find(stand_in(folder.path(), "git version 2.47.0", "exec yes")).await.unwrap();

    let refused = git.at(&scratch.repo, "anything").output_limit(100_000).succeed().await;

    assert!(matches!(refused, Err(GitError::TooLarge)));
}

#[tokio::test]
async fn a_child_that_takes_too_long_is_killed_with_all_it_started() {
    let scratch = Scratch::new().await;
    let folder = tempfile::tempdir().unwrap();
    let settings = stand_in(folder.path(), "git version 2.47.0", "sleep 1000 & echo $$; wait");
    let git = Git::find(settings).await.unwrap();
    let mut running = git.at(&scratch.repo, "anything").start().await.unwrap();
    let mut number = [0; 16];
    let read =
        tokio::io::AsyncReadExt::read(running.stdout.as_mut().unwrap(), &mut number).await.unwrap();
    let leader = std::str::from_utf8(&number[..read])
        .unwrap()
        .trim()
        .parse()
        .ok()
        .and_then(Pid::from_raw)
        .unwrap();
    assert!(test_kill_process_group(leader).is_ok());

    drop(running);

    // The kernel and the runtime take the dead away when they get to it.
    tokio::time::timeout(Duration::from_secs(60), async {
        while test_kill_process_group(leader).is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn the_time_limit_ends_a_child() {
    let scratch = Scratch::new().await;
    let folder = tempfile::tempdir().unwrap();
    let git =
        Git::find(stand_in(folder.path(), "git version 2.47.0", "exec sleep 1000")).await.unwrap();

    let refused =
        git.at(&scratch.repo, "anything").time_limit(Duration::from_millis(50)).succeed().await;

    assert!(matches!(refused, Err(GitError::Timeout)));
}

#[tokio::test]
async fn a_free_place_is_waited_for_no_longer_than_the_limit() {
    let scratch = Scratch::new().await;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        plumbing: 1,
        ..stand_in(folder.path(), "git version 2.47.0", "exec sleep 1000")
    };
    let git = Git::find(settings).await.unwrap();
    let holder = git.at(&scratch.repo, "anything").start().await.unwrap();
    assert_eq!(git.running(), 1);

    let refused =
        git.at(&scratch.repo, "anything").time_limit(Duration::from_millis(50)).succeed().await;

    assert!(matches!(refused, Err(GitError::Timeout)));
    drop(holder);
    assert!(git.at(&scratch.repo, "anything").start().await.is_ok());
}
