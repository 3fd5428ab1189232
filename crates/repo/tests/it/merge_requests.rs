//! What merging and rebasing a branch makes, held against what git makes of it in a work tree.

use forgeway_repo::{
    git::{
        GitError, Oid, RefName,
        change::{
            ActionKind::{Create, Update},
            Change, FileAction, Start, StartAt,
        },
    },
    merge::{
        Checks, MergeError, MergeResult, Method, Plan, RebaseResult, Squash, build, merge_ref,
        rebase,
    },
};

use crate::scratch::{Scratch, on, person, plain_git};

fn file(path: &str, content: &str) -> FileAction {
    FileAction::new(Create, path).content(content.to_owned())
}

async fn on_side(scratch: &Scratch, message: &str, actions: Vec<FileAction>) -> Oid {
    let start = Start { at: Some(StartAt::Branch("main".to_owned())), repository: None };
    let known = !scratch.ask(&["branch", "--list", "side"]).is_empty();
    let start = if known { Start::default() } else { start };
    let change = Change { start, message: message.to_owned(), ..on("side", actions) };
    scratch.try_commit(change).await.unwrap().id
}

/// Two commits on `side`; `main` is where `side` began.
async fn ahead() -> Scratch {
    let scratch = Scratch::new().await;
    scratch.commit(vec![file("a", "a\n"), file("b", "b\n")]).await;
    on_side(&scratch, "First\n", vec![file("c", "c\n")]).await;
    on_side(&scratch, "Second\n", vec![FileAction::new(Update, "a").content("A\n")]).await;
    scratch
}

/// As [`ahead`], with a commit on `main` that `side` lacks.
async fn parted() -> Scratch {
    let scratch = ahead().await;
    scratch.commit(vec![FileAction::new(Update, "b").content("B\n")]).await;
    scratch
}

/// As [`parted`], with a change of the same line on both sides.
async fn clashing() -> Scratch {
    let scratch = ahead().await;
    scratch.commit(vec![FileAction::new(Update, "a").content("other\n")]).await;
    scratch
}

fn plan(scratch: &Scratch, method: Method, squash: Option<&str>) -> Plan {
    let squash =
        squash.map(|message| Squash { message: message.to_owned(), author: person("Ann Author") });
    Plan {
        method,
        target: scratch.tip("main"),
        head: scratch.tip("side"),
        squash,
        message: "Merge branch 'side' into 'main'".to_owned(),
        committer: person("Carl Committer"),
    }
}

async fn built(scratch: &Scratch, method: Method, squash: Option<&str>) -> MergeResult {
    let plan = plan(scratch, method, squash);
    build(&scratch.git, &scratch.repo, plan).await.unwrap()
}

fn shown(scratch: &Scratch, format: &str, id: Oid) -> String {
    scratch.ask(&["log", "-1", &format!("--format={format}"), &id.to_string()])
}

