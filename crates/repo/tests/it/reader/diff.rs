//! Diffs, renames and numbers: the same as `git diff` and `git show --numstat`.

use std::collections::HashMap;

use bstr::{BString, ByteSlice as _};
use forgeway_repo::{
    commit::Answers,
    git::{Deadline, DiffLimits, FileDiff, FileMode, LineStats, Oid, Repositories, TreePath},
    testing::Fixture,
};

use super::{chanced, text, told};

/// `git diff --raw` rows: modes, kind of change, paths.
fn raw(files: &[FileDiff]) -> Vec<String> {
    let mode = |mode: Option<FileMode>| mode.map_or("000000", FileMode::as_str);
    let mut rows = Vec::new();
    for file in files {
        let kind = match (file.is_new(), file.is_deleted(), file.is_renamed()) {
            (true, ..) => "A",
            (_, true, _) => "D",
            (.., true) => "R",
            _ => "M",
        };
        let mut row =
            format!("{} {} {kind} {}", mode(file.old_mode), mode(file.new_mode), file.old_path);
        if file.is_renamed() {
            row = format!("{row} {}", file.new_path);
        }
        rows.push(row);
    }
    rows
}

/// The same from git; a change of kind counts as two, as in its patches.
fn expected_raw(fixture: &Fixture, arguments: &[&str]) -> Vec<String> {
    let output =
        fixture.git(&[&["diff-tree", "-r", "-M", "--no-commit-id", "-z"], arguments].concat());
    let mut fields = output.split_str("\0").map(text);
    let mut rows = Vec::new();
    while let Some(head) = fields.next().filter(|head| !head.is_empty()) {
        let head: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
        let path = fields.next().unwrap();
        let (old, new, kind) = (head[0], head[1], &head[4][..1]);
        match kind {
            "T" => {
                rows.push(format!("{old} 000000 D {path}"));
                rows.push(format!("000000 {new} A {path}"));
            }
            "R" => rows.push(format!("{old} {new} R {path} {}", fields.next().unwrap())),
            _ => rows.push(format!("{old} {new} {kind} {path}")),
        }
    }
    rows
}

/// The hunks of each file of a patch, in the order of the patch; files without a hunk as well.
fn expected_hunks(fixture: &Fixture, arguments: &[&str]) -> Vec<BString> {
    let patch = fixture.git(
        &[&["diff-tree", "-p", "-r", "-M", "--no-commit-id", "--full-index"], arguments].concat(),
    );
    let mut files: Vec<BString> = Vec::new();
    let mut inside = false;
    for line in patch.lines_with_terminator() {
        if line.starts_with(b"diff --git ") {
            files.push(BString::default());
            inside = false;
            continue;
        }
        inside |= line.starts_with(b"@@ ");
        if inside {
            files.last_mut().unwrap().extend_from_slice(line);
        }
    }
    files
}

#[track_caller]
fn check(fixture: &Fixture, from: Option<Oid>, to: Oid) {
    let from_text = from.unwrap_or(Oid::EMPTY_TREE).to_string();
    let arguments = [from_text.as_str(), &to.to_string()];
    let files = fixture.reader().diff(from, to, DiffLimits::NONE, Deadline::NEVER).unwrap();
    assert_eq!(raw(&files), expected_raw(fixture, &arguments), "{arguments:?}");
    let hunks: Vec<BString> = files.into_iter().map(|file| file.text).collect();
    assert_eq!(hunks, expected_hunks(fixture, &arguments), "{arguments:?}");
}

#[test]
fn every_commit_differs_from_its_parents_as_git_says() {
    for fixture in told().into_iter().chain(chanced()) {
        for row in fixture.lines(&["rev-list", "--all", "--parents"]) {
            let ids: Vec<Oid> = row.split(' ').map(|id| id.parse().unwrap()).collect();
            if ids.len() == 1 {
                check(&fixture, None, ids[0]);
            }
            for parent in &ids[1..] {
                check(&fixture, Some(*parent), ids[0]);
            }
        }
    }
}

#[test]
fn distant_commits_differ_as_git_says() {
    for fixture in told().into_iter().chain(chanced()) {
        let tips = fixture.lines(&["for-each-ref", "--format=%(objectname)", "refs/heads"]);
        let ids: Vec<Oid> = tips.iter().map(|id| id.parse().unwrap()).collect();
        for one in &ids {
            for other in &ids {
                check(&fixture, Some(*one), *other);
            }
        }
    }
}

/// Additions and deletions of every commit, by `git log`.
fn expected_stats(fixture: &Fixture) -> HashMap<String, LineStats> {
    let mut stats: HashMap<String, LineStats> = HashMap::new();
    let mut current = String::new();
    for line in fixture.lines(&[
        "log",
        "--all",
        "-m",
        "--first-parent",
        "--root",
        "--numstat",
        "--format=%H",
    ]) {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields.as_slice() {
            [id] if id.len() == 40 => {
                current = (*id).to_owned();
                stats.insert(current.clone(), LineStats::default());
            }
            [additions, deletions, ..] => {
                *stats.get_mut(&current).unwrap() += LineStats {
                    additions: additions.parse().unwrap_or(0),
                    deletions: deletions.parse().unwrap_or(0),
                };
            }
            _ => {}
        }
    }
    stats
}

