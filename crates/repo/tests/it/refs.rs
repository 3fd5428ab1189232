//! Moving refs: all or nothing, and only from where the writer saw them.

use std::time::{Duration, Instant};

use forgeway_repo::git::change::{ActionKind, FileAction};
use forgeway_repo::git::refs::{
    ExpectedValue, RefMove, move_now, move_within, pack, prepare, read, redo, set_head,
};
use forgeway_repo::git::{GitError, Oid, RefName, Repositories};

use crate::scratch::{Scratch, on, plain_git};

fn branch(name: &str, old: ExpectedValue, new: Option<Oid>) -> RefMove {
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
    let moves = [
        branch("x", ExpectedValue::Absent, Some(id)),
        branch("y/z", ExpectedValue::Absent, Some(id)),
    ];

    move_now(&scratch.repo, &moves).await.unwrap();
    scratch.ask(&["pack-refs", "--all"]);
    let next =
        scratch.try_commit(on("x", vec![FileAction::new(ActionKind::Delete, "a")])).await.unwrap();
    move_now(&scratch.repo, &[branch("y/z", ExpectedValue::Exactly(id), None)]).await.unwrap();

    let names = [
        RefName::branch("x").unwrap(),
        RefName::branch("y/z").unwrap(),
        RefName::branch("y").unwrap(),
    ];
    let now = read(&scratch.repo, &names).await.unwrap();
    assert_eq!(now.into_iter().collect::<Vec<_>>(), [(names[0].clone(), next.id)]);
    assert!(locks(&scratch).is_empty());
}

#[tokio::test]
async fn prepared_refs_are_locked_and_not_moved_until_the_commit() {
    let (scratch, id) = with_one_commit().await;
    let moves = [branch("x", ExpectedValue::Absent, Some(id))];

    let prepared = prepare(&scratch.repo, &moves).await.unwrap();

    assert_eq!(locks(&scratch).len(), 1);
    assert_eq!(scratch.ask(&["for-each-ref", "refs/heads/x"]), "");
    prepared.commit().await.unwrap();
    assert_eq!(scratch.tip("x"), id);
    assert!(locks(&scratch).is_empty());
}

#[tokio::test]
async fn an_abort_leaves_no_lock() {
    let (scratch, id) = with_one_commit().await;
    let moves = [branch("x", ExpectedValue::Absent, Some(id))];

    prepare(&scratch.repo, &moves).await.unwrap().abort().await.unwrap();

    assert!(locks(&scratch).is_empty());
    move_now(&scratch.repo, &moves).await.unwrap();
}

#[tokio::test]
async fn a_forgotten_preparation_gives_the_refs_back() {
    let (scratch, id) = with_one_commit().await;
    let moves = [branch("x", ExpectedValue::Absent, Some(id))];

    drop(prepare(&scratch.repo, &moves).await.unwrap());

    // Git waits for the lock, so the next writer needs no luck.
    move_now(&scratch.repo, &moves).await.unwrap();
    assert!(locks(&scratch).is_empty());
    assert_eq!(scratch.tip("x"), id);
}

#[tokio::test]
async fn a_stale_ref_leaves_all_of_them_where_they_were() {
    let (scratch, id) = with_one_commit().await;
    let wrong = Oid::new([7; 20]);
    let moves = [
        branch("x", ExpectedValue::Absent, Some(id)),
        branch("main", ExpectedValue::Exactly(wrong), None),
    ];

    let refused = move_now(&scratch.repo, &moves).await;

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
            move_now(&scratch.repo, &[branch(name, ExpectedValue::Absent, Some(id))]).await;
        assert!(matches!(refused, Err(GitError::RefNameTaken)), "{name}: {refused:?}");
    }
}

