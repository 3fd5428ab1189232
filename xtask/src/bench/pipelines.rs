//! The run over pipelines: very many of one project in lists, and large ones that are made and go on.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::{
    cases::{CONSTANT, Case, case},
    deployment_goals::goals,
    people::{id, post},
    pipeline_seed::{self, JOBS, Size, Template},
    report::{Report, milliseconds},
    runners::take,
    transport::Timing,
    wrk::{Generator, Measurement},
};
use crate::{client::Client, runner::Runner, server::Installation};

/// Jobs of a large pipeline.
const LARGE: usize = 500;
/// Large pipelines that are made, and jobs of one of them that end.
const MADE: usize = 20;
const ENDED: usize = 100;
/// What making a large pipeline and ending one of its jobs may take, in milliseconds.
const LARGE_GOALS: [(&str, f64); 2] =
    [("making a large pipeline", 100.0), ("ending one of its jobs", 10.0)];
/// Commits that the copied pipelines are of.
const COMMITS: usize = 50;

pub(super) struct Run<'a> {
    pub(super) installation: Installation,
    pub(super) generator: &'a Generator,
    pub(super) size: Size,
    pub(super) only: Option<&'a str>,
}

impl Run<'_> {
    pub(super) fn report(&self, database: &'static str) -> Result<Report> {
        let server = self.installation.start()?;
        let client = self.installation.client();
        let from = template(&client)?;
        server.stop()?;
        let begun = Instant::now();
        let address = self.installation.database_address();
        let before = pipeline_seed::fill(&address, &from, self.size)?;
        let mut notes = vec![
            ("pipelines", self.size.pipelines.to_string()),
            ("jobs", (self.size.pipelines * JOBS).to_string()),
            ("filled in", milliseconds(begun.elapsed())),
        ];
        println!("filled in {}", milliseconds(begun.elapsed()));
        let server = self.installation.start()?;
        let mut cases = vec![self.measured(CONSTANT, &["GET /-/liveness".to_owned()])?];
        for wanted in lists(&from, before, self.size) {
            if self.only.is_none_or(|only| wanted.name.contains(only)) {
                cases.push(self.measured(wanted.name, &wanted.requests)?);
            }
        }
        let transport = match self.only {
            None => large(&self.installation)?,
            Some(_) => Vec::new(),
        };
        server.stop()?;
        notes.extend(goals(database, &cases));
        notes.extend(transport.iter().zip(LARGE_GOALS).map(large_goal));
        Ok(Report { database, cases, transport, compared: Vec::new(), notes })
    }

    fn measured(
        &self,
        name: &'static str,
        requests: &[String],
    ) -> Result<(&'static str, Measurement)> {
        let figures = self.generator.measure(&self.installation.root(), requests)?;
        println!(
            "{name}: {:.0} a second, p90 {:.1} ms, {} failed",
            figures.per_second, figures.p90, figures.failed
        );
        Ok((name, figures))
    }
}

/// A project with a pipeline that is copied, and commits without one.
pub(super) fn template(client: &Client) -> Result<Template> {
    let project = project(client, "pipelines")?;
    let jobs = usize::try_from(JOBS)?;
    let mut shas = vec![commit(client, project, "First", &jobs_of(jobs))?];
    for n in 1..COMMITS {
        shas.push(commit(
            client,
            project,
            &format!("Change {n} [skip ci]"),
            &format!("{}# {n}\n", jobs_of(jobs)),
        )?);
    }
    let made = client.get(&format!("/projects/{project}/pipelines?sha={}", shas[0]))?.json()?;
    let pipeline = made[0]["id"].as_i64().context("the first commit has no pipeline")?;
    Ok(Template { project, pipeline, shas })
}

fn project(client: &Client, name: &str) -> Result<i64> {
    id(&post(client, "/projects", &json!({ "name": name, "default_branch": "main" }))?)
}

/// A configuration of so many jobs in five stages.
fn jobs_of(count: usize) -> String {
    let stages = "stages: [s0, s1, s2, s3, s4]\n".to_owned();
    let job = |n: usize| {
        format!("job-{n}: {{stage: s{}, script: [make {n}], tags: [linux]}}\n", n * 5 / count)
    };
    stages + &(0..count).map(job).collect::<String>()
}

fn commit(client: &Client, project: i64, message: &str, text: &str) -> Result<String> {
    let there =
        client.get(&format!("/projects/{project}/repository/files/.gitlab-ci.yml?ref=main"))?;
    let action = if there.is_success() { "update" } else { "create" };
    let actions = json!([{ "action": action, "file_path": ".gitlab-ci.yml", "content": text }]);
    let body = json!({ "branch": "main", "commit_message": message, "actions": actions });
    let made = post(client, &format!("/projects/{project}/repository/commits"), &body)?;
    made["id"].as_str().map(str::to_owned).with_context(|| format!("no commit: {made}"))
}

