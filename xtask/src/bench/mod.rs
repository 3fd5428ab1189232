//! One run, one table: how quick each kind of request is beside a constant answer measured in the same run.

mod cases;
mod correctness;
mod deployment_goals;
mod deployment_seed;
mod deployments;
mod expiry;
mod geo;
mod graphql;
mod history;
mod hooks;
mod idle;
pub(crate) mod import_source;
mod job_contents;
mod job_speed;
mod memory;
mod org_cases;
mod org_seed;
mod organisation;
mod people;
mod pipeline_seed;
mod pipelines;
mod report;
mod review;
mod review_cases;
mod review_seed;
mod review_targets;
mod runners;
mod security;
mod security_seed;
mod seed;
mod sign_ins;
mod table;
mod transport;
mod waiting_runners;
mod wrk;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use serde_json::json;

use crate::{
    migrate::Database,
    postgres::{Cluster, Durability},
    server::{self, Installation, Profile, Server},
};
use cases::{CONSTANT, Projects};
use history::History;
use report::{Report, megabytes, milliseconds};
use wrk::{Generator, Measurement};

#[derive(Args)]
pub(crate) struct Options {
    /// A repository to push and measure; without it a small one is made
    #[arg(long)]
    data: Option<PathBuf>,
    /// Only on this database; without it on both
    #[arg(long, value_enum)]
    database: Option<Database>,
    /// Fewer projects and shorter runs, for a first look
    #[arg(long)]
    quick: bool,
    /// Only cases whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// How often each kind of clone is timed
    #[arg(long, default_value_t = 3)]
    clones: usize,
    /// Which data are made and measured
    #[arg(long, value_enum, default_value_t = Set::Repository)]
    set: Set,
    /// Make one part in so many of the organisation, of the issues and merge requests, of the jobs, the deployments, the
    /// vulnerabilities or of what runners do: with 10 there are 10,000 people, 2,000 groups and 10,000 projects, or 100,000
    /// issues, or 100,000 jobs, or 100,000 deployments, or 10,000 vulnerabilities, or an artifact of 100 MB
    #[arg(long, default_value_t = 1)]
    scale: i64,
    /// Measure this binary; without it one is built
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Make the data in this folder and leave them there
    #[arg(long)]
    into: Option<PathBuf>,
    /// Connections that are open at the same time
    #[arg(long, default_value_t = 32)]
    connections: u32,
}

/// What there is to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Set {
    /// A large repository, and many projects of one person
    Repository,
    /// Very many people, groups in deep trees, and projects in them
    Organisation,
    /// Very many issues and merge requests over a thousand projects
    Review,
    /// Very many pipelines and jobs of one project, and pipelines of 500 jobs
    Pipelines,
    /// Very many deployments of one project, and the merge requests that came with them
    Deployments,
    /// Very many vulnerabilities in one file, and alerts that come fast
    Security,
    /// Webhooks of one project, the settings, and an import of very many issues
    Hooks,
    /// Runners that wait for jobs and do them, with their logs and artifacts
    Runners,
    /// Twenty Geo nodes with a report of each
    Geo,
    /// GraphQL queries: of a board, the largest that is allowed, and hostile ones
    Graphql,
}

/// More than connections, so that two writers seldom meet.
const SMALL_PROJECTS: usize = 128;
/// How long background work after the first push may take.
const SETTLE_LIMIT: Duration = Duration::from_secs(600);

pub(crate) fn run(options: &Options) -> Result<()> {
    let scratch = tempfile::Builder::new().prefix("forgeway-bench-").tempdir()?;
    let history = match (&options.data, options.set) {
        (Some(folder), Set::Repository) => Some(History::open(folder)?),
        (None, Set::Repository) => Some(History::make(&scratch.path().join("made.git"))?),
        _ => None,
    };
    let generator =
        Generator::new(scratch.path(), options.connections, if options.quick { 2 } else { 6 })?;
    let binary = server::binary(options.binary.as_deref(), Profile::Release)?;
    let all = BenchRun { options, history: history.as_ref(), generator, binary, scratch };
    let mut reports = Vec::new();
    for database in [Database::Sqlite, Database::Postgres] {
        if options.database.is_none_or(|only| only == database) {
            reports.extend(all.on(database)?);
        }
    }
    table::print(&reports);
    let differing = reports
        .iter()
        .flat_map(|report| &report.compared)
        .filter(|compared| !compared.differences.is_empty());
    let differing = differing.count();
    ensure!(differing == 0, "{differing} comparisons with git differ");
    Ok(())
}