#[tokio::test]
async fn a_ref_cannot_name_what_is_not_there() {
    let (scratch, _) = with_one_commit().await;

    let moves = [branch("x", ExpectedValue::Absent, Some(Oid::new([7; 20])))];

    assert!(matches!(move_now(&scratch.repo, &moves).await, Err(GitError::Corrupt(_))));
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
    assert_eq!(one.branch.old, ExpectedValue::Exactly(id));

    let (first, second) = tokio::join!(
        move_now(&scratch.repo, std::slice::from_ref(&one.branch)),
        move_now(&scratch.repo, std::slice::from_ref(&two.branch)),
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
    move_now(&scratch.repo, &[branch("trunk", ExpectedValue::Absent, Some(id))]).await.unwrap();
    assert_eq!(scratch.ask(&["rev-parse", "HEAD"]), id.to_string());
    assert!(locks(&scratch).is_empty());
}

#[tokio::test]
async fn who_looks_again_by_himself_waits_for_no_lock() {
    let (scratch, id) = with_one_commit().await;
    let begun = Instant::now();

    for (name, old) in [("main", ExpectedValue::Exactly(id)), ("x", ExpectedValue::Absent)] {
        let step = branch(name, old, Some(id));
        let held = prepare(&scratch.repo, std::slice::from_ref(&step)).await.unwrap();
        let told = move_within(&scratch.repo, &[step], Duration::ZERO).await;
        assert!(matches!(told, Err(GitError::Stale { actual }) if actual == old.oid()), "{told:?}");
        held.abort().await.unwrap();
    }

    assert!(begun.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn locks_that_were_lost_before_the_commit_are_taken_again() {
    let (scratch, id) = with_one_commit().await;
    let moves = [
        branch("x", ExpectedValue::Absent, Some(id)),
        branch("y", ExpectedValue::Absent, Some(id)),
    ];
    let prepared = prepare(&scratch.repo, &moves).await.unwrap();
    std::fs::remove_file(&locks(&scratch)[0]).unwrap();
    assert_eq!(scratch.ask(&["for-each-ref", "refs/heads/x"]), "");

    prepared.commit().await.unwrap();

    assert_eq!((scratch.tip("x"), scratch.tip("y")), (id, id));
    assert!(locks(&scratch).is_empty());
}

#[tokio::test]
async fn what_was_decided_is_done_again_from_wherever_it_stopped() {
    let (scratch, id) = with_one_commit().await;
    let other = Oid::new([7; 20]);
    let moves = [
        branch("x", ExpectedValue::Absent, Some(id)),
        branch("y", ExpectedValue::Absent, Some(id)),
    ];
    move_now(&scratch.repo, &moves[..1]).await.unwrap();

    redo(&scratch.repo, &moves).await.unwrap();
    redo(&scratch.repo, &moves).await.unwrap();
    let astray =
        redo(&scratch.repo, &[branch("x", ExpectedValue::Exactly(other), Some(other))]).await;

    assert_eq!((scratch.tip("x"), scratch.tip("y")), (id, id));
    assert!(matches!(astray, Err(GitError::Stale { actual: Some(actual) }) if actual == id));
}

fn tags(count: usize, old: ExpectedValue, new: Option<Oid>) -> Vec<RefMove> {
    let tag = |number| RefName::tag(&format!("deep/v{number:03}")).unwrap();
    (0..count).map(|number| RefMove { name: tag(number), old, new }).collect()
}

#[tokio::test]
async fn many_new_values_go_into_one_file_and_count_more_than_those_before() {
    let (scratch, first) = with_one_commit().await;
    scratch.ask(&["tag", "-a", "-m", "one", "annotated"]);
    let tag = scratch.ask(&["rev-parse", "annotated"]).parse().unwrap();
    let second = scratch.commit(vec![FileAction::new(ActionKind::Update, "a").content("2")]).await;
    let mut moves = tags(40, ExpectedValue::Absent, Some(tag));
    // One with a file of its own, which has to go.
    moves.push(branch("main", ExpectedValue::Exactly(second), Some(first)));

    move_now(&scratch.repo, &moves).await.unwrap();

    assert_eq!(scratch.tip("main"), first);
    assert!(!scratch.repo.as_path().join("refs/heads/main").exists());
    assert!(!scratch.repo.as_path().join("refs/tags/deep").exists(), "no empty folder stays");
    let listed = ["for-each-ref", "--format=%(objectname) %(*objectname)", "refs/tags/deep"];
    let lines = scratch.ask(&listed);
    assert_eq!(lines.lines().count(), 40);
    assert!(lines.lines().all(|line| line == format!("{tag} {first}")), "{lines}");
    move_now(&scratch.repo, &tags(40, ExpectedValue::Exactly(tag), None)).await.unwrap();
    assert_eq!(scratch.ask(&["tag"]), "annotated");
    assert!(locks(&scratch).is_empty() && !scratch.repo.as_path().join("packed-refs.new").exists());
    scratch.ask(&["pack-refs", "--all"]);
    scratch.fsck();
}

#[tokio::test]
async fn who_keeps_a_repository_open_sees_each_of_many_moves() {
    let (scratch, id) = with_one_commit().await;
    let open = Repositories::default();
    for _ in 0..20 {
        move_now(&scratch.repo, &tags(20, ExpectedValue::Absent, Some(id))).await.unwrap();
        assert_eq!(open.open(&scratch.repo).unwrap().tag_refs().unwrap().len(), 20);
        move_now(&scratch.repo, &tags(20, ExpectedValue::Exactly(id), None)).await.unwrap();
        assert_eq!(open.open(&scratch.repo).unwrap().tag_refs().unwrap().len(), 0);
    }
}

#[tokio::test]
async fn names_that_exclude_each_other_are_not_made_together() {
    let (scratch, id) = with_one_commit().await;
    let (one, other) = (
        branch("x", ExpectedValue::Absent, Some(id)),
        branch("x/y", ExpectedValue::Absent, Some(id)),
    );

    let both = move_now(&scratch.repo, &[other.clone(), one.clone()]).await;
    assert!(matches!(both, Err(GitError::RefNameTaken)), "{both:?}");
    for _ in 0..30 {
        let (first, second) = tokio::join!(
            move_now(&scratch.repo, std::slice::from_ref(&one)),
            move_now(&scratch.repo, std::slice::from_ref(&other)),
        );
        assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
        let gone = if first.is_ok() { &one } else { &other };
        let gone = RefMove { old: ExpectedValue::Exactly(id), new: None, ..gone.clone() };
        move_now(&scratch.repo, &[gone]).await.unwrap();
    }
    assert_eq!(scratch.ask(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
}

#[tokio::test]
async fn packing_leaves_alone_what_somebody_moves() {
    let (scratch, id) = with_one_commit().await;
    move_now(&scratch.repo, &tags(3, ExpectedValue::Absent, Some(id))).await.unwrap();
    let step = branch("main", ExpectedValue::Exactly(id), None);
    let held =
        prepare(&scratch.repo, &tags(1, ExpectedValue::Exactly(id), Some(id))).await.unwrap();

    pack(&scratch.repo).await.unwrap();

    let own = |name: &str| scratch.repo.as_path().join(name).exists();
    assert!(own("refs/tags/deep/v000") && !own("refs/tags/deep/v001") && !own("refs/heads/main"));
    held.commit().await.unwrap();
    move_now(&scratch.repo, &[step]).await.unwrap();
    assert_eq!(scratch.ask(&["tag"]), "deep/v000\ndeep/v001\ndeep/v002");
    assert_eq!(scratch.ask(&["branch"]), "");
    scratch.fsck();
}

/// Makes branches and deletes them until `packing` is done.
async fn come_and_go(
    scratch: &Scratch,
    packing: impl Future<Output = ()>,
    id: impl Fn(u32) -> Oid,
) {
    let all = |old, new| ["a", "b/c", "d"].map(|name| branch(name, old, new));
    let moving = async {
        for round in 0.. {
            let id = id(round);
            move_now(&scratch.repo, &all(ExpectedValue::Absent, Some(id))).await.unwrap();
            assert_eq!(scratch.ask(&["branch"]).lines().count(), 4);
            move_now(&scratch.repo, &all(ExpectedValue::Exactly(id), None)).await.unwrap();
            assert_eq!(scratch.ask(&["branch"]).lines().count(), 1);
        }
    };
    tokio::select! { () = packing => {} () = moving => {} }
}

#[tokio::test]
async fn nothing_is_lost_while_git_packs_refs() {
    let (scratch, _) = with_one_commit().await;
    let folder = scratch.repo.as_path().to_owned();
    let packing = kernel::task::spawn_blocking(move || {
        for _ in 0..40 {
            // Its locks are known for its own by where it works.
            plain_git().current_dir(&folder).args(["pack-refs", "--all"]).output().unwrap();
        }
    });
    // Git unlocks `packed-refs` before it removes the files that it has packed, and then looks at their values alone: one
    // that has gone and come back with the same value is lost. So each round has another.
    let another = |round: u32| {
        let tree = scratch.ask(&["rev-parse", "main^{tree}"]);
        scratch.ask(&["commit-tree", "-m", &round.to_string(), &tree]).parse().unwrap()
    };
    come_and_go(&scratch, async { packing.await.unwrap() }, another).await;
}

#[tokio::test]
async fn nothing_is_lost_while_we_pack_refs() {
    let (scratch, id) = with_one_commit().await;
    let packing = async {
        for _ in 0..40 {
            pack(&scratch.repo).await.unwrap();
        }
    };
    // Ours keeps `packed-refs` locked until those files are gone, so that the same value may come back.
    come_and_go(&scratch, packing, |_| id).await;
}
