//! Holds the API's answers about a repository against what the git command line says about it.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{history::History, wrk::encoded};
use crate::client::Client;

/// One line of the table.
pub(super) struct ComparisonLine {
    pub(super) what: &'static str,
    pub(super) count: usize,
    pub(super) differences: Vec<String>,
}

/// The project whose repository is a copy of `history`.
struct Subject<'a> {
    client: &'a Client,
    base: String,
    history: &'a History,
    branch: String,
    /// Commits over the whole history.
    sample: Vec<String>,
}

type Check = fn(&Subject<'_>) -> Result<(usize, Vec<String>)>;

const CHECKS: &[(&str, Check)] = &[
    ("branches and their commits", branches),
    ("tags and their commits", tags),
    ("commit list: pages 1, 2, 50", pages),
    ("commit list: since and until", since_until),
    ("commit list: first parents", first_parents),
    ("commit list: topological order", topological),
    ("commit list: ranges between tags", ranges),
    ("commit list: path", path_history),
    ("commits: parents, people, message", details),
    ("commits: lines added and removed", stats),
    ("commits: changed files", changed_files),
    ("commits: tags that contain them", containing),
    ("commits: place in the history", sequence),
    ("files: blob, size, last commit", files),
    ("files: bytes", bytes),
    ("blame: commit of each line", blame),
    ("tree: entries of folders", trees),
    ("compare: commits and files", compare),
    ("merge base", merge_bases),
];

pub(super) fn compare_all(
    client: &Client,
    project: i64,
    history: &History,
    sample: usize,
) -> Vec<ComparisonLine> {
    let subject = Subject {
        client,
        base: format!("/projects/{project}/repository"),
        history,
        branch: history.branch.clone(),
        sample: history.commits(sample).unwrap_or_default(),
    };
    let run = |(what, check): &(&'static str, Check)| match check(&subject) {
        Ok((count, differences)) => ComparisonLine { what, count, differences },
        Err(error) => ComparisonLine { what, count: 0, differences: vec![format!("{error:#}")] },
    };
    CHECKS.iter().map(run).collect()
}

impl Subject<'_> {
    fn get(&self, path: &str) -> Result<Value> {
        self.client.get(&format!("{}{path}", self.base))?.json()
    }

    /// All records of a list, page by page.
    fn all(&self, path: &str) -> Result<Vec<Value>> {
        let (mut found, joint) = (Vec::new(), if path.contains('?') { '&' } else { '?' });
        for page in 1.. {
            let records = self.get(&format!("{path}{joint}per_page=100&page={page}"))?;
            let records = records.as_array().context("no list")?;
            found.extend(records.iter().cloned());
            if records.len() < 100 {
                break;
            }
        }
        Ok(found)
    }

    fn file(&self, path: &str, what: &str) -> String {
        format!("/files/{}{what}?ref={}", encoded(path), encoded(&self.branch))
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<String>> {
        self.history.lines(arguments)
    }
}

/// Counts what both lists hold and tells where they part.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, api: &[T], git: &[T]) -> (usize, Vec<String>) {
    let mut differences = Vec::new();
    if api.len() != git.len() {
        differences.push(format!("{what}: the API tells {}, git {}", api.len(), git.len()));
    }
    if let Some((place, (left, right))) =
        api.iter().zip(git).enumerate().find(|(_, (left, right))| left != right)
    {
        differences.push(format!("{what}: at {place} the API tells {left:?}, git {right:?}"));
    }
    (git.len(), differences)
}

/// Adds up the outcome of several comparisons.
fn sum(
    parts: impl IntoIterator<Item = Result<(usize, Vec<String>)>>,
) -> Result<(usize, Vec<String>)> {
    let (mut count, mut differences) = (0, Vec::new());
    for part in parts {
        let (more, found) = part?;
        count += more;
        differences.extend(found);
    }
    Ok((count, differences))
}

fn text(record: &Value, field: &str) -> String {
    record[field].as_str().unwrap_or_default().to_owned()
}

fn ids(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|commit| text(commit, "id")).collect()
}

