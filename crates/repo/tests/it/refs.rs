//! Moving refs: all or nothing, and only from where the writer saw them.

use std::time::{Duration, Instant};

use forgeway_repo::git::change::{ActionKind, FileAction};
use forgeway_repo::git::refs::{
    Expect, RefMove, clear_stale_locks, move_now, move_within, prepare, read, redo, set_head,
};
use forgeway_repo::git::{GitError, Oid, RefName};

use crate::scratch::{Scratch, on};

fn branch(name: &str, old: Expect, new: Option<Oid>) -> RefMove {
    RefMove { name: RefName::branch(name).unwrap(), old, new }
}

async fn with_one_commit() -> (Scratch, Oid) {
    let scratch = Scratch::new().await;
    let id = scratch.commit(vec![FileAction::new(ActionKind::Create, "a").content("one")]).await;
    (scratch, id)
}

fn locks(scratch: &Scratch) -> Vec<std::path::PathBuf> {
    let mut folders = vec![scratch.repo.as_path().to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "lock") {
                found.push(path);
            }
        }
    }
    found
}

#[tokio::test]
async fn refs_come_move_and_go() {
    let (scratch, id) = with_one_commit().await;
    let moves = [branch("x", Expect::Absent, Some(id)), branch("y/z", Expect::Absent, Some(id))];

    move_now(&scratch.git, &scratch.repo, &moves).await.unwrap();
    scratch.ask(&["pack-refs", "--all"]);
    let next =
        scratch.try_commit(on("x", vec![FileAction::new(ActionKind::Delete, "a")])).await.unwrap();
    move_now(&scratch.git, &scratch.repo, &[branch("y/z", Expect::Exactly(id), None)])
        .await
        .unwrap();

    let names = [
        RefName::branch("x").unwrap(),
        RefName::branch("y/z").unwrap(),
        RefName::branch("y").unwrap(),
    ];
    let now = read(&scratch.git, &scratch.repo, &names).await.unwrap();
    assert_eq!(now.into_iter().collect::<Vec<_>>(), [(names[0].clone(), next.id)]);
    assert!(locks(&scratch).is_empty());
}

#[tokio::test]
async fn prepared_refs_are_locked_and_not_moved_until_the_commit() {
    let (scratch, id) = with_one_commit().await;
    let moves = [branch("x", Expect::Absent, Some(id))];

    let prepared = prepare(&scratch.git, &scratch.repo, &moves).await.unwrap();

    assert_eq!(locks(&scratch).len(), 1);
    assert_eq!(scratch.ask(&["for-each-ref", "refs/heads/x"]), "");
    prepared.commit().await.unwrap();
    assert_eq!(scratch.tip("x"), id);
    assert!(locks(&scratch).is_empty());
}

#[tokio::test]
async fn an_abort_leaves_no_lock() {
    let (scratch, id) = with_one_commit().await;
    let moves = [branch("x", Expect::Absent, Some(id))];

    prepare(&scratch.git, &scratch.repo, &moves).await.unwrap().abort().await.unwrap();

    assert!(locks(&scratch).is_empty());
    move_now(&scratch.git, &scratch.repo, &moves).await.unwrap();
}

#[tokio::test]
async fn a_forgotten_preparation_gives_the_refs_back() {
    let (scratch, id) = with_one_commit().await;
    let moves = [branch("x", Expect::Absent, Some(id))];

    drop(prepare(&scratch.git, &scratch.repo, &moves).await.unwrap());

    // Git waits for the lock, so the next writer needs no luck.
    move_now(&scratch.git, &scratch.repo, &moves).await.unwrap();
    assert!(locks(&scratch).is_empty());
    assert_eq!(scratch.tip("x"), id);
}

