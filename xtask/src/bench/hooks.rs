//! The cost of webhooks for writers, delivery latency, and the duration of an import.

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
    transport::{Pusher, Timing},
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
const PUSHES: usize = 30;
/// How often each kind of write is timed, and what it is: whether webhooks hear of it, and what is made.
const TURNS: usize = 60;
const WRITES: [(&str, bool, &str); 4] = [
    ("issue without webhooks", false, "issues"),
    ("issue beside 50 webhooks", true, "issues"),
    ("commit without webhooks", false, "commits"),
    ("commit beside 50 webhooks", true, "commits"),
];

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
        let mut writes = self.writes(&client)?;
        writes.extend(pushes);
        let mut notes = speeds(&cases, &writes);
        notes.push(("deliveries a second, one receiver", self.deliveries(&client)?));
        cases.extend(self.rush(&client)?);
        notes.push(("import of issues", self.import(&client)?));
        for (what, told) in &notes {
            println!("{what}: {told}");
        }
        notes.push(("resident after the run", megabytes(&server)?));
        server.stop()?;
        Ok(Report { database, cases, transport: writes, compared: Vec::new(), notes })
    }

    /// Pushes of one commit by git, to a project without webhooks and to one with many, as in [`writes`](Self::writes).
    fn pushes(&self, client: &Client) -> Result<Vec<Timing>> {
        let receiver = Receiver::start(false)?;
        let kinds = [("push without webhooks", 0), ("push beside 50 webhooks", HOOKS)];
        let scratch = tempfile::Builder::new().prefix("forgeway-pushes-").tempdir()?;
        let mut all = Vec::new();
        for (what, hooks) in kinds {
            let made = project(client, what)?;
            begin(client, made)?;
            add_hooks(client, made, &receiver, hooks)?;
            let shown = client.get(&format!("/projects/{made}"))?.json()?;
            let path = shown["path_with_namespace"].as_str().context("a project without a path")?;
            let clone = scratch.path().join(hooks.to_string());
            let pusher = Pusher::new(&self.installation, path, clone)?;
            let timing = Timing { what: what.to_owned(), seconds: Vec::new() };
            all.push((timing, pusher, u64::try_from(hooks)?));
        }
        for _ in 0..PUSHES {
            for (timing, pusher, expected) in &mut all {
                let before = receiver.count();
                timing.seconds.push(pusher.push()?);
                wait_for(&receiver, before + *expected)?;
            }
        }
        Ok(all.into_iter().map(|(timing, ..)| timing).collect())
    }

    /// Issues and commits in a project without webhooks and in one with many, by turns. What one brings forth has arrived
    /// before the next begins, so that this is what webhooks cost whoever writes, and not what sending costs the machine.
    fn writes(&self, client: &Client) -> Result<Vec<Timing>> {
        let receiver = Receiver::start(false)?;
        let (without, beside) = (project(client, "without")?, project(client, "beside")?);
        begin(client, without)?;
        begin(client, beside)?;
        add_hooks(client, beside, &receiver, HOOKS)?;
        let timing = |what: &str| Timing { what: what.to_owned(), seconds: Vec::new() };
        let mut all: Vec<Timing> = WRITES.iter().map(|(what, ..)| timing(what)).collect();
        for number in 0..TURNS {
            for (at, (_, is_told, resource)) in WRITES.iter().enumerate() {
                let project = if *is_told { beside } else { without };
                let (path, body) = match *resource {
                    "issues" => ("issues", json!({ "title": format!("issue {number}") })),
                    _ => ("repository/commits", commit(number)),
                };
                let before = receiver.count();
                let begun = Instant::now();
                post(client, &format!("/projects/{project}/{path}"), &body)?;
                if let Some(timing) = all.get_mut(at) {
                    timing.seconds.push(begun.elapsed().as_secs_f64());
                }
                let expected = if *is_told { u64::try_from(HOOKS)? } else { 0 };
                wait_for(&receiver, before + expected)?;
            }
        }
        Ok(all)
    }

    /// Issues as fast as several people make them, beside what is sent meanwhile: no goal, since fifty requests go out
    /// for each of them.
    fn rush(&self, client: &Client) -> Result<Vec<(&'static str, Measurement)>> {
        let receiver = Receiver::start(false)?;
        let mut all = Vec::new();
        let kinds = [("issues at once", 0), ("issues at once beside 50 webhooks", HOOKS)];
        for (name, hooks) in kinds {
            let project = project(client, name)?;
            add_hooks(client, project, &receiver, hooks)?;
            let request =
                format!(r#"POST /api/v4/projects/{project}/issues {{"title":"issue @"}}"#);
            all.push(self.case(name, request, Some(WRITERS))?);
            // What still waits must not be sent while something else is measured.
            client.delete(&format!("/projects/{project}"))?;
        }
        Ok(all)
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
fn speeds(
    cases: &[(&'static str, Measurement)],
    timings: &[Timing],
) -> Vec<(&'static str, String)> {
    let speed = |wanted: &str| {
        let found = cases.iter().find(|(name, _)| *name == wanted);
        found.map_or(f64::NAN, |(_, figures)| figures.per_second)
    };
    let settings = speed("settings") / speed(CONSTANT);
    let median = |what: &str| {
        let found = timings.iter().find(|timing| timing.what == what);
        found.map_or(f64::NAN, Timing::median)
    };
    let mut all = Vec::new();
    for (told, without, beside) in [
        ("webhooks cost an issue", "issue without webhooks", "issue beside 50 webhooks"),
        ("webhooks cost a commit", "commit without webhooks", "commit beside 50 webhooks"),
        ("webhooks cost a push", "push without webhooks", "push beside 50 webhooks"),
    ] {
        all.push((told, cost(median(without), median(beside))));
    }
    let goal = verdict(settings >= LEAST_SETTINGS);
    all.push((
        "settings, as a part of the constant answer",
        format!("{settings:.2} (at least {LEAST_SETTINGS:.2}: {goal})"),
    ));
    all
}

/// How much longer the second of two times is.
fn cost(without: f64, beside: f64) -> String {
    let part = beside / without - 1.0;
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

fn commit(number: usize) -> Value {
    json!({ "branch": "main", "commit_message": format!("Add {number}"), "actions": [
        { "action": "create", "file_path": format!("file-{number}"), "content": number.to_string() }] })
}

/// Waits until a receiver has been told so often.
fn wait_for(receiver: &Receiver, count: u64) -> Result<()> {
    let begun = Instant::now();
    while receiver.count() < count {
        ensure!(begun.elapsed() < LONGEST, "a webhook was told nothing");
        std::thread::sleep(PAUSE);
    }
    Ok(())
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
        let new = json!({
            "url": receiver.url(&n.to_string()), "issues_events": true, "push_events": true,
        });
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
        let cases = [case(CONSTANT, 100.0), case("settings", 29.0)];
        let time = |what: &str, seconds| Timing { what: what.to_owned(), seconds: vec![seconds] };
        let timings = [
            time("issue without webhooks", 0.100),
            time("issue beside 50 webhooks", 0.109),
            time("commit without webhooks", 0.1),
            time("commit beside 50 webhooks", 0.12),
            time("push without webhooks", 0.1),
            time("push beside 50 webhooks", 0.1),
        ];

        let told: Vec<String> =
            speeds(&cases, &timings).into_iter().map(|(_, text)| text).collect();

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
