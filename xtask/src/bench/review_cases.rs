//! Issues and merge requests: their lists as different people, one of each, and what is written most.

use super::{
    cases::{Case, case},
    review_seed::{SeedIds, Size, Templates},
};

/// A case, and whose token it carries; without one the administrator's.
pub(super) struct ReviewCase {
    pub(super) case: Case,
    pub(super) token: Option<String>,
}

/// The numbers of what the requests name.
pub(super) struct Names {
    pub(super) group: i64,
    pub(super) from: Templates,
    pub(super) made: SeedIds,
    /// Within the large project.
    pub(super) long_iid: i64,
}

pub(super) fn cases(names: &Names, size: Size, plain: &str) -> Vec<ReviewCase> {
    let mut all: Vec<ReviewCase> = [issues(names, size), merge_requests(names), writes(names)]
        .into_iter()
        .flatten()
        .map(|case| ReviewCase { case, token: None })
        .collect();
    let plain = |case: Case| ReviewCase { case, token: Some(plain.to_owned()) };
    all.push(plain(case("own issues, global list", ["/issues".to_owned()])));
    all.push(plain(case("all issues, member", ["/issues?scope=all".to_owned()])));
    all
}

fn issues(names: &Names, size: Size) -> Vec<Case> {
    let (large, group) = (names.from.large, names.group);
    let some = (1..=200).map(|n| names.made.projects + 1 + n * 3 % size.projects);
    let topics = || (1..=200).map(|n| n * 17 % 5_000);
    let small = size.issues / size.projects;
    vec![
        case("issues of a project", some.clone().map(|id| format!("/projects/{id}/issues"))),
        case(
            "issues of the large project",
            [
                format!("/projects/{large}/issues"),
                format!("/projects/{large}/issues?state=opened&order_by=updated_at"),
            ],
        ),
        case(
            "issues of the large project by label",
            [format!("/projects/{large}/issues?labels=bug&state=opened")],
        ),
        case(
            "issues of the large project by assignee",
            [format!("/projects/{large}/issues?assignee_id={}", names.from.people[0])],
        ),
        case(
            "issues of the large project by milestone",
            [format!("/projects/{large}/issues?milestone=v1")],
        ),
        case("issues of a group", [format!("/groups/{group}/issues")]),
        case("issues of a group by label", [format!("/groups/{group}/issues?labels=label-1")]),
        case("all issues", ["/issues?scope=all".to_owned()]),
        case("all issues, page 100", ["/issues?scope=all&page=100".to_owned()]),
        case("issues search", topics().map(|n| format!("/issues?scope=all&search=topic-{n}"))),
        case(
            "issues search in a project",
            topics().map(|n| format!("/projects/{large}/issues?search=topic-{n}&in=title")),
        ),
        case(
            "one issue",
            some.enumerate().map(|(n, id)| {
                let n = i64::try_from(n).unwrap_or(0);
                format!("/projects/{id}/issues/{}", 120 + n % (small - 30).max(1))
            }),
        ),
        case("notes of an issue", [format!("/projects/{large}/issues/1/notes")]),
    ]
}

fn merge_requests(names: &Names) -> Vec<Case> {
    let (large, group, long) = (names.from.large, names.group, names.long_iid);
    let one = format!("/projects/{large}/merge_requests/{long}");
    vec![
        case("merge requests of a project", [format!("/projects/{large}/merge_requests")]),
        case(
            "merge requests of a project, opened",
            [format!("/projects/{large}/merge_requests?state=opened&order_by=updated_at")],
        ),
        case("merge requests of a group", [format!("/groups/{group}/merge_requests")]),
        case("all merge requests", ["/merge_requests?scope=all".to_owned()]),
        case("merge requests search", ["/merge_requests?scope=all&search=topic-77".to_owned()]),
        case("one merge request", [one.clone()]),
        case("changes of 6,000 commits", [format!("{one}/changes")]),
        case("commits of 6,000", [format!("{one}/commits"), format!("{one}/commits?page=50")]),
        case("discussions", [format!("{one}/discussions")]),
    ]
}

fn writes(names: &Names) -> Vec<Case> {
    let large = names.from.large;
    let post = |path: String, body: &str| format!("POST /api/v4{path} {body}");
    vec![
        Case {
            name: "create issue",
            requests: vec![post(format!("/projects/{large}/issues"), r#"{"title":"Issue @"}"#)],
            connections: None,
        },
        Case {
            name: "create note",
            requests: (101..200)
                .map(|iid| {
                    post(format!("/projects/{large}/issues/{iid}/notes"), r#"{"body":"Note @"}"#)
                })
                .collect(),
            connections: None,
        },
    ]
}
