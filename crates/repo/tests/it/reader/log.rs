//! Lists of commits: the same ids in the same order as `git log`.

use forgeway_repo::{
    git::{Deadline, GitError, LogQuery, Order, Reader, Tips, TreePath},
    testing::Fixture,
};

use super::{chanced, told};

/// `git log <arguments>` and the same question to the reader.
#[track_caller]
fn check(fixture: &Fixture, reader: &Reader, arguments: &[&str], query: &LogQuery) {
    let mut command = vec!["log", "--format=%H"];
    command.extend_from_slice(arguments);
    let expected = fixture.lines(&command);

    let found = reader.log_ids(query, Deadline::NEVER).unwrap();

    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "{arguments:?}");
}

fn path(path: &str) -> Option<TreePath> {
    Some(TreePath::new(path).unwrap())
}

/// Every option by itself and some together, from one tip.
fn check_all(fixture: &Fixture, tip: &str, paths: &[&str], since: i64, until: i64) {
    let reader = fixture.reader();
    let whole = LogQuery::of(fixture.id(tip));
    let (after, before) = (format!("--since={since}"), format!("--until={until}"));
    let topo = LogQuery { order: Order::Topo, ..whole.clone() };
    let first = LogQuery { first_parent: true, ..whole.clone() };
    let since = LogQuery { since: Some(since), ..whole.clone() };
    let both = LogQuery { until: Some(until), ..since.clone() };
    check(fixture, &reader, &[tip], &whole);
    check(fixture, &reader, &["--topo-order", tip], &topo);
    check(fixture, &reader, &["--first-parent", tip], &first);
    check(fixture, &reader, &[&after, tip], &since);
    check(fixture, &reader, &[&after, &before, tip], &both);
    check(
        fixture,
        &reader,
        &["--author=Grace", tip],
        &LogQuery { author: Some("Grace".into()), ..whole.clone() },
    );
    check(fixture, &reader, &["--all"], &LogQuery::new(Tips::AllRefs));
    let page = LogQuery { skip: 3, take: 4, ..whole.clone() };
    check(fixture, &reader, &["--skip=3", "-4", tip], &page);
    for name in paths {
        let one = LogQuery { path: path(name), ..whole.clone() };
        check(fixture, &reader, &[tip, "--", name], &one);
        check(
            fixture,
            &reader,
            &["--topo-order", tip, "--", name],
            &LogQuery { path: path(name), ..topo.clone() },
        );
        check(
            fixture,
            &reader,
            &["--first-parent", tip, "--", name],
            &LogQuery { path: path(name), ..first.clone() },
        );
        check(
            fixture,
            &reader,
            &[&after, &before, tip, "--", name],
            &LogQuery { path: path(name), ..both.clone() },
        );
    }
}

#[test]
fn every_option_lists_what_git_lists() {
    for fixture in told() {
        let paths = [
            "docs",
            "src/main.c",
            "lib/program.c",
            "docs/b.txt",
            "topic.txt",
            "README.md",
            "link",
            "two.txt",
            "none",
        ];
        check_all(&fixture, "main", &paths, 1_600_000_200, 1_600_000_600);
        check_all(&fixture, "topic", &paths, 1_600_000_100, 1_600_000_400);
        check_all(&fixture, "orphan", &["x"], 1_600_000_200, 1_600_000_400);
    }
}

#[test]
fn chanced_histories_are_listed_as_git_does() {
    for fixture in chanced() {
        let files = fixture.lines(&["log", "--all", "--name-only", "--format="]);
        let mut files: Vec<&str> =
            files.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        files.sort_unstable();
        files.dedup();
        files.truncate(25);
        files.push("d1");
        check_all(&fixture, "main", &files, 1_500_001_000, 1_500_004_000);
    }
}

#[test]
fn ranges_hide_what_git_hides() {
    for fixture in told().into_iter().chain(chanced()) {
        let reader = fixture.reader();
        let branches = fixture.lines(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        for (nth, left) in branches.iter().enumerate() {
            let right = &branches[(nth + 1) % branches.len()];
            for range in [
                format!("{left}..{right}"),
                format!("{right}..{left}"),
                format!("{left}...{right}"),
            ] {
                let found = reader.resolve_range(&range).unwrap();
                let whole =
                    LogQuery { exclude: found.exclude, ..LogQuery::new(Tips::Many(found.tips)) };
                check(&fixture, &reader, &[&range], &whole);
                check(
                    &fixture,
                    &reader,
                    &["--topo-order", &range],
                    &LogQuery { order: Order::Topo, ..whole.clone() },
                );
                check(
                    &fixture,
                    &reader,
                    &["--first-parent", &range],
                    &LogQuery { first_parent: true, ..whole.clone() },
                );
                for name in ["d0", "d1/f1.txt", "docs", "topic.txt"] {
                    check(
                        &fixture,
                        &reader,
                        &[&range, "--", name],
                        &LogQuery { path: path(name), ..whole.clone() },
                    );
                }
            }
        }
    }
}

#[test]
fn a_file_is_followed_through_its_names() {
    for fixture in told().into_iter().chain(chanced()) {
        let reader = fixture.reader();
        let whole = LogQuery { follow: true, ..LogQuery::of(fixture.id("main")) };
        for name in fixture.lines(&["ls-tree", "-r", "--name-only", "main"]) {
            if TreePath::new(&name).is_err() || name.starts_with('"') || name.contains('\u{fffd}') {
                continue;
            }
            let one = LogQuery { path: path(&name), ..whole.clone() };
            check(&fixture, &reader, &["--follow", "main", "--", &name], &one);
            let first = LogQuery { first_parent: true, ..one.clone() };
            check(&fixture, &reader, &["--follow", "--first-parent", "main", "--", &name], &first);
        }
        let folder = LogQuery { path: path("docs"), ..whole.clone() };
        check(&fixture, &reader, &["main", "--", "docs"], &folder);
    }
}

#[test]
fn the_last_commit_of_a_path_is_the_first_of_its_log() {
    for fixture in told() {
        let reader = fixture.reader();
        let main = fixture.id("main");
        for name in ["docs", "lib/program.c", "docs/b.txt", "none"] {
            let expected = fixture.lines(&["log", "-1", "--format=%H", "main", "--", name]);
            let found = reader.last_commit(main, &path(name).unwrap(), Deadline::NEVER).unwrap();
            assert_eq!(found.map(|id| id.to_string()), expected.into_iter().next(), "{name}");
        }
    }
}

#[test]
fn pages_join_without_gap_or_repetition() {
    let fixture = Fixture::random(9, 90);
    let reader = fixture.reader();
    let whole = LogQuery::of(fixture.id("main"));
    let all = reader.log_ids(&whole, Deadline::NEVER).unwrap();

    let pages = (0..=all.len() / 7).flat_map(|page| {
        let query = LogQuery { skip: page * 7, take: 7, ..whole.clone() };
        reader.log_ids(&query, Deadline::NEVER).unwrap()
    });

    assert_eq!(pages.collect::<Vec<_>>(), all);
}

#[test]
fn a_walk_stops_when_its_time_is_over() {
    let fixture = Fixture::new();
    let over = Deadline::after(std::time::Duration::ZERO);

    let found = fixture.reader().log_ids(&LogQuery::of(fixture.id("main")), over);

    assert!(matches!(found, Err(GitError::Timeout)));
}

#[test]
fn nothing_is_kept_around_in_the_log_of_all_refs() {
    let fixture = Fixture::empty();

    let found = fixture.reader().log_ids(&LogQuery::new(Tips::AllRefs), Deadline::NEVER).unwrap();

    assert!(found.is_empty());
}
