//! Branches, tags, and what names mean.

use forgeway_repo::{
    git::{GitError, Oid, RefInfo, RefName, TreePath},
    testing::Fixture,
};

use super::{text, told};

fn rows(refs: &[RefInfo]) -> Vec<String> {
    refs.iter()
        .map(|found| {
            let commit = found.commit.map(|id| id.to_string()).unwrap_or_default();
            format!("{} {} {commit}", found.name, found.target)
        })
        .collect()
}

fn expected(fixture: &Fixture, folder: &str) -> Vec<String> {
    let format = "--format=%(refname) %(objectname) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)";
    fixture.lines(&["for-each-ref", format, folder])
}

#[test]
fn refs_are_those_of_git() {
    for fixture in told() {
        let reader = fixture.reader();
        assert_eq!(rows(&reader.branches().unwrap()), expected(&fixture, "refs/heads"));
        assert_eq!(rows(&reader.tag_refs().unwrap()), expected(&fixture, "refs/tags"));
        assert_eq!(rows(&reader.all_refs().unwrap()), expected(&fixture, "refs"));
        assert_eq!(reader.head_branch().unwrap(), Some(RefName::branch("main").unwrap()));
        assert!(!reader.is_empty().unwrap());
    }
}

#[test]
fn tags_carry_their_annotation() {
    for fixture in told() {
        let reader = fixture.reader();
        let tags = reader.tags().unwrap();
        let names: Vec<_> = tags.iter().map(|tag| tag.name.short().into_owned()).collect();
        assert_eq!(names, ["v0.1", "v1.0", "v2.0"]);
        assert_eq!((tags[0].message.as_deref(), tags[0].tagger.as_ref()), (None, None));
        assert_eq!(tags[1].message.as_deref(), Some("Version 1.0\n\nWith notes."));
        let tagger = tags[1].tagger.as_ref().unwrap();
        assert_eq!(
            (tagger.name.as_str(), tagger.at, tagger.offset),
            ("Ada Lovelace", 1_600_100_000, 3600)
        );
        assert_eq!(reader.tag(&RefName::tag("v1.0").unwrap()).unwrap(), tags[1]);
        assert!(matches!(reader.tag(&RefName::tag("v9").unwrap()), Err(GitError::NotFound)));
    }
}

#[test]
fn an_empty_repository_answers_too() {
    let fixture = Fixture::empty();
    let reader = fixture.reader();
    assert!(reader.is_empty().unwrap());
    assert_eq!(reader.head_branch().unwrap(), Some(RefName::branch("main").unwrap()));
    assert!(reader.branches().unwrap().is_empty());
    assert!(reader.tags().unwrap().is_empty());
    assert!(matches!(reader.resolve("HEAD"), Err(GitError::NotFound)));
    assert!(matches!(reader.resolve("main"), Err(GitError::NotFound)));
}

#[test]
fn names_mean_what_they_mean_to_git() {
    for fixture in told() {
        let reader = fixture.reader();
        let main = fixture.id("main").to_string();
        for name in [
            "main",
            "HEAD",
            "@",
            "topic",
            "a/one",
            "release/1.x",
            "v0.1",
            "v1.0",
            "refs/heads/main",
            "refs/tags/v1.0",
            "refs/merge-requests/1/head",
            "main~1",
            "main~3",
            "main^",
            "main~1^2",
            "main~1^3",
            "main~1^2^",
            "main^^",
            "v1.0^2~1",
            "main^0",
            "v2.0^{commit}",
            "v2.0^{}",
            &main,
            &main[..7],
            &main[..12],
            &main.to_uppercase(),
        ] {
            let found = reader.resolve(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(found, fixture.id(name), "{name}");
        }
        let tag = fixture.lines(&["rev-parse", "v1.0"]).remove(0);
        for name in [&tag, &tag[..10]] {
            assert_eq!(reader.resolve(name).unwrap(), fixture.id("v1.0"));
        }
    }
}

#[test]
fn what_means_nothing_is_not_found() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let tree = fixture.lines(&["rev-parse", "main^{tree}"]).remove(0);
    for name in [
        "",
        " ",
        "nope",
        "--output=x",
        "-x",
        "main~999",
        "main^9",
        "main^{tree}",
        "main:README.md",
        "main@{1}",
        ":/Start",
        "refs/heads",
        "heads/../main",
        "ab",
        "0000000000000000000000000000000000000000",
        &tree,
        "main~",
        "main~99999999999",
        "a..b",
        "ma\0in",
        "../HEAD",
        "config",
    ] {
        if name == "main~" {
            continue;
        }
        assert!(matches!(reader.resolve(name), Err(GitError::NotFound)), "{name:?}");
    }
    assert_eq!(reader.resolve("main~").unwrap(), fixture.id("main~1"));
}

