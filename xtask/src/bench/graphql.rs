//! The run over GraphQL: one query where clients need many calls, the largest one that is allowed, and texts that want
//! to do harm.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{
    cases::{CONSTANT, Case},
    people::{id, post},
    report::{Report, megabytes},
    wrk::{Generator, Measurement},
};
use crate::{
    client::Client,
    server::{Installation, resident},
};

const ENDPOINT: &str = "/api/graphql";
const ISSUES: usize = 100;
const PIPELINE: &str = "build:\n  script: make\ntest:\n  script: make test\n";
/// What the query of an issue board asks for.
const BOARD: &str = "{ project(fullPath: \"root/board\") { id name fullPath webUrl \
    pipelines(first: 1) { nodes { id iid status ref } } \
    issues(first: 20) { count nodes { id iid title state webUrl \
    labels(first: 10) { nodes { title color } } assignees(first: 10) { nodes { username name avatarUrl } } } \
    pageInfo { endCursor hasNextPage } } } }";
/// Two pages of a hundred issues with all that belongs to them: nearly as much as anybody may ask for at once.
const LARGEST: &str = "{ project(fullPath: \"root/board\") { \
    newest: issues(first: 100) { ...page } oldest: issues(first: 100, sort: CREATED_ASC) { ...page } } \
    queryComplexity { score limit } } \
    fragment page on IssueConnection { count nodes { \
    id iid title description descriptionHtml state webUrl createdAt updatedAt closedAt dueDate confidential \
    upvotes downvotes userNotesCount relativePosition severity type \
    author { id username name webUrl avatarUrl } milestone { id title state dueDate } \
    taskCompletionStatus { count completedCount } userPermissions { readIssue updateIssue } \
    labels(first: 10) { nodes { id title color description } } \
    assignees(first: 10) { nodes { id username name } } \
    notes(first: 10) { nodes { id body createdAt system author { username } } } \
    } pageInfo { endCursor hasNextPage } }";
/// How long the text of a query may be.
const LONGEST: usize = 10_000;
/// The names of cases that goals speak of.
const BOARD_CASE: &str = "project with 20 issues";
const LARGEST_CASE: &str = "largest query";
const HOSTILE: &str = "hostile: ";
/// Goals: answers a second, and milliseconds of nine answers in ten.
const BOARD_RATE: f64 = 1_000.0;
const BOARD_P90: f64 = 20.0;
const LARGEST_P90: f64 = 100.0;
const HOSTILE_P90: f64 = 10.0;
/// Goal: so many MiB the server's own memory may grow by during the run.
const GROWTH: f64 = 256.0;

pub(super) struct Run<'a> {
    pub(super) installation: Installation,
    pub(super) generator: &'a Generator,
    pub(super) only: Option<&'a str>,
}

impl Run<'_> {
    pub(super) fn report(&self, database: &'static str) -> Result<Report> {
        let server = self.installation.start()?;
        let client = self.installation.client();
        fill(&client)?;
        let score = data_of(&client, LARGEST)?["queryComplexity"].clone();
        data_of(&client, BOARD)?;
        let before = resident(server.id())?.1;
        let mut notes = vec![
            ("cost of the largest query", format!("{} of {}", score["score"], score["limit"])),
            ("resident before the run", megabytes(&server)?),
        ];
        let mut cases = Vec::new();
        for case in cases_of(&hostile()) {
            let is_wanted = self.only.is_none_or(|only| case.name.contains(only));
            if case.name == CONSTANT || is_wanted {
                cases.push((case.name, self.measured(&case)?));
            }
        }
        notes.push(("resident after the run", megabytes(&server)?));
        notes.extend(goals(&cases, resident(server.id())?.1 - before));
        for (what, verdict) in &notes {
            println!("{what}: {verdict}");
        }
        server.stop()?;
        Ok(Report { database, cases, transport: Vec::new(), compared: Vec::new(), notes })
    }

    fn measured(&self, case: &Case) -> Result<Measurement> {
        let generator = self.generator.with_connections(case.connections);
        let figures = generator.measure(&self.installation.root(), &case.requests)?;
        println!(
            "{}: {:.0} a second, p90 {:.1} ms, {} failed",
            case.name, figures.per_second, figures.p90, figures.failed
        );
        Ok(figures)
    }
}

