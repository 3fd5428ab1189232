//! Benchmark cases: a name and its requests.

use anyhow::Result;

use super::{history::History, wrk::encoded};

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) requests: Vec<String>,
    /// Instead of the usual number.
    pub(super) connections: Option<u32>,
}

/// How many clients write plain rows at the same time.
const WRITERS: u32 = 64;

/// The projects the requests name.
pub(super) struct Projects {
    /// The first and last id of the many.
    pub(super) many: (i64, i64),
    /// The one with the large repository.
    pub(super) large: i64,
    /// Those that take commits.
    pub(super) small: Vec<i64>,
}

pub(super) const CONSTANT: &str = "constant answer";
/// As long as a project's record, and longer: what a record by its id is held against.
pub(super) const LONG_CONSTANT: &str = "constant answer of 7 kB";

pub(super) fn cases(projects: &Projects, history: &History) -> Result<Vec<Case>> {
    let mut cases = vec![
        plain(CONSTANT, vec!["GET /-/liveness".to_owned()]),
        plain(LONG_CONSTANT, vec!["GET /-/api".to_owned()]),
    ];
    cases.extend(rows(projects));
    cases.extend(histories(projects, history)?);
    cases.extend(contents(projects, history)?);
    cases.push(plain("create commit", commits(projects)));
    cases.push(Case { connections: Some(WRITERS), ..plain("star and unstar", stars(projects)) });
    Ok(cases)
}

fn plain(name: &'static str, requests: Vec<String>) -> Case {
    Case { name, requests, connections: None }
}

/// Rows and nothing else: each writes one, and changes a number in another.
fn stars(projects: &Projects) -> Vec<String> {
    let (first, last) = projects.many;
    let step = usize::try_from((last - first) / 2_000 + 1).unwrap_or(1);
    let all = |deed: &'static str| {
        (first..=last)
            .step_by(step)
            .map(move |id| format!("POST /api/v4/projects/{id}/{deed} {{}}"))
    };
    all("star").chain(all("unstar")).collect()
}

fn rows(projects: &Projects) -> Vec<Case> {
    let (first, last) = projects.many;
    let step = usize::try_from((last - first) / 500 + 1).unwrap_or(1);
    let some = (first..=last).step_by(step).collect::<Vec<_>>();
    let number = |id: &i64| id - first + 1;
    vec![
        case("version", ["/version".to_owned()]),
        case("user", ["/user".to_owned()]),
        case("project by id", some.iter().map(|id| format!("/projects/{id}"))),
        case(
            "project by path",
            some.iter().map(|id| format!("/projects/root%2Fproject-{}", number(id))),
        ),
        case(
            "projects list",
            ["/projects".to_owned(), "/projects?order_by=name&sort=asc".to_owned()],
        ),
        case("projects list, page 100", ["/projects?page=100".to_owned()]),
        case(
            "projects list, keyset",
            some.iter().map(|id| format!("/projects?pagination=keyset&order_by=id&id_before={id}")),
        ),
        case(
            "projects search",
            some.iter().map(|id| format!("/projects?search=project-{}", number(id))),
        ),
    ]
}

fn histories(projects: &Projects, history: &History) -> Result<Vec<Case>> {
    let base = format!("/projects/{}/repository", projects.large);
    let hot = history.hot_files(10)?;
    let shas = history.commits(200)?;
    let branch = encoded(&history.branch);
    let root = history.line(&["rev-list", "--max-parents=0", "--first-parent", &history.branch])?;
    Ok(vec![
        case("commits list", [format!("{base}/commits")]),
        case("commits list, page 50", (45..55).map(|page| format!("{base}/commits?page={page}"))),
        case(
            "path history",
            hot.iter().map(|path| format!("{base}/commits?path={}", encoded(path))),
        ),
        case("commit", shas.iter().map(|sha| format!("{base}/commits/{sha}"))),
        case("commit diff", shas.iter().map(|sha| format!("{base}/commits/{sha}/diff"))),
        case("branches", [format!("{base}/branches")]),
        case("tags", [format!("{base}/tags")]),
        // One client: an answer may hold every commit there is.
        Case {
            connections: Some(1),
            ..case("compare, whole history", [format!("{base}/compare?from={root}&to={branch}")])
        },
        case(
            "compare",
            (1..20)
                .map(|n| format!("{base}/compare?from={0}~{n}&to={0}", encoded(&history.branch))),
        ),
    ])
}

fn contents(projects: &Projects, history: &History) -> Result<Vec<Case>> {
    let base = format!("/projects/{}/repository", projects.large);
    let branch = encoded(&history.branch);
    let (files, hot) = (history.files(50)?, history.hot_files(5)?);
    let folders = history.folders()?;
    let file =
        |path: &String, what: &str| format!("{base}/files/{}{what}?ref={branch}", encoded(path));
    Ok(vec![
        case("file", files.iter().map(|path| file(path, ""))),
        case("raw file", files.iter().map(|path| file(path, "/raw"))),
        case("blame", hot.iter().map(|path| file(path, "/blame"))),
        case("tree", folders.iter().map(|path| format!("{base}/tree?path={}", encoded(path)))),
    ])
}

fn commits(projects: &Projects) -> Vec<String> {
    let body = r#"{"branch":"main","commit_message":"Add @","actions":[{"action":"create","file_path":"made/@.txt","content":"@"}]}"#;
    projects
        .small
        .iter()
        .map(|id| format!("POST /api/v4/projects/{id}/repository/commits {body}"))
        .collect()
}

pub(super) fn case(name: &'static str, paths: impl IntoIterator<Item = String>) -> Case {
    plain(name, paths.into_iter().map(|path| format!("GET /api/v4{path}")).collect())
}
