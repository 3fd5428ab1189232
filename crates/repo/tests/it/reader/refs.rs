//! Branches, tags, and what names mean.

use forgeway_repo::{
    git::{GitError, Oid, RefInfo, RefName},
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
fn a_branch_wins_over_a_tag_of_the_same_name() {
    let fixture = Fixture::new();
    fixture.git(&["update-ref", "refs/tags/topic", "main"]);
    fixture.git(&["update-ref", "refs/heads/v1.0", "refs/heads/topic"]);
    let reader = fixture.reader();

    assert_eq!(reader.resolve("topic").unwrap(), fixture.id("refs/heads/topic"));
    assert_eq!(reader.resolve("v1.0").unwrap(), fixture.id("refs/heads/topic"));
    assert_eq!(reader.resolve("refs/tags/topic").unwrap(), fixture.id("main"));
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
