//! Locks that outlived their process are taken away, and no others.

use std::{
    fs::File,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use forgeway_repo::git::{
    GitError, RefName, RepoPath,
    change::{ActionKind, FileAction},
    refs::{ExpectedValue, RefMove, move_now, move_within, prepare},
    stale_locks::{self, Locks},
};

use crate::scratch::Scratch;

const LOCKS: [&str; 4] =
    ["HEAD.lock", "refs/heads/main.lock", "objects/info/graph.lock", "objects/pack/index.lock"];

fn lock(repo: &RepoPath) {
    for name in LOCKS {
        std::fs::write(repo.as_path().join(name), "").unwrap();
    }
}

fn left(repo: &RepoPath) -> usize {
    LOCKS.iter().filter(|name| repo.as_path().join(name).exists()).count()
}

#[tokio::test]
async fn locks_of_the_dead_are_taken_away_once_they_are_old_enough() {
    let scratch = Scratch::new().await;
    lock(&scratch.repo);

    let minute = Duration::from_secs(60);
    assert_eq!(stale_locks::release(&scratch.repo, minute).await.unwrap(), Locks::Released(0));
    assert_eq!(
        stale_locks::release(&scratch.repo, Duration::ZERO).await.unwrap(),
        Locks::Released(4)
    );

    assert_eq!(left(&scratch.repo), 0);
}

#[tokio::test]
async fn every_repository_gives_back_what_was_locked_before_the_start() {
    let scratch = Scratch::new().await;
    let (before, after) = (scratch.another(2), scratch.another(3));
    lock(&before);
    lock(&after);
    let minute = Duration::from_secs(60);
    for name in LOCKS {
        let lock = File::options().write(true).open(before.as_path().join(name)).unwrap();
        let made = lock.metadata().unwrap().modified().unwrap();
        lock.set_modified(made - 2 * minute).unwrap();
    }
    let start = Instant::now() - minute;

    let in_use = stale_locks::release_all(&scratch.storage, start).await.unwrap();

    assert_eq!((in_use.len(), left(&before), left(&after)), (0, 0, 4));
}

/// A git process that waits for its input.
fn git_in(repo: &RepoPath, arguments: &[&str]) -> Child {
    let mut git = Command::new("git");
    git.args(["-c", "core.fsync=none"]).args(arguments).current_dir(repo.as_path());
    git.stdin(Stdio::piped()).spawn().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_never_locks_refs_keeps_nobody_from_them() {
    let scratch = Scratch::new().await;
    lock(&scratch.repo);
    let mut busy = git_in(&scratch.repo, &["cat-file", "--batch"]);

    assert_eq!(stale_locks::release(&scratch.repo, Duration::ZERO).await.unwrap(), Locks::InUse);

    let kept = LOCKS.map(|name| scratch.repo.as_path().join(name).exists());
    assert_eq!(kept, [false, false, true, true]);
    drop(busy.stdin.take());
    busy.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_lock_stays_while_a_process_works_there() {
    let scratch = Scratch::new().await;
    lock(&scratch.repo);
    let mut busy = git_in(&scratch.repo, &["update-ref", "--stdin"]);

    let again = stale_locks::release_all(&scratch.storage, Instant::now()).await.unwrap();
    assert_eq!(stale_locks::release(&scratch.repo, Duration::ZERO).await.unwrap(), Locks::InUse);
    assert_eq!(again.as_slice(), std::slice::from_ref(&scratch.repo));
    // What is older than the process cannot be its own.
    let old = File::options().write(true).open(scratch.repo.as_path().join(LOCKS[1])).unwrap();
    let made = old.metadata().unwrap().modified().unwrap();
    old.set_modified(made - Duration::from_secs(60)).unwrap();
    assert_eq!(stale_locks::release(&scratch.repo, Duration::ZERO).await.unwrap(), Locks::InUse);
    assert_eq!(left(&scratch.repo), 3);
    drop(busy.stdin.take());
    busy.wait().unwrap();

    assert_eq!(
        stale_locks::release(&scratch.repo, Duration::ZERO).await.unwrap(),
        Locks::Released(3)
    );
}

#[tokio::test]
async fn a_writer_takes_away_what_nobody_holds_and_leaves_what_somebody_does() {
    let scratch = Scratch::new().await;
    let first = scratch.commit(vec![FileAction::new(ActionKind::Create, "a").content("a")]).await;
    let name = |short| RefName::branch(short).unwrap();
    let dead = scratch.repo.as_path().join("refs/heads/dead.lock");
    std::fs::write(&dead, "").unwrap();
    let step = |name| RefMove { name, old: ExpectedValue::Absent, new: Some(first) };

    move_now(&scratch.repo, &[step(name("dead"))]).await.unwrap();

    let main = RefMove { name: name("main"), old: ExpectedValue::Exactly(first), new: Some(first) };
    let held = prepare(&scratch.repo, std::slice::from_ref(&main)).await.unwrap();
    let patience = Duration::from_millis(20);
    let refused = move_within(&scratch.repo, &[main], patience).await;
    assert!(matches!(refused, Err(GitError::Stale { .. })));
    held.commit().await.unwrap();
}

#[tokio::test]
async fn many_refs_move_at_once() {
    let scratch = Scratch::new().await;
    let first = scratch.commit(vec![FileAction::new(ActionKind::Create, "a").content("a")]).await;
    let tag = |number: u32| RefName::tag(&format!("v{number}")).unwrap();
    let made = |number| RefMove { name: tag(number), old: ExpectedValue::Absent, new: Some(first) };
    let gone =
        |number| RefMove { name: tag(number), old: ExpectedValue::Exactly(first), new: None };

    move_now(&scratch.repo, &(0..100).map(made).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(scratch.ask(&["tag"]).lines().count(), 100);
    move_now(&scratch.repo, &(0..100).map(gone).collect::<Vec<_>>()).await.unwrap();

    assert_eq!(scratch.ask(&["tag"]), "");
}

#[tokio::test]
async fn git_packs_refs_again_after_it_was_killed_at_that() {
    let scratch = Scratch::new().await;
    scratch.commit(vec![FileAction::new(ActionKind::Create, "a").content("a")]).await;
    for name in ["packed-refs.lock", "packed-refs.new"] {
        std::fs::write(scratch.repo.as_path().join(name), "").unwrap();
    }

    stale_locks::release(&scratch.repo, Duration::ZERO).await.unwrap();

    scratch.ask(&["pack-refs", "--all"]);
    assert!(scratch.repo.as_path().join("packed-refs").is_file());
}