/// The tree that git makes of the words in a clone of `main`.
fn in_a_work_tree(scratch: &Scratch, branch: &str, words: &[&str]) -> String {
    let (home, folder) = (scratch.folder.path(), scratch.folder.path().join("work-tree"));
    let source = scratch.repo.as_path().to_str().unwrap();
    let run = |at: &std::path::Path, words: &[&str]| {
        let done = plain_git().current_dir(at).args(words).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    run(home, &["clone", "-q", "-b", branch, source, "work-tree"]);
    run(&folder, words);
    let tree = run(&folder, &["rev-parse", "HEAD^{tree}"]);
    std::fs::remove_dir_all(&folder).unwrap();
    tree
}

#[tokio::test]
async fn a_merge_commit_holds_what_git_would_merge() {
    let scratch = parted().await;
    let expected = in_a_work_tree(&scratch, "main", &["merge", "-q", "origin/side"]);

    let made = built(&scratch, Method::Merge, None).await;

    let parents = format!("{} {}", scratch.tip("main"), scratch.tip("side"));
    assert_eq!(shown(&scratch, "%P", made.tip), parents);
    assert_eq!(shown(&scratch, "%T", made.tip), expected);
    assert_eq!(
        shown(&scratch, "%an|%cn|%B", made.tip),
        "Carl Committer|Carl Committer|Merge branch 'side' into 'main'"
    );
    assert_eq!((made.merge_commit, made.squash_commit), (Some(made.tip), None));
    assert_eq!(made.commits, 3);
    scratch.fsck();
}

#[tokio::test]
async fn a_merge_commit_is_made_even_where_the_target_could_move_on() {
    let scratch = ahead().await;

    let made = built(&scratch, Method::Merge, None).await;

    assert_ne!(made.tip, scratch.tip("side"));
    assert_eq!(shown(&scratch, "%P", made.tip).split(' ').count(), 2);
}

#[tokio::test]
async fn only_a_source_that_begins_at_the_target_is_fast() {
    for method in [Method::Rebase, Method::FastForward] {
        let scratch = parted().await;
        let refused = build(&scratch.git, &scratch.repo, plan(&scratch, method, None)).await;
        assert!(matches!(refused, Err(MergeError::NotFastForward)), "{method:?}");
    }
    let scratch = ahead().await;

    let moved = built(&scratch, Method::FastForward, None).await;
    let merged = built(&scratch, Method::Rebase, None).await;

    assert_eq!((moved.tip, moved.merge_commit), (scratch.tip("side"), None));
    assert_eq!(moved.bytes, 0);
    assert_eq!(merged.merge_commit, Some(merged.tip));
}

#[tokio::test]
async fn a_squash_holds_everything_on_the_common_ancestor() {
    let scratch = parted().await;
    let base = scratch.ask(&["merge-base", "main", "side"]);

    let made = built(&scratch, Method::Merge, Some("All of it")).await;

    let squash = made.squash_commit.unwrap();
    assert_eq!(
        shown(&scratch, "%P|%an|%cn|%B", squash),
        format!("{base}|Ann Author|Carl Committer|All of it")
    );
    assert_eq!(shown(&scratch, "%T", squash), shown(&scratch, "%T", scratch.tip("side")));
    assert_eq!(shown(&scratch, "%P", made.tip), format!("{} {squash}", scratch.tip("main")));
    scratch.fsck();
}

#[tokio::test]
async fn a_squash_that_moves_the_target_on_is_where_it_goes() {
    let scratch = ahead().await;

    let made = built(&scratch, Method::FastForward, Some("All of it")).await;

    assert_eq!((made.squash_commit, made.merge_commit), (Some(made.tip), None));
    assert_eq!(shown(&scratch, "%P", made.tip), scratch.tip("main").to_string());
}

#[tokio::test]
async fn a_single_commit_that_says_the_same_is_not_rewritten() {
    let scratch = Scratch::new().await;
    scratch.commit(vec![file("a", "a\n")]).await;
    let head = on_side(&scratch, "Only one\n", vec![file("c", "c\n")]).await;

    let same = built(&scratch, Method::FastForward, Some(" Only one ")).await;
    let other = built(&scratch, Method::FastForward, Some("In other words")).await;

    assert_eq!(same.squash_commit, Some(head));
    assert_ne!(other.squash_commit, Some(head));
}

#[tokio::test]
async fn conflicts_and_nothing_at_all_are_no_merges() {
    let scratch = clashing().await;
    let (target, head) = (scratch.tip("main"), scratch.tip("side"));
    let refused = build(&scratch.git, &scratch.repo, plan(&scratch, Method::Merge, None)).await;
    assert!(matches!(refused, Err(MergeError::Conflict)));
    let again = Plan { head: target, ..plan(&scratch, Method::Merge, None) };
    let refused = build(&scratch.git, &scratch.repo, again).await;
    assert!(matches!(refused, Err(MergeError::Nothing)));

    let checks = Checks::default();
    assert!(!checks.fits(&scratch.git, &scratch.repo, target, head).await.unwrap());
    assert!(!checks.fits(&scratch.git, &scratch.repo, target, target).await.unwrap());
    let scratch = parted().await;
    let (target, head) = (scratch.tip("main"), scratch.tip("side"));
    assert!(checks.fits(&scratch.git, &scratch.repo, target, head).await.unwrap());
}

async fn rebased(scratch: &Scratch) -> Result<RebaseResult, GitError> {
    let (head, onto) = (scratch.tip("side"), scratch.tip("main"));
    rebase(&scratch.git, &scratch.repo, head, onto, &person("Rita Rebaser")).await
}

#[tokio::test]
async fn a_rebase_makes_each_commit_anew_as_git_does() {
    let scratch = parted().await;
    let expected = in_a_work_tree(&scratch, "side", &["rebase", "-q", "origin/main"]);

    let made = rebased(&scratch).await.unwrap();

    assert_eq!(shown(&scratch, "%T", made.tip), expected);
    let listed = format!("{}..{}", scratch.tip("main"), made.tip);
    assert_eq!(
        scratch.ask(&["log", "--format=%s|%an|%cn", &listed]),
        "Second|Ann Author|Rita Rebaser\nFirst|Ann Author|Rita Rebaser"
    );
    assert_eq!(made.commits, 2);
    scratch.fsck();
}

#[tokio::test]
async fn a_branch_that_is_in_place_is_not_moved() {
    let scratch = ahead().await;

    let made = rebased(&scratch).await.unwrap();

    assert_eq!((made.tip, made.bytes), (scratch.tip("side"), 0));
}

#[tokio::test]
async fn a_rebase_leaves_out_what_the_target_has() {
    let scratch = parted().await;
    scratch.commit(vec![FileAction::new(Update, "a").content("A\n")]).await;

    let made = rebased(&scratch).await.unwrap();

    assert_eq!(made.commits, 1);
    assert_eq!(shown(&scratch, "%s", made.tip), "First");
}

#[tokio::test]
async fn a_rebase_that_conflicts_leaves_nothing_behind() {
    let scratch = clashing().await;
    let before = scratch.ask(&["count-objects"]);

    assert!(matches!(rebased(&scratch).await, Err(GitError::Conflict(_))));

    assert_eq!(scratch.ask(&["count-objects"]), before);
}

#[tokio::test]
async fn a_merge_that_was_tried_out_is_named_until_a_side_moves() {
    let scratch = parted().await;
    let name = RefName::full("refs/merge-requests/1/merge").unwrap();
    let ask = async || {
        let ids = (scratch.tip("main"), scratch.tip("side"));
        merge_ref(&scratch.git, &scratch.repo, &name, ids, person("Mia Merger")).await.unwrap()
    };

    let first = ask().await;
    let again = ask().await;
    on_side(&scratch, "Third\n", vec![file("d", "d\n")]).await;
    let moved = ask().await;

    assert_eq!(first, again);
    assert_ne!(first, moved);
    assert_eq!(scratch.ask(&["rev-parse", "refs/merge-requests/1/merge"]), moved.to_string());
}
