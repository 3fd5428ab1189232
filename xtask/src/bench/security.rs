//! The run over security: very many vulnerabilities in one file, with constant memory, and alerts that come fast.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::{
    cases::{CONSTANT, Case, case},
    people::{id, post},
    report::{Report, megabytes, milliseconds},
    security_seed::{self, Size},
    transport::Timing,
    wrk::{Generator, Measurement},
};
use crate::{
    client::Client,
    server::{self, Installation, Server},
};

/// Monitors that send at the same time.
const MONITORS: u32 = 64;
const EXPORTS: usize = 3;
/// An export takes no longer, whatever the machine.
const LONGEST: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(10);
/// Seconds in which all vulnerabilities are to be written.
const MOST_SECONDS: f64 = 10.0;
/// Alerts a second that SQLite is to take.
const LEAST_ALERTS: f64 = 2_000.0;
const NEW_ALERTS: &str = "new alerts";

pub(super) struct Run<'a> {
    pub(super) installation: Installation,
    pub(super) generator: &'a Generator,
    pub(super) size: Size,
    pub(super) only: Option<&'a str>,
}

/// Where alerts are sent, and with which key.
struct Intake {
    path: String,
    key: String,
}

impl Run<'_> {
    pub(super) fn report(&self, database: &'static str) -> Result<Report> {
        let server = self.installation.start()?;
        let client = self.installation.client();
        let project = id(&post(&client, "/projects", &json!({ "name": "security" }))?)?;
        let intake = intake(&client, &self.installation.root(), project)?;
        server.stop()?;
        let begun = Instant::now();
        security_seed::fill(&self.installation.database_address(), project, self.size)?;
        let mut notes = vec![
            ("vulnerabilities", self.size.vulnerabilities.to_string()),
            ("filled in", milliseconds(begun.elapsed())),
        ];
        let server = self.installation.start()?;
        notes.push(("resident before the exports", megabytes(&server)?));
        let Exports { transport, most } = self.exports(&client, &server, project)?;
        notes.push((
            "most resident during the exports",
            format!("{most:.1} MiB without mapped files"),
        ));
        let mut cases = vec![(CONSTANT, self.measured(self.generator, &constant())?)];
        for case in lists(project) {
            if self.is_wanted(case.name) {
                cases.push((case.name, self.measured(self.generator, &case)?));
            }
        }
        let monitors = self.generator.with_connections(Some(MONITORS));
        let monitors = monitors.with_header(format!("Authorization: Bearer {}", intake.key));
        for case in alerts(&intake.path) {
            if self.is_wanted(case.name) {
                cases.push((case.name, self.measured(&monitors, &case)?));
            }
        }
        notes.push(("resident after the run", megabytes(&server)?));
        notes.push(("export of all vulnerabilities", export_goal(&transport)));
        notes.extend(alert_goal(database, &cases).map(|told| ("new alerts a second", told)));
        server.stop()?;
        Ok(Report { database, cases, transport, compared: Vec::new(), notes })
    }

    fn is_wanted(&self, name: &str) -> bool {
        self.only.is_none_or(|only| name.contains(only))
    }

    fn measured(&self, generator: &Generator, case: &Case) -> Result<Measurement> {
        let figures = generator.measure(&self.installation.root(), &case.requests)?;
        println!(
            "{}: {:.0} a second, p90 {:.1} ms, {} failed",
            case.name, figures.per_second, figures.p90, figures.failed
        );
        Ok(figures)
    }

    fn exports(&self, client: &Client, server: &Server, project: i64) -> Result<Exports> {
        let (mut written, mut fetched, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
        for _ in 0..EXPORTS {
            let begun = Instant::now();
            let path = format!("/security/projects/{project}/vulnerability_exports");
            let export = id(&post(client, &path, &json!({}))?)?;
            let path = format!("/security/vulnerability_exports/{export}");
            while client.get(&path)?.status == 202 {
                ensure!(begun.elapsed() < LONGEST, "the export is not finished");
                most = most.max(server::resident(server.id())?.1);
                std::thread::sleep(PAUSE);
            }
            written.push(begun.elapsed().as_secs_f64());
            let begun = Instant::now();
            let file = client.get(&format!("{path}/download"))?;
            fetched.push(begun.elapsed().as_secs_f64());
            let lines = file.body.iter().filter(|byte| **byte == b'\n').count();
            ensure!(
                lines == usize::try_from(self.size.vulnerabilities)? + 1,
                "the file has {lines} lines"
            );
        }
        let transport = vec![
            Timing { what: "export of all vulnerabilities".to_owned(), seconds: written },
            Timing { what: "download of the export".to_owned(), seconds: fetched },
        ];
        Ok(Exports { transport, most })
    }
}