#[test]
fn stats_are_the_numbers_of_git() {
    for fixture in told().into_iter().chain(chanced()) {
        let reader = fixture.reader();
        let expected = expected_stats(&fixture);
        let ids: Vec<Oid> = expected.keys().map(|id| id.parse().unwrap()).collect();
        let found = reader.stats_of(&ids, Deadline::NEVER).unwrap();
        for (id, stats) in ids.iter().zip(found) {
            assert_eq!(Some(&stats), expected.get(&id.to_string()), "{id}");
        }
    }
}

fn file<'a>(files: &'a [FileDiff], path: &str) -> &'a FileDiff {
    files.iter().find(|file| file.new_path == TreePath::new(path).unwrap()).unwrap()
}

#[test]
fn a_file_diff_says_what_kind_of_change_it_is() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let diff = |from: &str, to: &str| {
        reader
            .diff(Some(fixture.id(from)), fixture.id(to), DiffLimits::default(), Deadline::NEVER)
            .unwrap()
    };
    let all = diff("v0.1", "main");

    let renamed = file(&all, "lib/program.c");
    assert!(renamed.is_renamed() && !renamed.is_new() && !renamed.is_deleted());
    assert_eq!(renamed.old_path, TreePath::new("src/main.c").unwrap());
    assert_eq!((renamed.a_mode(), renamed.b_mode()), ("100644", "100644"));
    let binary = file(&all, "image.bin");
    assert!(binary.binary && binary.is_new() && binary.text.is_empty());
    assert_eq!((binary.a_mode(), binary.b_mode()), ("0", "100644"));
    let inner = file(&all, "README.md/inner.txt");
    assert!(inner.is_renamed() && inner.text.is_empty());
    assert_eq!(inner.old_path, TreePath::new("README.md").unwrap());
    let module = file(&all, "module");
    assert_eq!((module.b_mode(), module.stats.additions), ("160000", 1));
}

#[test]
fn what_is_too_much_is_left_out_and_said() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let (from, to) = (fixture.id("v0.1"), fixture.id("main"));
    let diff = |limits| reader.diff(Some(from), to, limits, Deadline::NEVER).unwrap();

    let files = diff(DiffLimits { file_bytes: 10, ..DiffLimits::NONE });
    assert!(file(&files, "lib/program.c").too_large);
    assert!(file(&files, "lib/program.c").text.is_empty());
    assert!(!file(&files, "empty").too_large);
    let files = diff(DiffLimits { patch_bytes: 60, ..DiffLimits::NONE });
    assert!(file(&files, "lib/program.c").too_large);
    let files = diff(DiffLimits { files: 2, ..DiffLimits::NONE });
    assert_eq!(files.iter().filter(|file| !file.text.is_empty()).count(), 2);
    assert!(files.last().unwrap().collapsed);
    assert_eq!(files.len(), diff(DiffLimits::NONE).len());
}

#[test]
fn readers_have_the_limits_that_repositories_are_opened_with() {
    let fixture = Fixture::new();
    let repositories = Repositories::default();
    let (base, head) = (fixture.id("v0.1"), fixture.id("main"));
    let answers = Answers::default();
    let shown = || {
        let reader = repositories.open(&fixture.path).unwrap();
        let files = answers.diff(&reader, base, head, Deadline::NEVER).unwrap();
        files.iter().filter(|file| !file.text.is_empty()).count()
    };
    let usual = DiffLimits::default();
    let same = DiffLimits::bounded(usual.files, usual.total_lines, usual.patch_bytes);
    assert_eq!(same, usual);
    let all = shown();

    repositories.limit_diffs(DiffLimits { files: 1, ..usual });

    assert!(all > 1);
    assert_eq!(shown(), 1, "an answer of other limits does not count");
    let wide = DiffLimits::bounded(3000, usual.total_lines, usual.patch_bytes);
    assert_eq!((wide.files, wide.total_bytes), (3000, 3 * usual.total_bytes));
}

#[test]
fn a_diff_that_must_fit_ends_at_its_limits() {
    let fixture = Fixture::new();
    let reader = fixture.reader();
    let (from, to) = (fixture.id("v0.1"), fixture.id("main"));
    let within = |limits| reader.diff_that_fits(Some(from), to, limits, Deadline::NEVER).unwrap();
    let whole = reader.diff(Some(from), to, DiffLimits::NONE, Deadline::NEVER).unwrap();

    assert_eq!(within(DiffLimits::NONE), (whole.clone(), false));
    for files in 0..whole.len() {
        let (shown, is_cut_short) = within(DiffLimits { files, ..DiffLimits::NONE });
        assert!(is_cut_short && shown.len() >= files.min(1), "{files}");
        assert_eq!(shown, whole[..shown.len()], "{files}");
    }
    let (shown, is_cut_short) = within(DiffLimits { total_lines: 5, ..DiffLimits::NONE });
    assert!(is_cut_short && shown.iter().map(|file| file.stats.total()).sum::<u64>() <= 5);
    let (shown, is_cut_short) = within(DiffLimits { total_bytes: 100, ..DiffLimits::NONE });
    assert!(is_cut_short && shown.iter().map(|file| file.text.len()).sum::<usize>() <= 100);
}