fn branches(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    let listed = subject.all("/branches")?;
    let api = listed
        .iter()
        .map(|branch| format!("{} {}", text(branch, "name"), text(&branch["commit"], "id")));
    let git = subject.git(&[
        "for-each-ref",
        "--format=%(refname:lstrip=2) %(objectname)",
        "refs/heads",
    ])?;
    Ok(same("branches", &api.collect::<Vec<_>>(), &git))
}

fn tags(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    let listed = subject.all("/tags?order_by=name&sort=asc")?;
    let mut api = listed
        .iter()
        .map(|tag| {
            format!("{} {} {}", text(tag, "name"), text(tag, "target"), text(&tag["commit"], "id"))
        })
        .collect::<Vec<_>>();
    let format = "--format=%(refname:lstrip=2) %(objectname) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)";
    let mut git = subject.git(&["for-each-ref", format, "refs/tags"])?;
    // A tag of a tree or a blob has no commit to show.
    let kinds = subject.git(&[
        "for-each-ref",
        "--format=%(refname:lstrip=2) %(objecttype) %(*objecttype)",
        "refs/tags",
    ])?;
    let odd = kinds
        .iter()
        .filter(|line| !line.contains("commit"))
        .filter_map(|line| line.split(' ').next());
    let odd = odd.collect::<Vec<_>>();
    let kept = |line: &String| !odd.contains(&line.split(' ').next().unwrap_or_default());
    api.retain(kept);
    git.retain(kept);
    api.sort();
    git.sort();
    Ok(same("tags", &api, &git))
}

fn log(subject: &Subject<'_>, query: &str, arguments: &[&str]) -> Result<(usize, Vec<String>)> {
    let api = ids(&subject.get(&format!("/commits?{query}"))?);
    Ok(same(query, &api, &subject.git(&[&["log", "--format=%H"], arguments].concat())?))
}

fn pages(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    let page = |page: usize| {
        let skip = format!("--skip={}", (page - 1) * 20);
        log(subject, &format!("page={page}&per_page=20"), &["-n", "20", &skip, &subject.branch])
    };
    sum([page(1), page(2), page(50)])
}

fn since_until(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    let middle = subject.sample.get(subject.sample.len() / 2).context("no commits")?;
    let until: i64 = subject.history.line(&["log", "-n", "1", "--format=%ct", middle])?.parse()?;
    let since = until - 60 * 24 * 3_600;
    let moment = |seconds: i64| {
        time::OffsetDateTime::from_unix_timestamp(seconds)
            .map(|at| at.format(&time::format_description::well_known::Rfc3339))
    };
    let (from, to) = (moment(since)??, moment(until)??);
    let query = format!("since={}&until={}&per_page=100", encoded(&from), encoded(&to));
    let (since, until) = (format!("--since=@{since}"), format!("--until=@{until}"));
    log(subject, &query, &["-n", "100", &since, &until, &subject.branch])
}

fn first_parents(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    log(
        subject,
        "first_parent=true&per_page=100",
        &["-n", "100", "--first-parent", &subject.branch],
    )
}

fn topological(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    log(subject, "order=topo&per_page=100", &["-n", "100", "--topo-order", &subject.branch])
}

/// Names of tags on commits, oldest first.
fn releases(subject: &Subject<'_>, count: usize) -> Result<Vec<String>> {
    let format = "--format=%(refname:lstrip=2) %(objecttype)%(*objecttype)";
    let tags = subject.git(&[
        "for-each-ref",
        "--sort=creatordate",
        "--merged",
        &subject.branch,
        format,
        "refs/tags",
    ])?;
    let names = tags
        .iter()
        .filter(|line| line.contains("commit"))
        .filter_map(|line| line.split(' ').next());
    let names = names.map(str::to_owned).collect::<Vec<_>>();
    let step = (names.len() / count.max(1)).max(1);
    Ok(names.into_iter().step_by(step).collect())
}

/// The order of commits made in the same second is nobody's promise in a range; the set is.
fn ranges(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    let releases = releases(subject, 8)?;
    sum(releases.windows(2).map(|pair| {
        let range = format!("{}..{}", pair[0], pair[1]);
        let listed = subject.all(&format!("/commits?ref_name={}", encoded(&range)))?;
        let mut api = listed.iter().map(|commit| text(commit, "id")).collect::<Vec<_>>();
        let mut git = subject.git(&["rev-list", &range])?;
        api.sort();
        git.sort();
        Ok(same(&range, &api, &git))
    }))
}

