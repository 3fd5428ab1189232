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
    transport::{self, Timing},
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
/// Pushes of one commit each.
const PUSHES: usize = 15;

/// What is to be reached: the part of a change's speed that webhooks cost, deliveries in a second, the speed of the
/// settings as a part of the constant answer's, and seconds for all issues of an import.
const MOST_COST: f64 = 0.10;
const LEAST_DELIVERIES: f64 = 2_000.0;
const LEAST_SETTINGS: f64 = 0.30;
const LONGEST_IMPORT: f64 = 120.0;

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
        // Before anything waits to be told.
        let pushes = self.pushes(&client)?;
        let mut cases = vec![
            self.case(CONSTANT, "GET /-/liveness".to_owned(), None)?,
            self.case("settings", "GET /api/v4/application/settings".to_owned(), None)?,
        ];
        cases.extend(self.writes(&client)?);
        let mut notes = speeds(&cases, &pushes);
        notes.push(("deliveries a second, one receiver", self.deliveries(&client)?));
        notes.push(("import of issues", self.import(&client)?));
        for (what, told) in &notes {
            println!("{what}: {told}");
        }
        notes.push(("resident after the run", megabytes(&server)?));
        server.stop()?;
        Ok(Report { database, cases, transport: pushes, compared: Vec::new(), notes })
    }

    /// Pushes of one commit by git, to a project without webhooks, and to one with many.
    fn pushes(&self, client: &Client) -> Result<Vec<Timing>> {
        let receiver = Receiver::start(false)?;
        let kinds = [("push without webhooks", 0), ("push beside 50 webhooks", HOOKS)];
        let mut all = Vec::new();
        for (what, hooks) in kinds {
            let made = project(client, what)?;
            add_hooks(client, made, &receiver, hooks)?;
            begin(client, made)?;
            let shown = client.get(&format!("/projects/{made}"))?.json()?;
            let path = shown["path_with_namespace"].as_str().context("a project without a path")?;
            let scratch = tempfile::Builder::new().prefix("forgeway-pushes-").tempdir()?;
            let timing = transport::pushes(&self.installation, path, scratch.path(), PUSHES)?;
            all.push(Timing { what: what.to_owned(), ..timing });
        }
        Ok(all)
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
        begin(client, project)?;
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
        Ok(per_second(expected, begun.elapsed().as_secs_f64()))
    }

    fn import(&self, client: &Client) -> Result<String> {
        let scale = u32::try_from(self.scale.max(1))?;
        let count = ISSUES / usize::try_from(scale)?;
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
        let taken = begun.elapsed().as_secs_f64();
        let found = client.get(&format!("/projects/{project}"))?.json()?;
        ensure!(found["open_issues_count"] == json!(count), "{}", found["open_issues_count"]);
        let most = LONGEST_IMPORT / f64::from(scale);
        let goal = verdict(taken <= most);
        Ok(format!("{count} in {taken:.1} s (at most {most:.0} s: {goal})"))
    }
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "MISSED" }
}

/// What webhooks cost, and how fast the settings are, beside their goals.
fn speeds(cases: &[(&'static str, Measurement)], pushes: &[Timing]) -> Vec<(&'static str, String)> {
    let speed = |wanted: &str| {
        let found = cases.iter().find(|(name, _)| *name == wanted);
        found.map_or(f64::NAN, |(_, figures)| figures.per_second)
    };
    let settings = speed("settings") / speed(CONSTANT);
    let mut all = vec![
        (
            "webhooks cost an issue",
            cost(speed("issue without webhooks"), speed("issue beside 50 webhooks")),
        ),
        (
            "webhooks cost a commit",
            cost(speed("commit without webhooks"), speed("commit beside 50 webhooks")),
        ),
    ];
    if let [without, beside] = pushes {
        all.push(("webhooks cost a push", cost(1.0 / without.median(), 1.0 / beside.median())));
    }
    let goal = verdict(settings >= LEAST_SETTINGS);
    all.push((
        "settings, as a part of the constant answer",
        format!("{settings:.2} (at least {LEAST_SETTINGS:.2}: {goal})"),
    ));
    all
}

/// How much slower the second of two speeds is.
fn cost(without: f64, beside: f64) -> String {
    let part = 1.0 - beside / without;
    let goal = verdict(part <= MOST_COST);
    format!("{:.1} % (at most {:.0} %: {goal})", part * 100.0, MOST_COST * 100.0)
}

fn per_second(count: u64, seconds: f64) -> String {
    let count = u32::try_from(count).map_or(f64::INFINITY, f64::from);
    let speed = count / seconds.max(0.001);
    let goal = verdict(speed >= LEAST_DELIVERIES);
    format!(
        "{count:.0} in {seconds:.1} s: {speed:.0} a second (at least {LEAST_DELIVERIES:.0}: {goal})"
    )
}

/// The first commit of a project.
fn begin(client: &Client, project: i64) -> Result<()> {
    let first = json!({ "branch": "main", "commit_message": "Begin", "actions": [
        { "action": "create", "file_path": "first", "content": "first" }] });
    post(client, &format!("/projects/{project}/repository/commits"), &first).map(drop)
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

#[cfg(test)]
mod tests {
    use super::{CONSTANT, Measurement, Timing, per_second, speeds};

    #[test]
    fn each_goal_is_told_with_whether_it_is_met() {
        let case = |name, per_second| (name, Measurement { per_second, ..Measurement::default() });
        let cases = [
            case(CONSTANT, 100.0),
            case("settings", 29.0),
            case("issue without webhooks", 100.0),
            case("issue beside 50 webhooks", 91.0),
            case("commit without webhooks", 100.0),
            case("commit beside 50 webhooks", 80.0),
        ];
        let push = |seconds| Timing { what: String::new(), seconds: vec![seconds] };

        let told: Vec<String> =
            speeds(&cases, &[push(0.1), push(0.1)]).into_iter().map(|(_, text)| text).collect();

        assert_eq!(
            told,
            [
                "9.0 % (at most 10 %: met)",
                "20.0 % (at most 10 %: MISSED)",
                "0.0 % (at most 10 %: met)",
                "0.29 (at least 0.30: MISSED)",
            ]
        );
        assert_eq!(per_second(9_000, 3.0), "9000 in 3.0 s: 3000 a second (at least 2000: met)");
    }
}
