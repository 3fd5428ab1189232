//! The run over an organisation: very many people, groups in deep trees, and projects in them.

use anyhow::Result;
use serde_json::json;

use super::{
    cases::CONSTANT,
    org_cases::{self, Callers},
    org_seed::{self, Size, Templates},
    people::{id, person, post},
    report::{Report, milliseconds},
    wrk::{Generator, Measurement},
};
use crate::server::Installation;

pub(super) struct Run<'a> {
    pub(super) installation: Installation,
    pub(super) generator: &'a Generator,
    pub(super) size: Size,
    pub(super) only: Option<&'a str>,
}

impl Run<'_> {
    pub(super) fn report(&self, database: &'static str) -> Result<Report> {
        let server = self.installation.start()?;
        let (from, callers) = self.templates()?;
        server.stop()?;
        let begun = std::time::Instant::now();
        let made = org_seed::organisation(&self.installation.database_address(), from, self.size)?;
        let notes = vec![
            ("people", self.size.people.to_string()),
            ("groups", self.size.groups.to_string()),
            ("projects", self.size.projects.to_string()),
            ("filled in", milliseconds(begun.elapsed())),
        ];
        println!("filled in {}", milliseconds(begun.elapsed()));
        let server = self.installation.start()?;
        let mut cases = vec![self.measured(CONSTANT, &["GET /-/liveness".to_owned()], None)?];
        for wanted in org_cases::cases(made, self.size, &callers) {
            if self.only.is_none_or(|only| wanted.case.name.contains(only)) {
                let token = wanted.token.as_deref();
                cases.push(self.measured(wanted.case.name, &wanted.case.requests, token)?);
            }
        }
        server.stop()?;
        Ok(Report { database, cases, transport: Vec::new(), compared: Vec::new(), notes })
    }

    fn measured(
        &self,
        name: &'static str,
        requests: &[String],
        token: Option<&str>,
    ) -> Result<(&'static str, Measurement)> {
        let figures = self.generator.measure_as(&self.installation.root(), requests, token)?;
        println!(
            "{name}: {:.0} a second, p90 {:.1} ms, {} failed",
            figures.per_second, figures.p90, figures.failed
        );
        Ok((name, figures))
    }

    /// One of each kind, made as anybody would, and people with tokens.
    fn templates(&self) -> Result<(Templates, Callers)> {
        let client = self.installation.client();
        let (user, _) = person(&client, "template")?;
        let (busy, busy_token) = person(&client, "busy")?;
        let (_, plain_token) = person(&client, "plain")?;
        let group =
            post(&client, "/groups", &json!({ "name": "Template", "path": "template-group" }))?;
        let project = json!({ "name": "template", "namespace_id": group["id"] });
        let project = post(&client, "/projects", &project)?;
        let templates = Templates { user, group: id(&group)?, project: id(&project)?, busy };
        Ok((templates, Callers { busy: busy_token, plain: plain_token }))
    }
}
