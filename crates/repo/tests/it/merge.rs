//! Cherry-picks, reverts and merges, held against what git does in a work tree.

use kernel::error::{Kind, Message};
use std::path::{Path, PathBuf};

use forgeway_repo::git::change::ActionKind::{Chmod, Create, Delete, Move, Update};
use forgeway_repo::git::change::{Change, FileAction, NewCommit, Start, StartAt};
use forgeway_repo::git::commit_object::CommitText;
use forgeway_repo::git::merge::{Apply, Operation, Ready, Subject, apply, is_ancestor, merge};
use forgeway_repo::git::refs::move_now;
use forgeway_repo::git::{GitError, Oid, RefName};

use crate::scratch::{Scratch, on, person, plain_git};

fn request(operation: Operation, tip: Oid, commit: Oid) -> Apply {
    Apply {
        operation,
        branch: RefName::branch("main").unwrap(),
        tip,
        commit,
        committer: person("Carl Committer"),
        message: None,
    }
}

async fn attempt(scratch: &Scratch, operation: Operation, commit: Oid) -> Result<Ready, GitError> {
    apply(&scratch.git, &scratch.repo, request(operation, scratch.tip("main"), commit)).await
}

async fn done(scratch: &Scratch, operation: Operation, commit: Oid) -> NewCommit {
    let ready = attempt(scratch, operation, commit).await.unwrap();
    let made = ready.write(&scratch.git, &scratch.repo).await.unwrap();
    move_now(&scratch.repo, std::slice::from_ref(&made.branch)).await.unwrap();
    made
}

fn numbered(changed: &[(usize, &str)]) -> String {
    let mut lines: Vec<String> = (1..=40).map(|line| format!("line {line}")).collect();
    for (line, text) in changed {
        lines[line - 1] = (*text).to_owned();
    }
    lines.join("\n") + "\n"
}

fn text(kind: forgeway_repo::git::change::ActionKind, path: &str, content: String) -> FileAction {
    FileAction::new(kind, path).content(content)
}

/// `main` and `side` part after the first commit and change different lines, files and modes.
async fn parted() -> (Scratch, Vec<Oid>) {
    let scratch = Scratch::new().await;
    scratch
        .commit(vec![
            text(Create, "a", numbered(&[])),
            text(Create, "d/b", numbered(&[])),
            text(Create, "c", "c\n".to_owned()),
        ])
        .await;
    let side = |at: &str, actions| Change {
        start: Start { at: Some(StartAt::Branch(at.to_owned())), repository: None },
        message: "On the side\n\nWith a body\n".to_owned(),
        ..on("side", actions)
    };
    let mut commits = Vec::new();
    for (at, actions) in [
        (
            "main",
            vec![
                text(Update, "a", numbered(&[(3, "three")])),
                text(Create, "e/new", "new\n".to_owned()),
            ],
        ),
        (
            "side",
            vec![
                FileAction::new(Move, "d/renamed").from("d/b"),
                FileAction::new(Chmod, "c").executable(true),
            ],
        ),
        ("side", vec![text(Update, "d/renamed", numbered(&[(30, "thirty")]))]),
        ("side", vec![FileAction::new(Delete, "c")]),
    ] {
        commits.push(scratch.try_commit(side(at, actions)).await.unwrap().id);
    }
    scratch.commit(vec![text(Update, "a", numbered(&[(38, "thirty-eight")]))]).await;
    (scratch, commits)
}

/// What `git <words>` makes of `main` in a work tree: its tree, or nothing when it stops.
fn in_a_work_tree(scratch: &Scratch, words: &[&str]) -> Option<String> {
    let folder: PathBuf = scratch.folder.path().join("work-tree");
    let git = |at: &Path, words: &[&str]| plain_git().current_dir(at).args(words).output().unwrap();
    let source = scratch.repo.as_path().to_str().unwrap();
    assert!(
        git(scratch.folder.path(), &["clone", "-q", "-b", "main", source, "work-tree"])
            .status
            .success()
    );
    let applied = git(&folder, words).status.success();
    let tree = git(&folder, &["rev-parse", "HEAD^{tree}"]).stdout;
    std::fs::remove_dir_all(&folder).unwrap();
    applied.then(|| String::from_utf8(tree).unwrap().trim().to_owned())
}