fn path_history(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    let mut paths = subject.history.hot_files(5)?;
    paths.extend(subject.history.files(5)?);
    sum(paths.iter().map(|path| {
        log(
            subject,
            &format!("path={}", encoded(path)),
            &["-n", "20", "--follow", &subject.branch, "--", path],
        )
    }))
}

fn details(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    sum(subject.sample.iter().map(|sha| {
        let commit = subject.get(&format!("/commits/{sha}"))?;
        let parents = commit["parent_ids"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>();
        let people = ["author_name", "author_email", "committer_name", "committer_email"]
            .map(|field| text(&commit, field));
        let message = text(&commit, "message").trim_end().to_owned();
        let api =
            [vec![text(&commit, "id"), parents.join(" ")], people.to_vec(), vec![message]].concat();
        let format = "--format=%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%B";
        let told = subject.history.text(&["log", "-n", "1", "--encoding=UTF-8", format, sha])?;
        let git =
            told.trim_end().split('\0').map(|part| part.trim_end().to_owned()).collect::<Vec<_>>();
        Ok(same(sha, &api, &git))
    }))
}

/// What a commit changed since its first parent, or since nothing.
fn first_parent_diff(subject: &Subject<'_>, sha: &str, form: &str) -> Result<Vec<String>> {
    let parents = subject.history.line(&["log", "-n", "1", "--format=%P", sha])?;
    match parents.split_whitespace().next() {
        Some(first) => subject.git(&["diff-tree", "-r", "-M", form, first, sha]),
        None => subject.git(&["diff-tree", "-r", "-M", "--root", "--no-commit-id", form, sha]),
    }
}

fn stats(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    sum(subject.sample.iter().map(|sha| {
        let stats = subject.get(&format!("/commits/{sha}"))?["stats"].clone();
        let api = [stats["additions"].as_u64(), stats["deletions"].as_u64()]
            .map(Option::unwrap_or_default);
        let lines = first_parent_diff(subject, sha, "--numstat")?;
        let mut git = [0, 0];
        for line in &lines {
            for (place, number) in line.split('\t').take(2).enumerate() {
                git[place] += number.parse().unwrap_or(0);
            }
        }
        Ok(same(sha, &[api], &[git]))
    }))
}

/// `status old new` of a change, as `--name-status` has it.
fn change(diff: &Value) -> String {
    let (old, new) = (text(diff, "old_path"), text(diff, "new_path"));
    match [&diff["new_file"], &diff["deleted_file"], &diff["renamed_file"]].map(|flag| flag == true)
    {
        [true, _, _] => format!("A {new}"),
        [_, true, _] => format!("D {old}"),
        [_, _, true] => format!("R {old} {new}"),
        _ => format!("M {new}"),
    }
}

fn name_status(lines: &[String]) -> Vec<String> {
    let mut changes = lines
        .iter()
        .map(|line| {
            let (status, paths) = line.split_once('\t').unwrap_or_default();
            let status = if status == "T" { "M" } else { &status[..1] };
            format!("{status} {}", paths.replace('\t', " "))
        })
        .collect::<Vec<_>>();
    changes.sort();
    changes
}

fn changed_files(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    sum(subject.sample.iter().map(|sha| {
        let listed = subject.all(&format!("/commits/{sha}/diff"))?;
        let mut api = listed.iter().map(change).collect::<Vec<_>>();
        api.sort();
        let lines = first_parent_diff(subject, sha, "--name-status")?;
        Ok(same(sha, &api, &name_status(&lines)))
    }))
}

fn containing(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    sum(subject.sample.iter().step_by(subject.sample.len() / 5 + 1).map(|sha| {
        let listed = subject.all(&format!("/commits/{sha}/refs?type=tag"))?;
        let mut api = listed.iter().map(|tag| text(tag, "name")).collect::<Vec<_>>();
        let mut git = subject.git(&["tag", "--contains", sha])?;
        api.sort();
        git.sort();
        Ok(same(sha, &api, &git))
    }))
}

fn sequence(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    sum(subject.sample.iter().take(10).map(|sha| {
        let api = subject.get(&format!("/commits/{sha}/sequence"))?["count"].to_string();
        Ok(same(sha, &[api], &[subject.history.line(&["rev-list", "--count", sha])?]))
    }))
}

fn files(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    sum(subject.history.files(30)?.iter().map(|path| {
        let file = subject.get(&subject.file(path, ""))?;
        let api = [text(&file, "blob_id"), file["size"].to_string(), text(&file, "last_commit_id")];
        let object = format!("{}:{path}", subject.branch);
        let git = [
            subject.history.line(&["rev-parse", &object])?,
            subject.history.line(&["cat-file", "-s", &object])?,
            subject.history.line(&["rev-list", "-n", "1", &subject.branch, "--", path])?,
        ];
        Ok(same(path, &api, &git))
    }))
}

fn bytes(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    sum(subject.history.files(30)?.iter().map(|path| {
        let answer =
            subject.client.get(&format!("{}{}", subject.base, subject.file(path, "/raw")))?;
        let git =
            subject.history.bytes(&["cat-file", "blob", &format!("{}:{path}", subject.branch)])?;
        let differing = answer.status != 200 || answer.body != git;
        Ok((
            1,
            if differing {
                vec![format!("{path}: other bytes ({})", answer.status)]
            } else {
                Vec::new()
            },
        ))
    }))
}

fn blame(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    sum(subject.history.hot_files(2)?.iter().map(|path| {
        let parts = subject.get(&subject.file(path, "/blame"))?;
        let mut api = Vec::new();
        for part in parts.as_array().into_iter().flatten() {
            let lines = part["lines"].as_array().map_or(0, Vec::len);
            api.extend(std::iter::repeat_n(text(&part["commit"], "id"), lines));
        }
        let told = subject.git(&["blame", "-s", "-l", "--root", &subject.branch, "--", path])?;
        let git = told.iter().map(|line| line[..40].to_owned()).collect::<Vec<_>>();
        Ok(same(path, &api, &git))
    }))
}

fn trees(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    let mut folders = vec![String::new()];
    folders.extend(subject.history.folders()?.into_iter().take(10));
    sum(folders.iter().map(|folder| {
        let listed = subject.all(&format!("/tree?path={}", encoded(folder)))?;
        let entry = |e: &Value| {
            format!(
                "{} {} {}\t{}",
                text(e, "mode"),
                text(e, "type"),
                text(e, "id"),
                text(e, "name")
            )
        };
        let mut api = listed.iter().map(entry).collect::<Vec<_>>();
        let mut git = subject.git(&["ls-tree", &format!("{}:{folder}", subject.branch)])?;
        api.sort();
        git.sort();
        Ok(same(folder, &api, &git))
    }))
}

fn compare(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    let releases = releases(subject, 40)?;
    let pairs = releases.windows(2).step_by(10);
    sum(pairs.map(|pair| {
        let (from, to) = (&pair[0], &pair[1]);
        let compared =
            subject.get(&format!("/compare?from={}&to={}", encoded(from), encoded(to)))?;
        let (mut api, mut git) =
            (ids(&compared["commits"]), subject.git(&["rev-list", &format!("{from}..{to}")])?);
        let mut files =
            compared["diffs"].as_array().into_iter().flatten().map(change).collect::<Vec<_>>();
        files.sort();
        api.sort();
        git.sort();
        let lines = subject.git(&["diff", "--name-status", "-M", &format!("{from}...{to}")])?;
        sum([
            Ok(same(&format!("{from}...{to}"), &api, &git)),
            Ok(same(&format!("{from}...{to}"), &files, &name_status(&lines))),
        ])
    }))
}

fn merge_bases(subject: &Subject<'_>) -> Result<(usize, Vec<String>)> {
    let heads = subject.git(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"])?;
    let others = heads.iter().filter(|name| **name != subject.branch).take(5);
    sum(others.map(|other| {
        let query =
            format!("/merge_base?refs[]={}&refs[]={}", encoded(&subject.branch), encoded(other));
        let answer = subject.client.get(&format!("{}{query}", subject.base))?;
        let api = if answer.status == 404 { String::new() } else { text(&answer.json()?, "id") };
        let git = subject.history.line(&["merge-base", &subject.branch, other]).unwrap_or_default();
        Ok(same(other, &[api], &[git]))
    }))
}