#[tokio::test]
async fn a_stale_ref_leaves_all_of_them_where_they_were() {
    let (scratch, id) = with_one_commit().await;
    let wrong = Oid::new([7; 20]);
    let moves =
        [branch("x", Expect::Absent, Some(id)), branch("main", Expect::Exactly(wrong), None)];

    let refused = move_now(&scratch.git, &scratch.repo, &moves).await;

    assert!(
        matches!(refused, Err(GitError::Stale { actual: Some(actual) }) if actual == id),
        "{refused:?}"
    );
    assert_eq!(scratch.ask(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    assert!(locks(&scratch).is_empty());
}

#[tokio::test]
async fn a_name_that_exists_or_lies_under_another_is_taken() {
    let (scratch, id) = with_one_commit().await;
    scratch.ask(&["update-ref", "refs/heads/loose/leaf", &id.to_string()]);
    scratch.ask(&["pack-refs", "--all"]);
    scratch.ask(&["update-ref", "refs/heads/now", &id.to_string()]);

    for name in ["main", "main/x", "loose", "loose/leaf", "loose/leaf/x", "now/x"] {
        let refused =
            move_now(&scratch.git, &scratch.repo, &[branch(name, Expect::Absent, Some(id))]).await;
        assert!(matches!(refused, Err(GitError::RefNameTaken)), "{name}: {refused:?}");
    }
}

#[tokio::test]
async fn a_ref_cannot_name_what_is_not_there() {
    let (scratch, _) = with_one_commit().await;

    let moves = [branch("x", Expect::Absent, Some(Oid::new([7; 20])))];

    assert!(matches!(
        move_now(&scratch.git, &scratch.repo, &moves).await,
        Err(GitError::Corrupt(_))
    ));
}

#[tokio::test]
async fn of_two_writers_one_wins() {
    let (scratch, id) = with_one_commit().await;
    let change = |name: &str| {
        on("main", vec![FileAction::new(ActionKind::Create, name).content(name.to_owned())])
    };
    let build = |name: &'static str| {
        forgeway_repo::git::change::build(&scratch.git, &scratch.repo, change(name))
    };
    let (one, two) = (build("one").await.unwrap(), build("two").await.unwrap());
    assert_eq!(one.branch.old, Expect::Exactly(id));

    let (first, second) = tokio::join!(
        move_now(&scratch.git, &scratch.repo, std::slice::from_ref(&one.branch)),
        move_now(&scratch.git, &scratch.repo, std::slice::from_ref(&two.branch)),
    );

    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    let loser = first.and(second).unwrap_err();
    assert!(matches!(loser, GitError::Stale { .. }), "{loser:?}");
    assert_eq!(scratch.tip("main"), if scratch.tip("main") == one.id { one.id } else { two.id });
}

#[tokio::test]
async fn head_names_a_branch_that_may_come_later() {
    let (scratch, id) = with_one_commit().await;

    set_head(&scratch.repo, &RefName::branch("trunk").unwrap()).await.unwrap();

    assert_eq!(scratch.ask(&["symbolic-ref", "HEAD"]), "refs/heads/trunk");
    move_now(&scratch.git, &scratch.repo, &[branch("trunk", Expect::Absent, Some(id))])
        .await
        .unwrap();
    assert_eq!(scratch.ask(&["rev-parse", "HEAD"]), id.to_string());
    assert!(locks(&scratch).is_empty());
}

#[tokio::test]
async fn who_looks_again_by_himself_waits_for_no_lock() {
    let (scratch, id) = with_one_commit().await;
    let begun = Instant::now();

    for (name, old) in [("main", Expect::Exactly(id)), ("x", Expect::Absent)] {
        let step = branch(name, old, Some(id));
        let held = prepare(&scratch.git, &scratch.repo, std::slice::from_ref(&step)).await.unwrap();
        let told = move_within(&scratch.git, &scratch.repo, &[step], Duration::ZERO).await;
        assert!(matches!(told, Err(GitError::Stale { actual }) if actual == old.oid()), "{told:?}");
        held.abort().await.unwrap();
    }

    assert!(begun.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn only_old_locks_are_taken_away() {
    let (scratch, _) = with_one_commit().await;
    for name in ["HEAD.lock", "refs/heads/main.lock"] {
        std::fs::write(scratch.repo.as_path().join(name), "").unwrap();
    }
    let hour = std::time::Duration::from_secs(3600);

    assert!(clear_stale_locks(&scratch.repo, hour).await.unwrap().is_empty());
    let cleared = clear_stale_locks(&scratch.repo, std::time::Duration::ZERO).await.unwrap();

    assert_eq!(cleared.len(), 2);
    assert!(locks(&scratch).is_empty());
}

#[cfg(target_os = "linux")]
/// Tells the git child that works in the repository to end, and waits until it has.
async fn lose_the_child(scratch: &Scratch) {
    let folder = scratch.repo.as_path().canonicalize().unwrap();
    let here = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
    };
    let entries = std::fs::read_dir("/proc").unwrap().map(Result::unwrap);
    let child = entries.filter(here).find_map(|entry| entry.file_name().to_str()?.parse().ok());
    let child = child.and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(child, rustix::process::Signal::TERM).unwrap();
    while !locks(scratch).is_empty() {
        tokio::task::yield_now().await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_lost_before_the_commit_is_replaced() {
    let (scratch, id) = with_one_commit().await;
    let moves = [branch("x", Expect::Absent, Some(id)), branch("y", Expect::Absent, Some(id))];
    let prepared = prepare(&scratch.git, &scratch.repo, &moves).await.unwrap();
    lose_the_child(&scratch).await;
    assert_eq!(scratch.ask(&["for-each-ref", "refs/heads/x"]), "");

    prepared.commit().await.unwrap();

    assert_eq!((scratch.tip("x"), scratch.tip("y")), (id, id));
    assert!(locks(&scratch).is_empty());
}

#[tokio::test]
async fn what_was_decided_is_done_again_from_wherever_it_stopped() {
    let (scratch, id) = with_one_commit().await;
    let other = Oid::new([7; 20]);
    let moves = [branch("x", Expect::Absent, Some(id)), branch("y", Expect::Absent, Some(id))];
    move_now(&scratch.git, &scratch.repo, &moves[..1]).await.unwrap();

    redo(&scratch.git, &scratch.repo, &moves).await.unwrap();
    redo(&scratch.git, &scratch.repo, &moves).await.unwrap();
    let astray =
        redo(&scratch.git, &scratch.repo, &[branch("x", Expect::Exactly(other), Some(other))])
            .await;

    assert_eq!((scratch.tip("x"), scratch.tip("y")), (id, id));
    assert!(matches!(astray, Err(GitError::Stale { actual: Some(actual) }) if actual == id));
}