/// How long the slowest export took, beside its goal.
fn export_goal(transport: &[Timing]) -> String {
    let written = transport.iter().take(1).flat_map(|timing| timing.seconds.iter().copied());
    let slowest = written.fold(0.0, f64::max);
    let told = verdict(slowest <= MOST_SECONDS);
    format!("{slowest:.1} s at most (at most {MOST_SECONDS:.0} s: {told})")
}

/// How many alerts came in, beside the goal for SQLite; nothing for other databases, and where none were sent.
fn alert_goal(database: &str, cases: &[(&'static str, Measurement)]) -> Option<String> {
    let (_, figures) = cases.iter().find(|(name, _)| *name == NEW_ALERTS)?;
    let told = verdict(figures.per_second >= LEAST_ALERTS && figures.failed == 0);
    let speed = figures.per_second;
    (database == "sqlite").then(|| format!("{speed:.0} (at least {LEAST_ALERTS:.0}: {told})"))
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

struct Exports {
    transport: Vec<Timing>,
    /// MiB.
    most: f64,
}

fn intake(client: &Client, root: &str, project: i64) -> Result<Intake> {
    let path = format!("/projects/{project}/alert_management_integrations");
    let made = post(client, &path, &json!({ "name": "Monitor", "active": true }))?;
    let text = |field: &str| made[field].as_str().with_context(|| format!("no {field}: {made}"));
    let (url, key) = (text("url")?, text("token")?.to_owned());
    // Without the scheme and the host, which may be another name of this server.
    let path = url.splitn(4, '/').nth(3).with_context(|| format!("{url} is not below {root}"))?;
    Ok(Intake { path: format!("/{path}"), key })
}

fn constant() -> Case {
    Case { name: CONSTANT, requests: vec!["GET /-/liveness".to_owned()], connections: None }
}

fn lists(project: i64) -> Vec<Case> {
    let own = format!("/projects/{project}");
    vec![
        case("vulnerabilities of a project", [format!("{own}/vulnerabilities")]),
        case("vulnerabilities of a project, page 100", [format!("{own}/vulnerabilities?page=100")]),
        case(
            "vulnerabilities of a project, confirmed",
            [format!("{own}/vulnerabilities?state=confirmed")],
        ),
    ]
}

/// A number that never comes twice makes each alert a new one.
fn alerts(path: &str) -> Vec<Case> {
    let case = |name, body: &str| Case {
        name,
        requests: vec![format!("POST {path} {body}")],
        connections: Some(MONITORS),
    };
    vec![
        case(
            NEW_ALERTS,
            r#"{"title":"alert @","service":"db","hosts":["a","b"],"severity":"high"}"#,
        ),
        case("the same alert again", r#"{"title":"known","service":"db","severity":"high"}"#),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Measurement, NEW_ALERTS, Timing, alert_goal, export_goal};

    #[test]
    fn each_goal_is_told_with_whether_it_is_met() {
        let export =
            |seconds: Vec<f64>| export_goal(&[Timing { what: "export".to_owned(), seconds }]);
        assert_eq!(export(vec![1.0, 10.0]), "10.0 s at most (at most 10 s: met)");
        assert_eq!(export(vec![10.1, 1.0]), "10.1 s at most (at most 10 s: missed)");
        let alerts = |per_second| {
            let figures = Measurement { per_second, ..Measurement::default() };
            alert_goal("sqlite", &[(NEW_ALERTS, figures)])
        };
        assert_eq!(alerts(2_000.0).as_deref(), Some("2000 (at least 2000: met)"));
        assert_eq!(alerts(1_999.0).as_deref(), Some("1999 (at least 2000: missed)"));
        assert_eq!(alert_goal("sqlite", &[]), None);
    }
}
