//! Merge bases, containing refs, counts between tips.

use forgeway_repo::{
    git::{Deadline, Oid, RefKind},
    testing::Fixture,
};

use super::{chanced, told};

fn all_commits(fixture: &Fixture) -> Vec<Oid> {
    fixture.lines(&["rev-list", "--all"]).iter().map(|id| id.parse().unwrap()).collect()
}

fn tips(fixture: &Fixture) -> Vec<Oid> {
    fixture
        .lines(&["for-each-ref", "--format=%(objectname)", "refs/heads"])
        .iter()
        .map(|id| id.parse().unwrap())
        .collect()
}

#[test]
fn containing_refs_are_those_of_git() {
    for fixture in told().into_iter().chain(chanced()) {
        let reader = fixture.reader();
        for id in all_commits(&fixture).into_iter().step_by(5) {
            for (kind, folder) in [(RefKind::Branch, "refs/heads"), (RefKind::Tag, "refs/tags")] {
                let contains = format!("--contains={id}");
                let expected =
                    fixture.lines(&["for-each-ref", "--format=%(refname)", &contains, folder]);
                let found = reader.containing(id, kind, Deadline::NEVER).unwrap();
                let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                assert_eq!(found, expected, "{id}");
            }
        }
    }
}

#[test]
fn a_commit_newer_than_the_graph_file_is_found_too() {
    let fixture = Fixture::new();
    fixture.maintain();
    let tree = fixture.lines(&["rev-parse", "main^{tree}"]).remove(0);
    let author = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
    let commit = [&author[..], &["commit-tree", &tree, "-p", "main", "-m", "new"]].concat();
    let new: Oid = fixture.lines(&commit).remove(0).parse().unwrap();
    fixture.git(&["update-ref", "refs/heads/new", &new.to_string()]);
    let reader = fixture.reader();

    let names = |id| reader.containing(id, RefKind::Branch, Deadline::NEVER).unwrap();

    assert_eq!(names(new).len(), 1);
    assert_eq!(names(fixture.id("main")).len(), 2);
}

#[test]
fn merge_bases_are_those_of_git() {
    for fixture in told().into_iter().chain(chanced()) {
        let reader = fixture.reader();
        let tips = tips(&fixture);
        for one in &tips {
            for other in &tips {
                let names = [one.to_string(), other.to_string()];
                let (_, all) = fixture.try_git(&["merge-base", "--all", &names[0], &names[1]], b"");
                let mut expected: Vec<String> =
                    super::text(&all).lines().map(str::to_owned).collect();
                let mut found: Vec<String> = reader
                    .merge_bases(&[*one, *other])
                    .unwrap()
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                let first = reader.merge_base(&[*one, *other]).unwrap().map(|id| id.to_string());
                assert_eq!(first.as_ref(), expected.first());
                expected.sort();
                found.sort();
                assert_eq!(found, expected);
            }
        }
        let (_, many) = fixture.try_git(
            &[
                &["merge-base"],
                &tips
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()[..],
            ]
            .concat(),
            b"",
        );
        let found = reader.merge_base(&tips).unwrap();
        assert_eq!(found.map(|id| format!("{id}\n")).unwrap_or_default(), super::text(&many));
    }
}

#[test]
fn ancestors_and_counts_are_those_of_git() {
    for fixture in told().into_iter().chain(chanced()) {
        let reader = fixture.reader();
        let tips = tips(&fixture);
        for one in &tips {
            for other in &tips {
                let (is_ancestor, _) = fixture.try_git(
                    &["merge-base", "--is-ancestor", &one.to_string(), &other.to_string()],
                    b"",
                );
                assert_eq!(reader.is_ancestor(*one, *other, Deadline::NEVER).unwrap(), is_ancestor);
                let range = format!("{one}...{other}");
                let counts =
                    fixture.lines(&["rev-list", "--count", "--left-right", &range]).remove(0);
                let (ahead, behind) = reader.ahead_behind(*one, *other, Deadline::NEVER).unwrap();
                assert_eq!(format!("{ahead}\t{behind}"), counts);
            }
        }
    }
}

#[test]
fn what_a_move_brought_is_what_git_has_between_its_ends() {
    for fixture in told().into_iter().chain(chanced()) {
        let reader = fixture.reader();
        let tips = tips(&fixture);
        let line = fixture.lines(&["rev-list", "--first-parent", "main"]);
        let earlier = line.iter().step_by(7).map(|id| id.parse().unwrap());
        let moves = tips.iter().copied().chain(earlier).flat_map(|from| {
            tips.iter().copied().map(move |to| (from, to)).collect::<Vec<(Oid, Oid)>>()
        });
        for (before, after) in moves {
            let brought = reader.brought(before, after).unwrap();

            let range = format!("{before}..{after}");
            let mut expected = fixture.lines(&["rev-list", &range]);
            let mut found: Vec<String> = brought.commits.keys().map(ToString::to_string).collect();
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{range}");
            let (is_forward, _) = fixture.try_git(
                &["merge-base", "--is-ancestor", &before.to_string(), &after.to_string()],
                b"",
            );
            assert_eq!(brought.forward, is_forward, "{range}");
        }
    }
}

#[test]
fn the_oldest_of_a_branch_s_own_commits_that_has_it_brought_it() {
    for fixture in chanced() {
        let reader = fixture.reader();
        let line = fixture.lines(&["rev-list", "--first-parent", "main"]);
        let before: Oid = line[line.len() / 2].parse().unwrap();

        let brought = reader.brought(before, fixture.id("main")).unwrap();

        let own = line.iter().take(line.len() / 2).rev().map(|id| id.parse::<Oid>().unwrap());
        let own: Vec<Oid> = own.collect();
        for (id, by) in &brought.commits {
            let mut having =
                own.iter().filter(|one| reader.is_ancestor(*id, **one, Deadline::NEVER).unwrap());
            assert_eq!(having.next(), Some(by), "{id}");
        }
    }
}

#[test]
fn contributors_are_counted_by_address_without_merges() {
    for fixture in told() {
        let reader = fixture.reader();
        let lines = fixture.lines(&["log", "--no-merges", "--format=%ae", "main"]);
        let people = reader.contributors(fixture.id("main"), Deadline::NEVER).unwrap();
        for person in &people {
            let expected = lines.iter().filter(|line| **line == person.email).count();
            assert_eq!(person.commits, u64::try_from(expected).unwrap(), "{person:?}");
        }
        assert_eq!(
            people.iter().map(|person| person.commits).sum::<u64>(),
            u64::try_from(lines.len()).unwrap()
        );
        assert_eq!(people.len(), 4, "{people:?}");
    }
}