/// What the runs on both databases have in common.
struct BenchRun<'a> {
    options: &'a Options,
    history: Option<&'a History>,
    generator: Generator,
    binary: PathBuf,
    scratch: tempfile::TempDir,
}

impl BenchRun<'_> {
    fn on(&self, database: Database) -> Result<Option<Report>> {
        let cluster = match database {
            Database::Sqlite => None,
            Database::Postgres => match Cluster::start(Durability::Full)? {
                Some(cluster) => Some(cluster),
                None => {
                    println!(
                        "bench: PostgreSQL is left out, no server found on PATH or in /usr/lib/postgresql"
                    );
                    return Ok(None);
                }
            },
        };
        let Self { options, generator, .. } = self;
        let address = cluster.as_ref().map(|cluster| cluster.create("bench")).transpose()?;
        let scratch = self.scratch.path();
        let folder = options.into.as_deref().unwrap_or(scratch).join(database.name());
        std::fs::create_dir_all(&folder)?;
        let binary = self.binary.clone();
        let mut installation = Installation::new(binary, folder.join("data"), address)?;
        installation.settings = quiet();
        let (only, scale, name) = (options.only.as_deref(), options.scale, database.name());
        match (self.history, options.set) {
            (Some(history), _) => {
                Run { options, installation, history, generator, folder }.report(name)
            }
            (None, Set::Review) => {
                let size = review_seed::Size::whole(scale);
                review::Run { installation, generator, size, only, scratch: folder }.report(name)
            }
            (None, Set::Pipelines) => {
                let size = pipeline_seed::Size::whole(scale);
                pipelines::Run { installation, generator, size, only }.report(name)
            }
            (None, Set::Deployments) => {
                let size = deployment_seed::Size::whole(scale);
                deployments::Run { installation, generator, size, only }.report(name)
            }
            (None, Set::Security) => {
                let size = security_seed::Size::whole(scale);
                security::Run { installation, generator, size, only }.report(name)
            }
            (None, Set::Hooks) => hooks::Run { installation, generator, scale }.report(name),
            (None, Set::Geo) => geo::Run { installation, generator }.report(name),
            (None, Set::Graphql) => graphql::Run { installation, generator, only }.report(name),
            (None, Set::Runners) => {
                runners::Run { installation, size: runners::Size::whole(scale) }.report(name)
            }
            (None, _) => {
                let size = org_seed::Size::whole(scale);
                organisation::Run { installation, generator, size, only }.report(name)
            }
        }
        .map(Some)
    }
}

/// Settings without which the measurement would be of something else.
fn quiet() -> Vec<(&'static str, String)> {
    let unlimited = [
        "FORGEWAY_RATE_LIMIT_USER",
        "FORGEWAY_RATE_LIMIT_ADDRESS",
        "FORGEWAY_RATE_LIMIT_NOTE",
        "FORGEWAY_RATE_LIMIT_ISSUE",
    ];
    let mut settings = vec![("FORGEWAY_LOG", "warn".to_owned())];
    settings.extend(unlimited.map(|name| (name, "0".to_owned())));
    settings
}

/// One database.
struct Run<'a> {
    options: &'a Options,
    installation: Installation,
    history: &'a History,
    generator: &'a Generator,
    folder: PathBuf,
}

