//! Commits made of file actions: what each does, what each refuses, and in which words.

use forgeway_repo::git::change::ActionKind::{Chmod, Create, Delete, Move, Update};
use forgeway_repo::git::change::{ActionKind, Change, FileAction, Start, StartAt, build};
use forgeway_repo::git::reader::LogQuery;
use forgeway_repo::git::refs::{ExpectedValue, move_now};
use forgeway_repo::git::{Deadline, Oid, Signature};

use crate::scratch::{Scratch, ask_in, on, plain_git};

fn act(kind: ActionKind, path: &str) -> FileAction {
    FileAction::new(kind, path)
}

fn file(path: &str, content: &str) -> FileAction {
    act(Create, path).content(content.to_owned())
}

/// A repository with a file of every kind: `a`, `run` (executable), `d/one`, `d/two`, `link` → `a`, `module` (a submodule).
async fn furnished() -> (Scratch, Oid) {
    let scratch = Scratch::new().await;
    scratch
        .commit(vec![
            file("a", "alpha\n"),
            file("run", "#!/bin/sh\n").executable(true),
            file("d/one", "1\n"),
            file("d/two", "2\n"),
        ])
        .await;
    let index = scratch.folder.path().join("index");
    let git = |words: &[&str]| {
        let output = plain_git()
            .env("GIT_INDEX_FILE", &index)
            .arg("--git-dir")
            .arg(scratch.repo.as_path())
            .args(words)
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let target = git(&["rev-parse", "main:a"]);
    let module = git(&["rev-parse", "main"]);
    git(&["read-tree", "main"]);
    git(&["update-index", "--add", "--cacheinfo", &format!("120000,{target},link")]);
    git(&["update-index", "--add", "--cacheinfo", &format!("160000,{module},module")]);
    let tree = git(&["write-tree"]);
    let tip = git(&["commit-tree", &tree, "-p", "main", "-m", "Furnish"]);
    git(&["update-ref", "refs/heads/main", &tip]);
    (scratch, tip.parse().unwrap())
}

fn listing(scratch: &Scratch, branch: &str) -> Vec<String> {
    let text = scratch.ask(&["ls-tree", "-r", "--format=%(objectmode) %(path)", branch]);
    text.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn every_action_does_what_it_says() {
    let (scratch, tip) = furnished().await;

    let id = scratch
        .commit(vec![
            file("new/deep/file", "new"),
            act(Update, "a").content("beta"),
            act(Move, "moved").from("d/one"),
            act(Move, "moved-and-changed").from("d/two").content("22"),
            act(Chmod, "moved").executable(true),
            act(Chmod, "run").executable(false),
            act(Delete, "module"),
        ])
        .await;

    let expected = [
        "100644 a",
        "120000 link",
        "100755 moved",
        "100644 moved-and-changed",
        "100644 new/deep/file",
        "100644 run",
    ];
    assert_eq!(listing(&scratch, "main"), expected);
    assert_eq!(scratch.ask(&["show", "main:a"]), "beta");
    assert_eq!(scratch.ask(&["show", "main:moved"]), "1");
    assert_eq!(scratch.ask(&["show", "main:moved-and-changed"]), "22");
    assert_eq!(scratch.ask(&["rev-parse", &format!("{id}^")]), tip.to_string());
    scratch.fsck();
}

#[tokio::test]
async fn a_commit_says_who_and_why() {
    let scratch = Scratch::new().await;
    let author = Signature {
        name: "A <b>\nc".to_owned(),
        email: "a@b>".to_owned(),
        at: 1_600_000_000,
        offset: -5400,
    };
    let change = Change {
        author,
        message: "Title ü\n\nBody\n\n".to_owned(),
        ..on("main", vec![file("a", "")])
    };

    scratch.try_commit(change).await.unwrap();

    let text = scratch.ask(&["cat-file", "commit", "main"]);
    let (header, message) = text.split_once("\n\n").unwrap();
    assert!(header.contains("\nauthor A bc <a@b> 1600000000 -0130\n"), "{header}");
    assert!(
        header.ends_with("\ncommitter Carl Committer <carl@example.com> 1700000000 +0100"),
        "{header}"
    );
    assert!(message.starts_with("Title ü\n\nBody"), "{message}");
    scratch.fsck();
}

#[tokio::test]
async fn every_refusal_has_its_words() {
    let (scratch, _) = furnished().await;
    let exists = "A file with this name already exists";
    let missing = "A file with this name doesn't exist";
    let folder = "A directory with this name already exists";
    let traversal = "Path cannot include directory traversal";
    for (action, text) in [
        (file("a", "x"), exists),
        (file("link", "x"), exists),
        (file("a/below", "x"), exists),
        (file("d", "x"), folder),
        (file("", "x"), "You must provide a file path"),
        (file("../a", "x"), traversal),
        (file("d/../../a", "x"), traversal),
        (file("x//y", "x"), "invalid path: 'x//y'"),
        (file(".git/hooks/x", "x"), "invalid path: '.git/hooks/x'"),
        (file("x/.GIT", "x"), "invalid path: 'x/.GIT'"),
        (file("x\\y", "x"), "invalid path: 'x\\y'"),
        (act(Update, "none").content("x"), missing),
        (act(Update, "d").content("x"), missing),
        (act(Update, "module").content("x"), missing),
        (act(Update, "a/below").content("x"), missing),
        (act(Delete, "none"), missing),
        (act(Delete, "d"), missing),
        (act(Delete, ".."), traversal),
        (act(Chmod, "none").executable(true), missing),
        (act(Chmod, "link").executable(true), missing),
        (act(Move, "new").from("none"), missing),
        (act(Move, "new").from("d"), missing),
        (act(Move, "new").from("../a"), traversal),
        (act(Move, "new"), "You must provide a file path"),
        (act(Move, "run").from("a"), exists),
        (act(Move, "a").from("a"), exists),
        (act(Move, "d").from("a"), folder),
        (act(Move, ".git/x").from("a"), "invalid path: '.git/x'"),
        (act(Move, "x/.gitmodules").from("link"), "invalid path: 'x/.gitmodules'"),
        (act(Update, "a").content("alpha\n"), "Your changes could not be committed"),
        (act(Chmod, "run").executable(true), "Your changes could not be committed"),
    ] {
        let said = format!("{action:?}");
        let refused = build(&scratch.git, &scratch.repo, on("main", vec![action])).await;
        assert_eq!(refused.unwrap_err().to_string(), text, "{said}");
    }
}

#[tokio::test]
async fn actions_see_what_the_ones_before_them_did() {
    let (scratch, _) = furnished().await;

    scratch
        .commit(vec![
            act(Delete, "d/one"),
            act(Delete, "d/two"),
            file("d", "a file where the folder was"),
            act(Move, "a/b/c").from("a"),
            file("chain", "1"),
            act(Move, "chain2").from("chain"),
            act(Update, "chain2").content("2"),
            act(Move, "link2").from("link"),
            act(Move, "module2").from("module"),
        ])
        .await;

    let expected = [
        "100644 a/b/c",
        "100644 chain2",
        "100644 d",
        "120000 link2",
        "160000 module2",
        "100755 run",
    ];
    assert_eq!(listing(&scratch, "main"), expected);
    assert_eq!(scratch.ask(&["show", "main:chain2"]), "2");
    scratch.fsck();
}

fn starting(at: Option<StartAt>, branch: &str) -> Change {
    let start = Start { at, repository: None };
    Change { start, ..on(branch, vec![file("started", "x")]) }
}

#[tokio::test]
async fn every_wrong_start_has_its_words() {
    let (scratch, tip) = furnished().await;
    let branch = |name: &str| Some(StartAt::Branch(name.to_owned()));
    let sha = |id: &str| Some(StartAt::Sha(id.to_owned()));
    let not_on_a_branch = "You can only create or edit files when you are on a branch";
    let invalid = |name: &str| {
        format!(
            "Something went wrong when we tried to create '{name}' for you: Branch name is invalid"
        )
    };
    let exists =
        "A branch called 'main' already exists. Switch to that branch in order to make changes";
    let unknown = "1".repeat(40);
    scratch.ask(&["update-ref", "refs/heads/side", &tip.to_string()]);
    for (at, name, text) in [
        (sha("main"), "new", "Invalid start_sha 'main'".to_owned()),
        (sha("--output=x"), "new", "Invalid start_sha '--output=x'".to_owned()),
        (sha(&unknown), "new", format!("Cannot find start_sha '{unknown}'")),
        (
            sha(&scratch.ask(&["rev-parse", "main:a"])),
            "new",
            format!("Cannot find start_sha '{}'", scratch.ask(&["rev-parse", "main:a"])),
        ),
        (branch("none"), "new", not_on_a_branch.to_owned()),
        (None, "new", not_on_a_branch.to_owned()),
        (branch("side"), "main", exists.to_owned()),
        (sha(&tip.to_string()), "main", exists.to_owned()),
        (branch("main"), "bad..name", invalid("bad..name")),
        (branch("main"), "--output=x", invalid("--output=x")),
        (branch("main"), "a b", invalid("a b")),
    ] {
        let said = format!("{at:?} {name}");
        let refused = build(&scratch.git, &scratch.repo, starting(at, name)).await;
        assert_eq!(refused.unwrap_err().to_string(), text, "{said}");
    }
}

#[tokio::test]
async fn a_new_branch_grows_from_its_start() {
    let (scratch, tip) = furnished().await;
    let first = scratch.ask(&["rev-parse", "main^"]);

    let from_branch = starting(Some(StartAt::Branch("main".to_owned())), "from-branch");
    let from_branch = scratch.try_commit(from_branch).await.unwrap();
    let from_sha =
        scratch.try_commit(starting(Some(StartAt::Sha(first.clone())), "from/sha")).await.unwrap();
    let same = scratch
        .try_commit(starting(Some(StartAt::Branch("main".to_owned())), "main"))
        .await
        .unwrap();

    assert_eq!((from_branch.parent, from_branch.branch.old), (Some(tip), ExpectedValue::Absent));
    assert_eq!(from_sha.parent.unwrap().to_string(), first);
    assert_eq!((same.parent, same.branch.old), (Some(tip), ExpectedValue::Exactly(tip)));
    assert!(!from_branch.first);
}

#[tokio::test]
async fn force_puts_the_branch_on_top_of_the_start() {
    let (scratch, tip) = furnished().await;
    let first = scratch.ask(&["rev-parse", "main^"]);

    let change = Change { force: true, ..starting(Some(StartAt::Sha(first.clone())), "main") };
    let made = scratch.try_commit(change).await.unwrap();

    assert_eq!(made.branch.old, ExpectedValue::Exactly(tip));
    assert_eq!(scratch.ask(&["rev-parse", "main^"]), first);
    assert_eq!(scratch.tip("main"), made.id);
}

#[tokio::test]
async fn the_first_commit_needs_no_branch() {
    let scratch = Scratch::new().await;

    let made = scratch.try_commit(on("trunk", vec![file("a", "x")])).await.unwrap();

    assert_eq!((made.parent, made.branch.old, made.first), (None, ExpectedValue::Absent, true));
    assert_eq!(scratch.ask(&["rev-list", "--count", "trunk"]), "1");
    let refused = build(&scratch.git, &scratch.repo, on("a..b", vec![file("a", "x")])).await;
    assert_eq!(
        refused.unwrap_err().to_string(),
        "You can only create or edit files when you are on a branch"
    );
}

#[tokio::test]
async fn a_start_in_another_repository_brings_its_history() {
    let (scratch, tip) = furnished().await;
    let fork = scratch.another(2);
    let start = Start {
        at: Some(StartAt::Branch("main".to_owned())),
        repository: Some(scratch.repo.clone()),
    };
    let change = Change { start, ..on("topic", vec![file("started", "x")]) };

    let made = build(&scratch.git, &fork, change.clone()).await.unwrap();
    move_now(&fork, std::slice::from_ref(&made.branch)).await.unwrap();

    assert_eq!((made.parent, made.first), (Some(tip), true));
    assert_eq!(ask_in(&fork, &["rev-list", "--count", "topic"]), "3");
    ask_in(&fork, &["fsck", "--strict"]);
    let again = build(&scratch.git, &fork, change).await.unwrap_err();
    assert!(again.to_string().starts_with("A branch called 'topic' already exists."));
}

#[tokio::test]
async fn a_file_changed_since_it_was_seen_is_a_conflict() {
    let scratch = Scratch::new().await;
    let first = scratch.commit(vec![file("a", "1"), file("b", "1")]).await;
    let second = scratch.commit(vec![act(Update, "a").content("2")]).await;
    let third = scratch.commit(vec![act(Update, "b").content("2")]).await;
    let text = "The file has changed since you started editing it: a";
    let update = || act(Update, "a").content("new");
    for (action, fine) in [
        (update().seen(second.to_string()), true),
        // Not the last commit of the file, but it says the same about it.
        (update().seen(third.to_string()), true),
        (update().seen("1".repeat(40)), true),
        (update().seen("nonsense"), true),
        (update().seen(first.to_string()), false),
        (act(Delete, "a").seen(first.to_string()), false),
        (act(Move, "c").from("a").seen(first.to_string()), false),
        (act(Chmod, "a").executable(true).seen(first.to_string()), false),
        (file("c", "x").seen(first.to_string()), true),
    ] {
        let said = format!("{action:?}");
        let made = build(&scratch.git, &scratch.repo, on("main", vec![action])).await;
        match made {
            Ok(_) => assert!(fine, "{said}"),
            Err(refused) => assert!(!fine && refused.to_string() == text, "{said}: {refused}"),
        }
    }
}

#[tokio::test]
async fn objects_are_there_before_the_branch_moves() {
    let scratch = Scratch::new().await;

    for count in [1, 100] {
        let files =
            (0..count).map(|n| file(&format!("{count}/{n}"), &format!("{count} {n}"))).collect();
        let made = build(&scratch.git, &scratch.repo, on("main", files)).await.unwrap();

        assert_eq!(scratch.ask(&["for-each-ref"]), "");
        let listed =
            scratch.ask(&["rev-list", "--objects", "--no-object-names", &made.id.to_string()]);
        assert_eq!(listed.lines().count(), count + 3);
        let debris = scratch.ask(&["count-objects", "-v"]);
        assert!(debris.contains("garbage: 0"), "{debris}");
    }
    scratch.fsck();
}

#[tokio::test]
async fn a_thousand_actions_are_one_commit() {
    let scratch = Scratch::new().await;
    let files =
        (0..1000).map(|n| file(&format!("d{}/e{}/f{n}", n % 7, n % 31), &n.to_string())).collect();

    scratch.commit(files).await;
    let moves = (0..1000)
        .map(|n| act(Move, &format!("g{n}")).from(format!("d{}/e{}/f{n}", n % 7, n % 31)))
        .collect();
    scratch.commit(moves).await;

    assert_eq!(listing(&scratch, "main").len(), 1000);
    scratch.fsck();
}

#[tokio::test]
async fn the_loser_of_a_race_is_told_to_try_again() {
    let (scratch, _) = furnished().await;
    let late =
        build(&scratch.git, &scratch.repo, on("main", vec![file("late", "x")])).await.unwrap();
    scratch.commit(vec![file("early", "x")]).await;

    let refused = move_now(&scratch.repo, std::slice::from_ref(&late.branch)).await.unwrap_err();

    let told = forgeway_repo::git::change::ChangeError::of_move(&late.branch.name, refused);
    assert_eq!(told.to_string(), "Could not update refs/heads/main. Please refresh and try again.");
}

#[tokio::test]
async fn a_replaced_object_is_read_as_it_is() {
    let (scratch, tip) = furnished().await;
    let first = scratch.ask(&["rev-parse", "main^"]);
    scratch.ask(&["update-ref", &format!("refs/replace/{tip}"), &first]);

    scratch.commit(vec![file("new", "x")]).await;

    let listed = scratch.ask(&["--no-replace-objects", "ls-tree", "-r", "--name-only", "main"]);
    assert!(listed.contains("module"), "{listed}");
    let log = scratch.ask(&["--no-replace-objects", "rev-list", "main"]);
    let reader = forgeway_repo::git::reader::Reader::open_uncached(&scratch.repo).unwrap();
    let query = LogQuery { take: 9, ..LogQuery::of(scratch.tip("main")) };
    let ids = reader.log_ids(&query, Deadline::NEVER).unwrap();
    assert_eq!(ids.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), log);
}