fn tree(scratch: &Scratch, of: &str) -> String {
    scratch.ask(&["rev-parse", &format!("{of}^{{tree}}")])
}

#[tokio::test]
async fn a_pick_makes_the_tree_that_git_makes() {
    let (scratch, commits) = parted().await;
    for commit in commits {
        let expected = in_a_work_tree(&scratch, &["cherry-pick", &commit.to_string()]).unwrap();

        let made = done(&scratch, Operation::CherryPick, commit).await;

        assert_eq!(tree(&scratch, "main"), expected);
        assert_eq!(scratch.tip("main"), made.id);
    }
    scratch.fsck();
}

#[tokio::test]
async fn a_pick_keeps_the_author_and_says_where_it_comes_from() {
    let (scratch, commits) = parted().await;

    let made = done(&scratch, Operation::CherryPick, commits[0]).await;

    let said = scratch.ask(&["log", "-1", "--format=%an|%ae|%cn|%ai|%B", &made.id.to_string()]);
    let expected = format!(
        "Ann Author|ann@example.com|Carl Committer|2023-11-14 23:13:20 +0100|On the side\n\nWith a body\n\n\n(cherry picked from commit {})",
        commits[0]
    );
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_message_of_ones_own_replaces_the_usual_one() {
    let (scratch, commits) = parted().await;
    let own = Apply {
        message: Some("Mine".to_owned()),
        ..request(Operation::CherryPick, scratch.tip("main"), commits[0])
    };

    let ready = apply(&scratch.git, &scratch.repo, own).await.unwrap();
    let made = ready.write(&scratch.git, &scratch.repo).await.unwrap();

    assert_eq!(scratch.ask(&["log", "-1", "--format=%B", &made.id.to_string()]), "Mine");
}

#[tokio::test]
async fn a_revert_makes_the_tree_that_git_makes() {
    let (scratch, _) = parted().await;
    let first = scratch.tip("main");
    let more = scratch
        .commit(vec![
            text(Update, "a", numbered(&[(1, "one"), (38, "thirty-eight")])),
            FileAction::new(Move, "cc").from("c"),
        ])
        .await;
    for commit in [first, more] {
        let expected =
            in_a_work_tree(&scratch, &["revert", "--no-edit", &commit.to_string()]).unwrap();

        let made = done(&scratch, Operation::Revert, commit).await;

        assert_eq!(tree(&scratch, "main"), expected);
        let said = scratch.ask(&["log", "-1", "--format=%an|%cn|%B", &made.id.to_string()]);
        assert_eq!(
            said,
            format!(
                "Carl Committer|Carl Committer|Revert \"A change\"\n\nThis reverts commit {commit}"
            )
        );
    }
    scratch.fsck();
}

#[tokio::test]
async fn a_merge_counts_against_its_first_parent() {
    let (scratch, _) = parted().await;
    let (ours, theirs) = (scratch.tip("main"), scratch.tip("side"));
    let expected = in_a_work_tree(&scratch, &["merge", "-q", "-m", "m", "origin/side"]).unwrap();

    let combined = merge(&scratch.git, &scratch.repo, ours, theirs).await.unwrap();
    assert_eq!(combined.tree.to_string(), expected);
    let text = CommitText {
        tree: combined.tree,
        parents: vec![ours, theirs],
        author: person("Ann Author"),
        committer: person("Ann Author"),
        message: "Merge".to_owned(),
    };
    let merged = combined.commit(&scratch.git, &scratch.repo, &text).await.unwrap();
    scratch.ask(&["update-ref", "refs/heads/main", &merged.to_string()]);
    done(&scratch, Operation::Revert, merged).await;

    assert_eq!(tree(&scratch, "main"), tree(&scratch, &ours.to_string()));
    done(&scratch, Operation::CherryPick, merged).await;
    assert_eq!(tree(&scratch, "main"), expected);
    scratch.fsck();
}

#[tokio::test]
async fn what_is_there_already_is_empty() {
    let (scratch, commits) = parted().await;
    done(&scratch, Operation::CherryPick, commits[0]).await;

    let again = attempt(&scratch, Operation::CherryPick, commits[0]).await;

    let refused = Operation::CherryPick.explain(again.err().unwrap(), Subject::Commit);
    let expected = "Sorry, we cannot cherry-pick this commit automatically. This commit may already have been cherry-picked, or a more recent commit may have updated some of its content.";
    assert_eq!(refused.kind, Kind::BadRequest);
    let expected = Message::Coded { text: expected.to_owned(), code: "empty" };
    assert_eq!(refused.message, expected);
}

#[tokio::test]
async fn a_conflict_names_its_paths() {
    let (scratch, commits) = parted().await;
    scratch.commit(vec![text(Update, "a", numbered(&[(3, "other")]))]).await;

    let refused = attempt(&scratch, Operation::CherryPick, commits[0]).await.err().unwrap();

    assert!(in_a_work_tree(&scratch, &["cherry-pick", &commits[0].to_string()]).is_none());
    assert!(
        matches!(&refused, GitError::Conflict(paths) if paths.iter().map(ToString::to_string).eq(["a"])),
        "{refused:?}"
    );
    let told = Operation::Revert.explain(refused, Subject::MergeRequest);
    assert_eq!(told.kind, Kind::BadRequest);
    let Message::Coded { text, code: "conflict" } = &told.message else { panic!("{told:?}") };
    assert!(text.contains("revert this merge request"), "{told:?}");
}

#[tokio::test]
async fn the_first_commit_can_be_reverted_and_picked() {
    let (scratch, _) = parted().await;
    let root: Oid = scratch.ask(&["rev-list", "--max-parents=0", "main"]).parse().unwrap();
    let lonely = scratch.commit(vec![text(Update, "a", numbered(&[]))]).await;
    assert_eq!(tree(&scratch, &lonely.to_string()), tree(&scratch, &root.to_string()));

    done(&scratch, Operation::Revert, root).await;
    assert_eq!(tree(&scratch, "main"), Oid::EMPTY_TREE.to_string());

    done(&scratch, Operation::CherryPick, root).await;
    assert_eq!(tree(&scratch, "main"), tree(&scratch, &root.to_string()));
    scratch.fsck();
}

#[tokio::test]
async fn a_dry_run_leaves_no_trace() {
    let (scratch, commits) = parted().await;
    let before = (scratch.ask(&["count-objects", "-v"]), names_in(&scratch));

    assert!(attempt(&scratch, Operation::CherryPick, commits[0]).await.is_ok());
    assert!(
        merge(&scratch.git, &scratch.repo, scratch.tip("main"), scratch.tip("side")).await.is_ok()
    );

    assert_eq!((scratch.ask(&["count-objects", "-v"]), names_in(&scratch)), before);
}

fn names_in(scratch: &Scratch) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = std::fs::read_dir(scratch.repo.as_path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn histories_without_a_common_commit_do_not_merge() {
    let (scratch, _) = parted().await;
    let stranger =
        scratch.ask(&["commit-tree", "-m", "alone", &tree(&scratch, "side")]).parse().unwrap();

    let refused = merge(&scratch.git, &scratch.repo, scratch.tip("main"), stranger).await;

    assert!(matches!(refused, Err(GitError::Conflict(paths)) if paths.is_empty()));
}

#[tokio::test]
async fn ancestry_decides_about_moving_forward() {
    let (scratch, commits) = parted().await;
    let (git, repo) = (&scratch.git, &scratch.repo);

    assert!(is_ancestor(git, repo, commits[0], commits[1]).await.unwrap());
    assert!(is_ancestor(git, repo, commits[1], commits[1]).await.unwrap());
    assert!(!is_ancestor(git, repo, commits[1], commits[0]).await.unwrap());
    assert!(is_ancestor(git, repo, commits[1], Oid::new([9; 20])).await.is_err());
}