#[test]
fn of_several_refs_that_a_name_fits_git_chooses() {
    for fixture in told() {
        let (main, topic) = ("refs/heads/main", "refs/heads/topic");
        for (name, target) in [
            ("refs/tags/topic", main),
            ("refs/heads/v1.0", topic),
            ("refs/heads/refs/heads/main", topic),
            ("refs/heads/refs/tags/v1.0", topic),
            ("refs/tags/refs/heads/main", topic),
            ("refs/tags/heads/main", topic),
            ("refs/heads/heads/main", topic),
            ("refs/heads/tags/v1.0", topic),
            ("refs/heads/@", topic),
            ("refs/remotes/origin/main", topic),
            ("refs/remotes/away/HEAD", topic),
            ("refs/heads/UPPER_CASE", topic),
        ] {
            fixture.git(&["update-ref", name, target]);
        }
        let reader = fixture.reader();

        for name in [
            "topic",
            "v1.0",
            "main",
            "@",
            "HEAD",
            "heads/main",
            "tags/v1.0",
            "heads/topic",
            "tags/topic",
            "refs/heads/main",
            "refs/tags/v1.0",
            "refs/heads/refs/heads/main",
            "origin/main",
            "away",
            "remotes/origin/main",
            "UPPER_CASE",
            "heads/main~1",
            "merge-requests/1/head",
        ] {
            assert_eq!(reader.resolve(name).unwrap(), fixture.id(name), "{name}");
        }
    }
}

#[test]
fn forty_digits_are_a_commit_before_they_are_a_name() {
    let fixture = Fixture::new();
    let main = fixture.id("main");
    fixture.git(&["update-ref", &format!("refs/heads/{main}"), "topic"]);
    fixture.git(&["update-ref", &format!("refs/tags/{main}"), "topic"]);

    assert_eq!(fixture.reader().resolve(&main.to_string()).unwrap(), main);
}

#[test]
fn no_name_is_too_long_to_ask_for() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    for length in [250, 251, 255, 256, 300, 1000, 5000] {
        let name = "x".repeat(length);
        for text in [&name, &format!("refs/heads/{name}"), &vec!["a"; length].join("/")] {
            assert!(matches!(reader.resolve(text), Err(GitError::NotFound)), "{length}");
        }
        for name in [RefName::branch(&name), RefName::tag(&name)] {
            assert_eq!(reader.find_reference(&name.unwrap()).unwrap(), None, "{length}");
        }
    }
}

#[test]
fn damage_is_not_mistaken_for_nothing() {
    let fixture = Fixture::new();
    let written = |arguments: &[&str], input: &str| {
        text(&fixture.git_with(arguments, input.as_bytes())).trim().to_owned()
    };
    let blob = written(&["hash-object", "-w", "--stdin"], "one of its kind");
    let tree = written(&["mktree"], &format!("100644 blob {blob}\tfile\n"));
    let people = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000";
    let told = format!("tree {tree}\n{people}\n\nSoon lost\n");
    let commit = written(&["hash-object", "-t", "commit", "-w", "--stdin"], &told);
    fixture.git(&["update-ref", "refs/heads/hurt", &commit]);
    let objects = fixture.path.as_path().join("objects");
    let lose = |id: &str| std::fs::remove_file(objects.join(&id[..2]).join(&id[2..])).unwrap();
    let (reader, path) = (fixture.reader(), TreePath::new("file").unwrap());

    lose(&tree);
    let read = reader.find_entry(commit.parse().unwrap(), &path);
    assert!(matches!(read, Err(GitError::Corrupt(_))), "{read:?}");
    lose(&commit);
    let read = fixture.reader().resolve("hurt");
    assert!(matches!(read, Err(GitError::Corrupt(_))), "{read:?}");
    let read = fixture.reader().resolve(&commit);
    assert!(matches!(read, Err(GitError::NotFound)), "nothing names it: {read:?}");
}

#[test]
fn an_open_repository_sees_later_changes() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    assert_eq!(reader.branches().unwrap().len(), 6);

    fixture.git(&["update-ref", "refs/heads/new", "main"]);
    fixture.maintain();

    assert_eq!(reader.branches().unwrap().len(), 7);
    let blob = text(&fixture.git_with(&["hash-object", "-w", "--stdin"], b"later"));
    let id: Oid = blob.trim().parse().unwrap();
    assert_eq!(reader.blob(id, 100).unwrap().as_ref(), b"later");
}

#[test]
fn tags_of_trees_have_no_commit() {
    let fixture = Fixture::new();
    fixture.git(&["update-ref", "refs/tags/tree", "main^{tree}"]);
    let reader = fixture.reader();

    let tag = reader.tag(&RefName::tag("tree").unwrap()).unwrap();

    assert_eq!((tag.commit, tag.message), (None, None));
    assert!(matches!(reader.resolve("tree"), Err(GitError::NotFound)));
}