/// Whether each goal is met, as far as its case was measured.
fn goals(cases: &[(&'static str, Measurement)], growth: f64) -> Vec<(&'static str, String)> {
    let of = |start: &'static str| cases.iter().filter(move |(name, _)| name.starts_with(start));
    let slowest = |start| of(start).map(|(_, case)| case.p90).reduce(f64::max);
    let mut goals = Vec::new();
    if let Some((_, board)) = of(BOARD_CASE).next() {
        let rate = format!("{:.0} a second of {BOARD_RATE}", board.per_second);
        goals.push(("goal: rate of the board", verdict(board.per_second >= BOARD_RATE, &rate)));
        let p90 = format!("p90 {:.1} ms of {BOARD_P90}", board.p90);
        goals.push(("goal: delay of the board", verdict(board.p90 <= BOARD_P90, &p90)));
    }
    for (goal, start, most) in [
        ("goal: largest query", LARGEST_CASE, LARGEST_P90),
        ("goal: hostile queries", HOSTILE, HOSTILE_P90),
    ] {
        if let Some(p90) = slowest(start) {
            goals.push((goal, verdict(p90 <= most, &format!("p90 {p90:.1} ms of {most}"))));
        }
    }
    let memory = format!("{growth:.1} MiB more of {GROWTH}");
    goals.push(("goal: memory", verdict(growth <= GROWTH, &memory)));
    goals
}

fn verdict(is_met: bool, figures: &str) -> String {
    format!("{}: {figures}", if is_met { "met" } else { "MISSED" })
}

fn cases_of(hostile: &[(&'static str, String)]) -> Vec<Case> {
    // One connection at a time, where the time of one answer counts.
    let alone = |name, query: &str| Case { connections: Some(1), ..case(name, query) };
    let constant = vec!["GET /-/liveness".to_owned()];
    let mut cases = vec![
        Case { name: CONSTANT, requests: constant, connections: None },
        case(BOARD_CASE, BOARD),
        alone(LARGEST_CASE, LARGEST),
    ];
    cases.extend(hostile.iter().map(|(name, query)| alone(*name, query)));
    cases
}

fn case(name: &'static str, query: &str) -> Case {
    let body = json!({ "query": query });
    Case { name, requests: vec![format!("POST {ENDPOINT} {body}")], connections: None }
}

/// Texts of the greatest length, each hard for another part of the reader.
fn hostile() -> Vec<(&'static str, String)> {
    let repeated = |start: &str, part: &dyn Fn(usize) -> String, end: &str| {
        let mut text = start.to_owned();
        for number in 0.. {
            let next = part(number);
            if text.len() + next.len() + end.len() > LONGEST {
                break;
            }
            text.push_str(&next);
        }
        text.push_str(end);
        text
    };
    vec![
        ("hostile: aliases", repeated("{", &|n| format!("a{n}:__typename "), "}")),
        ("hostile: unknown fields", repeated("{", &|n| format!("x{n} "), "}")),
        (
            "hostile: fragments in fragments",
            repeated(
                "{...f0}",
                &|n| format!("fragment f{n} on Query{{...f{0} ...f{0}}}", n + 1),
                "",
            ),
        ),
        (
            "hostile: the same fragment again",
            repeated(
                "{",
                &|_| "...f ".to_owned(),
                "} fragment f on Query{a:__typename b:__typename}",
            ),
        ),
        ("hostile: variables", repeated("query q(", &|n| format!("$a{n}:Int "), "){__typename}")),
        (
            "hostile: nested fields",
            repeated("{", &|_| "project(fullPath:\"a\"){group{".to_owned(), ""),
        ),
        ("hostile: a long list", repeated("{projects(ids:[", &|_| "1 ".to_owned(), "]){count}}")),
    ]
}

fn fill(client: &Client) -> Result<()> {
    let project = id(&post(client, "/projects", &json!({ "name": "board" }))?)?;
    let at = |rest: &str| format!("/projects/{project}/{rest}");
    let action = json!({ "action": "create", "file_path": ".gitlab-ci.yml", "content": PIPELINE });
    let commit = json!({ "branch": "main", "commit_message": "Build", "actions": [action] });
    post(client, &at("repository/commits"), &commit)?;
    for number in 0..5 {
        let label = json!({ "name": format!("label {number}"), "color": "#aabbcc" });
        post(client, &at("labels"), &label)?;
    }
    let milestone = id(&post(client, &at("milestones"), &json!({ "title": "1.0" }))?)?;
    let assignee = post(
        client,
        "/users",
        &json!({
            "username": "worker", "name": "Worker", "email": "worker@example.org",
            "force_random_password": true, "skip_confirmation": true,
        }),
    )?;
    let assignee = id(&assignee)?;
    post(client, &at("members"), &json!({ "user_id": assignee, "access_level": 30 }))?;
    for number in 0..ISSUES {
        let issue = json!({
            "title": format!("Issue {number}"), "description": "A **text** with #1 and @root.",
            "labels": format!("label {},label {}", number % 5, (number + 1) % 5),
            "assignee_ids": [assignee], "milestone_id": milestone,
        });
        let issue = post(client, &at("issues"), &issue)?["iid"].clone();
        post(client, &at(&format!("issues/{issue}/notes")), &json!({ "body": "Seen." }))?;
    }
    Ok(())
}

/// The data of an answer without errors.
fn data_of(client: &Client, query: &str) -> Result<Value> {
    let answer = client.post_page(ENDPOINT, &json!({ "query": query }))?.json()?;
    ensure!(answer.get("errors").is_none(), "{}", answer["errors"]);
    Ok(answer.get("data").context("an answer without data")?.clone())
}
