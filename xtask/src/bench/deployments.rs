//! The run over deployments: very many of one project, each with its job, and the merge requests that came with them.

use std::time::Instant;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::{
    cases::{CONSTANT, Case, case},
    deployment_goals::goals,
    deployment_seed::{self, ENVIRONMENTS, FirstIds, Size, Templates, with_merge_request},
    people::{id, post},
    pipeline_seed::{self, JOBS},
    pipelines,
    report::{Report, milliseconds},
    wrk::{Generator, Measurement},
};
use crate::{client::Client, server::Installation};

pub(super) struct Run<'a> {
    pub(super) installation: Installation,
    pub(super) generator: &'a Generator,
    pub(super) size: Size,
    pub(super) only: Option<&'a str>,
}

/// What lists are asked about.
struct BenchProject {
    project: i64,
    before: FirstIds,
    size: Size,
    /// When the deployment was made that is copied.
    since: String,
}

impl Run<'_> {
    pub(super) fn report(&self, database: &'static str) -> Result<Report> {
        let server = self.installation.start()?;
        let client = self.installation.client();
        let jobs = pipelines::template(&client)?;
        let (environment, deployment, since) = deployment(&client, jobs.project)?;
        let merge_request = merge_request(&client, jobs.project)?;
        server.stop()?;
        let begun = Instant::now();
        let address = self.installation.database_address();
        let pipelines = self.size.deployments / JOBS;
        let (_, job) = pipeline_seed::fill(&address, &jobs, pipeline_seed::Size { pipelines })?;
        let from = Templates { environment, deployment, merge_request, job };
        let before = deployment_seed::fill(&address, from, self.size)?;
        let mut notes = vec![
            ("deployments", self.size.deployments.to_string()),
            ("environments", ENVIRONMENTS.to_string()),
            ("merge requests", self.size.merge_requests.to_string()),
            ("filled in", milliseconds(begun.elapsed())),
        ];
        println!("filled in {}", milliseconds(begun.elapsed()));
        let server = self.installation.start()?;
        let place = BenchProject { project: jobs.project, before, size: self.size, since };
        let mut cases = vec![self.measured(CONSTANT, &["GET /-/liveness".to_owned()])?];
        for wanted in place.lists().into_iter().chain(place.others()).chain(place.brought()) {
            if self.only.is_none_or(|only| wanted.name.contains(only)) {
                cases.push(self.measured(wanted.name, &wanted.requests)?);
            }
        }
        server.stop()?;
        notes.extend(goals(database, &cases));
        Ok(Report { database, cases, transport: Vec::new(), compared: Vec::new(), notes })
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

/// An environment and what was deployed to it, and when.
fn deployment(client: &Client, project: i64) -> Result<(i64, i64, String)> {
    let body = json!({ "environment": "template", "sha": "main", "ref": "main", "tag": false, "status": "success" });
    let made = post(client, &format!("/projects/{project}/deployments"), &body)?;
    let since = made["created_at"].as_str().context("a deployment without a date")?;
    Ok((id(&made["environment"])?, id(&made)?, since.to_owned()))
}

fn merge_request(client: &Client, project: i64) -> Result<i64> {
    let actions = json!([{ "action": "create", "file_path": "a", "content": "a" }]);
    let commit = json!({ "branch": "change", "start_branch": "main", "commit_message": "Change [skip ci]", "actions": actions });
    post(client, &format!("/projects/{project}/repository/commits"), &commit)?;
    let new = json!({ "title": "Change", "source_branch": "change", "target_branch": "main" });
    id(&post(client, &format!("/projects/{project}/merge_requests"), &new)?)
}

impl BenchProject {
    fn own(&self) -> String {
        format!("/projects/{}", self.project)
    }

    /// The numbers of some review apps.
    fn some() -> impl Iterator<Item = i64> {
        (1..=200).map(|n| 3 + n * 7 % (ENVIRONMENTS - 2))
    }

    /// Each filter of the list with its orders.
    fn lists(&self) -> Vec<Case> {
        let list = |query: &str| [format!("{}/deployments?{query}", self.own())];
        let reviews = |query: &'static str| {
            let address = format!("{}/deployments?environment=review%2Fbranch-", self.own());
            Self::some().map(move |n| format!("{address}{n}&{query}")).collect::<Vec<_>>()
        };
        let since = &self.since;
        vec![
            case("deployments", list("")),
            case("deployments, newest first", list("sort=desc")),
            case("deployments, page 100", list("page=100")),
            case("deployments by last change", list("order_by=updated_at&sort=desc")),
            case("deployments by ref", list("order_by=ref")),
            case("deployments, failed", list("status=failed&sort=desc")),
            case("deployments, running", list("status=running")),
            case("deployments, failed, by ref", list("status=failed&order_by=ref")),
            case(
                "deployments, running, by last change",
                list("status=running&order_by=updated_at&sort=desc"),
            ),
            case(
                "deployments changed since",
                list(&format!("updated_after={since}&order_by=updated_at")),
            ),
            case(
                "deployments changed before, none",
                list(&format!("updated_before={since}&status=failed&order_by=updated_at")),
            ),
            case("deployments to production", list("environment=production&sort=desc")),
            case(
                "deployments to production, running",
                list("environment=production&status=running"),
            ),
            case(
                "deployments to production, failed, by last change",
                list("environment=production&status=failed&order_by=updated_at&sort=desc"),
            ),
            case("deployments to production by ref", list("environment=production&order_by=ref")),
            case("deployments to review apps", reviews("sort=desc")),
            case("deployments to review apps, failed", reviews("status=failed")),
        ]
    }

    fn others(&self) -> Vec<Case> {
        let own = self.own();
        let older = |n: i64| self.before.deployment + 1 + n * 7_919 % self.size.deployments;
        vec![
            case("one deployment", (1..=200).map(|n| format!("{own}/deployments/{}", older(n)))),
            case("environments", [format!("{own}/environments")]),
            case("environments, stopped", [format!("{own}/environments?states=stopped")]),
            case("environments by part of the name", [format!("{own}/environments?search=duct")]),
            case(
                "one environment",
                (1..=200).map(|n| format!("{own}/environments/{}", self.before.environment + n)),
            ),
        ]
    }

    /// Merge requests by what was deployed.
    fn brought(&self) -> Vec<Case> {
        let (own, since) = (self.own(), &self.since);
        let of = |query: String| [format!("{own}/merge_requests?{query}")];
        let count = self.size.merge_requests;
        vec![
            case("merge requests in production", of("environment=production".to_owned())),
            case(
                "merge requests in review apps",
                Self::some()
                    .map(|n| format!("{own}/merge_requests?environment=review%2Fbranch-{n}")),
            ),
            case("merge requests deployed since", of(format!("deployed_after={since}"))),
            case("merge requests deployed before, none", of(format!("deployed_before={since}"))),
            case(
                "merge requests in staging since",
                of(format!("environment=staging&deployed_after={since}&order_by=updated_at")),
            ),
            case(
                "merge requests everywhere, in staging",
                ["/merge_requests?scope=all&environment=staging".to_owned()],
            ),
            case(
                "merge requests of a deployment",
                (1..=200).map(|n| {
                    let id = with_merge_request(self.before, 1 + n * 97 % count);
                    format!("{own}/deployments/{id}/merge_requests")
                }),
            ),
        ]
    }
}