impl Run<'_> {
    fn report(&self, database: &'static str) -> Result<Report> {
        let server = self.installation.start()?;
        let mut notes = vec![("first start, from nothing", milliseconds(server.started_in))];
        let (projects, template) = self.projects()?;
        let mut transport =
            vec![transport::push_everything(&self.installation, self.history, "root/large")?];
        notes.push((
            "background work after the push",
            format!("{:.1} s", self.wait_until_idle()?.as_secs_f64()),
        ));
        server.stop()?;
        let count = if self.options.quick { 10_000 } else { 100_000 };
        let many = seed::projects(&self.installation.database_address(), template, count)?;
        let projects = Projects { many, ..projects };
        let server = self.restarted(&mut notes)?;
        let compared = match &self.options.data {
            Some(_) => correctness::compare_all(
                &self.installation.client(),
                projects.large,
                self.history,
                60,
            ),
            None => Vec::new(),
        };
        let cases = self.measured(&projects)?;
        let names = ("root/large", "root/small-0");
        transport.extend(transport::measure(
            &self.installation,
            self.history,
            names,
            &self.folder,
            self.options.clones,
        )?);
        notes.push(("resident after the run", megabytes(&server)?));
        notes.extend(sign_ins::measure(&self.installation, &server)?);
        notes.extend(self.beside_idle(&server)?);
        server.stop()?;
        Ok(Report { database, cases, transport, compared, notes })
    }

    /// The large project, the small ones that take commits, and the one that is copied many times.
    fn projects(&self) -> Result<(Projects, i64)> {
        let large = self.create("large", &self.history.branch, false)?;
        let small = (0..SMALL_PROJECTS)
            .map(|n| self.create(&format!("small-{n}"), "main", true))
            .collect::<Result<_>>()?;
        let template = self.create("template", "main", false)?;
        Ok((Projects { many: (0, 0), large, small }, template))
    }

    fn create(&self, name: &str, branch: &str, readme: bool) -> Result<i64> {
        let body =
            json!({ "name": name, "initialize_with_readme": readme, "default_branch": branch });
        let made = self.installation.client().post("/projects", &body)?.json()?;
        made["id"].as_i64().context("a project without an id")
    }

    /// Waits until background work has come to rest.
    fn wait_until_idle(&self) -> Result<Duration> {
        let begun = Instant::now();
        while seed::waiting_work(&self.installation.database_address())? > 0 {
            if begun.elapsed() > SETTLE_LIMIT {
                bail!("background work has not ended after {SETTLE_LIMIT:?}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(begun.elapsed())
    }

    /// Start-up on existing data, several times; the last server stays.
    fn restarted(&self, notes: &mut Vec<(&'static str, String)>) -> Result<Server> {
        let mut times = Vec::new();
        for _ in 0..4 {
            let server = self.installation.start()?;
            times.push(server.started_in);
            server.stop()?;
        }
        let server = self.installation.start()?;
        times.push(server.started_in);
        times.sort();
        notes.push(("start on existing data, median of 5", milliseconds(times[2])));
        std::thread::sleep(Duration::from_secs(2));
        notes.push(("resident, idle", megabytes(&server)?));
        Ok(server)
    }

    fn measured(&self, projects: &Projects) -> Result<Vec<(&'static str, Measurement)>> {
        let mut measured = Vec::new();
        for case in cases::cases(projects, self.history)? {
            let wanted = self
                .options
                .only
                .as_deref()
                .is_none_or(|only| case.name.starts_with(CONSTANT) || case.name.contains(only));
            if wanted {
                let generator = self.generator.with_connections(case.connections);
                let figures = generator.measure(&self.installation.root(), &case.requests)?;
                println!(
                    "{}: {:.0} a second, p99 {:.1} ms, {} failed",
                    case.name, figures.per_second, figures.p99, figures.failed
                );
                measured.push((case.name, figures));
            }
        }
        Ok(measured)
    }

    /// The constant answer while thousands of other connections are open.
    fn beside_idle(&self, server: &Server) -> Result<[(&'static str, String); 3]> {
        let idle = idle::connections(self.installation.port, idle::CONNECTIONS)?;
        let requests = ["GET /-/liveness".to_owned()];
        let figures = self.generator.measure(&self.installation.root(), &requests)?;
        let told = format!("{:.0} a second, p99 {:.1} ms", figures.per_second, figures.p99);
        Ok([
            ("idle connections", idle.len().to_string()),
            ("resident beside them", megabytes(server)?),
            ("constant answer beside them", told),
        ])
    }
}