fn lists(from: &Template, before: (i64, i64), size: Size) -> Vec<Case> {
    let own = format!("/projects/{}", from.project);
    let some = || (1..=200).map(|n| n * 7_919 % size.pipelines);
    let jobs = size.pipelines * JOBS;
    let older = |n: i64| before.1 + 1 + n * JOBS % jobs;
    let list = |name, query: &str| case(name, [format!("{own}/pipelines{query}")]);
    let mut cases = vec![
        case("jobs of a project", [format!("{own}/jobs")]),
        case("jobs of a project, failed", [format!("{own}/jobs?scope=failed")]),
        case("jobs of a project, succeeded", [format!("{own}/jobs?scope=success")]),
        case("jobs of a project, running", [format!("{own}/jobs?scope=running")]),
        case(
            "jobs of a project, two statuses",
            [format!("{own}/jobs?scope[]=failed&scope[]=canceled")],
        ),
        case("jobs of a project, page 100", [format!("{own}/jobs?page=100")]),
        case(
            "jobs of a project, keyset",
            some().map(|n| format!("{own}/jobs?pagination=keyset&id_before={}", older(n) + 100)),
        ),
        case("one job", some().map(|n| format!("{own}/jobs/{}", older(n)))),
        case(
            "jobs of a pipeline",
            some().map(|n| format!("{own}/pipelines/{}/jobs", before.0 + 1 + n)),
        ),
        case(
            "jobs of a pipeline, failed",
            some().map(|n| format!("{own}/pipelines/{}/jobs?scope=failed", before.0 + 1 + n)),
        ),
        case(
            "bridges of a pipeline",
            some().map(|n| format!("{own}/pipelines/{}/bridges", before.0 + 1 + n)),
        ),
        case("one pipeline", some().map(|n| format!("{own}/pipelines/{}", before.0 + 1 + n))),
        list("latest pipeline", "/latest"),
        case(
            "pipelines of a branch",
            some().map(|n| format!("{own}/pipelines?ref=branch-{}", n % 1_000)),
        ),
        case(
            "pipelines of a commit",
            from.shas.iter().map(|sha| format!("{own}/pipelines?sha={sha}")),
        ),
        case(
            "statuses of a commit",
            from.shas.iter().map(|sha| format!("{own}/repository/commits/{sha}/statuses")),
        ),
    ];
    cases.extend(PIPELINES.map(|(name, query)| list(name, query)));
    cases
}

/// Lists of pipelines with each filter, in each order, and with a filter in an order that its index does not have.
const PIPELINES: [(&str, &str); 19] = [
    ("pipelines of a project", ""),
    ("pipelines of a project, page 100", "?page=100"),
    ("pipelines of a project, failed", "?status=failed"),
    ("pipelines of a project, running", "?status=running"),
    ("pipelines of a project, finished", "?scope=finished"),
    ("pipelines of a project, branches", "?scope=branches"),
    ("pipelines of a project, pushed", "?source=push"),
    ("pipelines of a project, children", "?source=parent_pipeline"),
    ("pipelines of main", "?ref=main"),
    ("pipelines of a person", "?username=root"),
    ("pipelines with errors", "?yaml_errors=true"),
    ("pipelines without errors", "?yaml_errors=false"),
    ("pipelines of a time", "?updated_after=2020-01-01&updated_before=2100-01-01"),
    ("pipelines by status", "?order_by=status"),
    ("pipelines by ref", "?order_by=ref"),
    ("pipelines by time", "?order_by=updated_at"),
    ("pipelines by person", "?order_by=user_id"),
    ("failed pipelines by time", "?status=failed&order_by=updated_at"),
    ("failed pipelines of main by ref", "?status=failed&ref=main&order_by=ref&sort=asc"),
];

/// The median beside its goal.
fn large_goal((timing, (what, most)): (&Timing, (&'static str, f64))) -> (&'static str, String) {
    let median = timing.median() * 1_000.0;
    let verdict = if median <= most { "met" } else { "missed" };
    let told = format!("{median:.1} ms (at most {most:.0} ms: {verdict})");
    println!("{what}: {told}");
    (what, told)
}

/// How long a pipeline of 500 jobs takes to be made, and to go on when a runner ends one of its jobs.
fn large(installation: &Installation) -> Result<Vec<Timing>> {
    let client = &installation.client();
    let project = project(client, "large-pipelines")?;
    commit(client, project, "First [skip ci]", &jobs_of(LARGE))?;
    let address = format!("/projects/{project}/pipeline");
    let mut made = Vec::new();
    for _ in 0..MADE {
        let begun = Instant::now();
        let new = post(client, &address, &json!({ "ref": "main" }))?;
        made.push(begun.elapsed().as_secs_f64());
        ensure!(new["status"] == "pending", "no pipeline: {new}");
    }
    let fields = json!({
        "runner_type": "project_type", "project_id": project, "tag_list": ["linux"],
    });
    let runner = Runner::create(client, &installation.root(), &fields, "large")?;
    let mut ended = Vec::new();
    for _ in 0..ENDED {
        let job = take(&runner)?;
        let begun = Instant::now();
        let done = job.succeed(0)?;
        ended.push(begun.elapsed().as_secs_f64());
        done.ensure(200, "the end of a job")?;
    }
    Ok(vec![
        Timing { what: format!("make a pipeline of {LARGE} jobs"), seconds: made },
        Timing { what: format!("end one of {LARGE} jobs"), seconds: ended },
    ])
}
