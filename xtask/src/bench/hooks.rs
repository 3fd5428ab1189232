//! What webhooks cost those who write, how fast they are told, and how long an import takes.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::{
    cases::{CONSTANT, Case},
    import_source::ImportSource,
    people::{id, post},
    report::{Report, megabytes},
    wrk::{Generator, Measurement},
};
use crate::{client::Client, receiver::Receiver, server::Installation};

/// Webhooks of one project, and how many people change issues at the same time.
const HOOKS: usize = 50;
const WRITERS: u32 = 8;
/// Changes that are told to one receiver while nobody changes anything else.
const CHANGES: usize = 200;
/// Issues of the repository that is imported.
const ISSUES: usize = 10_000;
/// No run takes longer, whatever the machine.
const LONGEST: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(5);

pub(super) struct Run<'a> {
    pub(super) installation: Installation,
    pub(super) generator: &'a Generator,
    /// One part in so many of the issues of an import.
    pub(super) scale: i64,
}

impl Run<'_> {
    pub(super) fn report(&self, database: &'static str) -> Result<Report> {
        let server = self.installation.start()?;
        let client = self.installation.client();
        let local = json!({ "allow_local_requests_from_web_hooks_and_services": true });
        client.put("/application/settings", &local)?.json()?;
        let mut cases = vec![
            self.case(CONSTANT, "GET /-/liveness".to_owned(), None)?,
            self.case("settings", "GET /api/v4/application/settings".to_owned(), None)?,
        ];
        cases.extend(self.writes(&client)?);
        let mut notes = vec![
            ("deliveries a second, one receiver", self.deliveries(&client)?),
            ("import of issues", self.import(&client)?),
        ];
        notes.push(("resident after the run", megabytes(&server)?));
        server.stop()?;
        Ok(Report { database, cases, transport: Vec::new(), compared: Vec::new(), notes })
    }

    /// The same change of an issue in a project without webhooks, and in one with many.
    fn writes(&self, client: &Client) -> Result<Vec<(&'static str, Measurement)>> {
        let receiver = Receiver::start(false)?;
        let mut all = Vec::new();
        let kinds = [("issue without webhooks", 0), ("issue beside 50 webhooks", HOOKS)];
        for (name, hooks) in kinds {
            let project = project(client, name)?;
            add_hooks(client, project, &receiver, hooks)?;
            let request =
                format!(r#"POST /api/v4/projects/{project}/issues {{"title":"issue @"}}"#);
            all.push(self.case(name, request, Some(WRITERS))?);
            all.push(self.commits(client, (name, project))?);
        }
        Ok(all)
    }

    fn commits(
        &self,
        client: &Client,
        (name, project): (&str, i64),
    ) -> Result<(&'static str, Measurement)> {
        let name = if name.contains("without") {
            "commit without webhooks"
        } else {
            "commit beside 50 webhooks"
        };
        let first = json!({ "branch": "main", "commit_message": "Begin", "actions": [
            { "action": "create", "file_path": "first", "content": "first" }] });
        post(client, &format!("/projects/{project}/repository/commits"), &first)?;
        let request = format!(
            "POST /api/v4/projects/{project}/repository/commits {}",
            json!({ "branch": "main", "commit_message": "Add @", "actions": [
                { "action": "create", "file_path": "file-@", "content": "@" }] })
        );
        self.case(name, request, Some(1))
    }

    fn case(
        &self,
        name: &'static str,
        request: String,
        connections: Option<u32>,
    ) -> Result<(&'static str, Measurement)> {
        let case = Case { name, requests: vec![request], connections };
        let generator = self.generator.with_connections(case.connections);
        let figures = generator.measure(&self.installation.root(), &case.requests)?;
        println!(
            "{name}: {:.0} a second, p90 {:.1} ms, {} failed",
            figures.per_second, figures.p90, figures.failed
        );
        Ok((name, figures))
    }

    /// How many deliveries arrive in a second, once everything is written down.
    fn deliveries(&self, client: &Client) -> Result<String> {
        let receiver = Receiver::start(false)?;
        receiver.set_away(true);
        let project = project(client, "deliveries")?;
        add_hooks(client, project, &receiver, HOOKS)?;
        let issues = format!("/projects/{project}/issues");
        for n in 0..CHANGES {
            post(client, &issues, &json!({ "title": format!("issue {n}") }))?;
        }
        // A hook that nobody answers is left alone; a test wakes it, and what waits for it with it.
        receiver.set_away(false);
        let hooks = client.get(&format!("/projects/{project}/hooks?per_page=100"))?.json()?;
        let before = receiver.count();
        let begun = Instant::now();
        for hook in hooks.as_array().context("no hooks")? {
            let path = format!("/projects/{project}/hooks/{}", hook["id"]);
            client.put(&path, &json!({ "issues_events": true }))?.json()?;
        }
        let expected = u64::try_from(HOOKS * CHANGES)?;
        while receiver.count() - before < expected {
            ensure!(begun.elapsed() < LONGEST, "{} have arrived", receiver.count() - before);
            std::thread::sleep(PAUSE);
        }
        Ok(per_second(expected, begun.elapsed()))
    }

    fn import(&self, client: &Client) -> Result<String> {
        let count = ISSUES / usize::try_from(self.scale.max(1))?;
        let source = ImportSource::start(count)?;
        let begun = Instant::now();
        let asked = json!({ "personal_access_token": "token", "repo_id": 1, "target_namespace": "root",
                            "github_hostname": source.url() });
        let project = id(&post(client, "/import/github", &asked)?)?;
        let path = format!("/projects/{project}/import");
        loop {
            let import = client.get(&path)?.json()?;
            match import["import_status"].as_str() {
                Some("finished") => break,
                Some("scheduled" | "started") => {}
                _ => anyhow::bail!("the import ended: {import}"),
            }
            ensure!(begun.elapsed() < LONGEST, "the import is not finished: {import}");
            std::thread::sleep(PAUSE * 20);
        }
        let taken = begun.elapsed();
        let found = client.get(&format!("/projects/{project}"))?.json()?;
        ensure!(found["open_issues_count"] == json!(count), "{}", found["open_issues_count"]);
        Ok(format!("{count} in {:.1} s", taken.as_secs_f64()))
    }
}

fn per_second(count: u64, time: Duration) -> String {
    let seconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
    format!("{} in {:.1} s: {} a second", count, time.as_secs_f64(), count * 1_000 / seconds)
}

/// Makes the names of projects differ.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

fn project(client: &Client, name: &str) -> Result<i64> {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = format!("{}-{number}", name.replace(' ', "-"));
    let made: Value = post(client, "/projects", &json!({ "name": path }))?;
    id(&made)
}

fn add_hooks(client: &Client, project: i64, receiver: &Receiver, count: usize) -> Result<()> {
    for n in 0..count {
        let new = json!({ "url": receiver.url(&n.to_string()), "issues_events": true });
        post(client, &format!("/projects/{project}/hooks"), &new)?;
    }
    Ok(())
}
