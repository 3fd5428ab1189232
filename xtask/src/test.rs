//! All tests, first on SQLite, then the database-backed ones again on a scratch PostgreSQL.

mod timings;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use crate::{
    clients,
    dump::example,
    postgres::{Cluster, Durability},
    scratch,
    server::Profile,
    workspace::{self, Package, cargo},
};

/// Where a test finds the server it makes its databases on.
const TEST_DATABASE: &str = "FORGEWAY_TEST_DATABASE_URL";

/// A folder for what tests leave behind, be it that they are killed, which would take memory until the machine starts anew.
const SCRATCH: &str = "forgeway-tests-";

#[derive(Args)]
pub(crate) struct Options {
    /// Only on SQLite
    #[arg(long, conflicts_with = "postgres")]
    sqlite: bool,
    /// Only the database-backed tests, on PostgreSQL; fails when no server is found
    #[arg(long)]
    postgres: bool,
    /// Instead of the tests: client libraries from their registries, a client generated from the OpenAPI document, and
    /// a browser on the GraphQL explorer, against a running server
    #[arg(long, conflicts_with_all = ["sqlite", "postgres", "filters"])]
    clients: bool,
    /// With `--clients`: the release build of the server
    #[arg(long, requires = "clients")]
    release: bool,
    /// With `--clients`: a server that keeps its contents in S3-compatible storage, too
    #[arg(long, requires = "clients")]
    object_store: bool,
    /// Tell how long each test took, the slowest first; documentation tests are left out
    #[arg(long, conflicts_with = "clients")]
    timings: bool,
    /// Only tests whose name contains one of these
    filters: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.clients {
        let profile = if options.release { Profile::Release } else { Profile::Debug };
        return clients::smoke(profile, options.object_store);
    }
    let mut failed = Vec::new();
    if !options.postgres {
        println!("Tests on SQLite");
        failed.extend(on_sqlite(options).err());
    }
    if !options.sqlite {
        failed.extend(on_postgres(options).err());
    }
    match failed.as_slice() {
        [] => Ok(()),
        [first, rest @ ..] => {
            for error in rest {
                eprintln!("{error:#}");
            }
            bail!("{first:#}")
        }
    }
}

fn on_sqlite(options: &Options) -> Result<()> {
    if options.timings {
        return run_programs(&programs()?, options, None);
    }
    let scratch = scratch::temporary(SCRATCH)?;
    let mut tests = cargo();
    tests
        .args(["test", "--workspace", "--all-features", "--no-fail-fast", "--"])
        .args(&options.filters);
    workspace::run(tests.env_remove(TEST_DATABASE).env("TMPDIR", scratch.path()))?;
    if options.filters.is_empty() { run_examples() } else { Ok(()) }
}

/// Programs that show how a crate is used alone. Each makes what it needs, and fails where it finds something else than it
/// should.
const EXAMPLES: &[&str] = &[
    "check_integration",
    "clean_review_apps",
    "close_stale_issues",
    "evaluate_approvals",
    "gate_on_findings",
    "match_runners",
    "mirror_repository",
    "plan_pipeline",
    "report_members",
    "sign_requests",
];

fn run_examples() -> Result<()> {
    for name in EXAMPLES {
        workspace::run(Command::new(example(name)?).env_remove(TEST_DATABASE))?;
    }
    Ok(())
}

fn on_postgres(options: &Options) -> Result<()> {
    let Some(cluster) = Cluster::start(Durability::Relaxed)? else {
        ensure!(!options.postgres, "no PostgreSQL server found on PATH or in /usr/lib/postgresql");
        println!(
            "No PostgreSQL server found on PATH or in /usr/lib/postgresql: the tests ran on SQLite only"
        );
        return Ok(());
    };
    println!("Tests on PostgreSQL");
    let programs: Vec<Program> =
        programs()?.into_iter().filter(|program| program.reaches_database).collect();
    run_programs(&programs, options, Some(&cluster))
}

/// Runs test programs one after another, and goes on when one fails.
fn run_programs(programs: &[Program], options: &Options, cluster: Option<&Cluster>) -> Result<()> {
    let scratch = scratch::temporary(SCRATCH)?;
    let (mut failed, mut times) = (Vec::new(), Vec::new());
    for program in programs {
        let mut tests = program.command(&options.filters);
        tests.env("TMPDIR", scratch.path());
        match cluster {
            Some(cluster) => tests.env(TEST_DATABASE, cluster.url("postgres")),
            None => tests.env_remove(TEST_DATABASE),
        };
        println!("     Running {}", workspace::shown(&program.file));
        let status = match options.timings {
            true => timings::run(&mut tests, &program.name, &mut times)?,
            false => tests.status()?,
        };
        if !status.success() {
            failed.push(workspace::shown(&program.file));
        }
        if let Some(cluster) = cluster {
            cluster.forget("forgeway_test_")?;
        }
    }
    timings::report(&times);
    ensure!(failed.is_empty(), "these failed: {}", failed.join(", "));
    Ok(())
}

/// A compiled test binary and the folder cargo would start it in.
struct Program {
    /// Of its crate, and of the file in `tests` where it is of one.
    name: String,
    file: PathBuf,
    folder: PathBuf,
    reaches_database: bool,
}

impl Program {
    fn command(&self, filters: &[String]) -> Command {
        let mut tests = Command::new(&self.file);
        tests.current_dir(&self.folder).args(filters).env("CARGO_MANIFEST_DIR", &self.folder);
        tests
    }
}

/// The test binaries of the workspace.
fn programs() -> Result<Vec<Program>> {
    let packages = workspace::packages()?;
    let mut build = cargo();
    build.args(["test", "--workspace", "--all-features", "--tests", "--no-run", "--quiet"]);
    let messages = workspace::output(build.arg("--message-format=json-render-diagnostics"))?;
    Ok(messages.lines().filter_map(|line| program(line, &packages)).collect())
}

fn program(message: &str, packages: &[Package]) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    let file = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
    let package = packages.iter().find(|package| message["package_id"] == package.id.as_str())?;
    let target =
        message["target"]["name"].as_str().filter(|_| message["target"]["kind"][0] == "test");
    Some(Program {
        name: target.map_or(package.name.clone(), |target| format!("{}/{target}", package.name)),
        file: Path::new(file).to_owned(),
        folder: package.folder.clone(),
        reaches_database: package.name == "db"
            || package.dependencies.iter().any(|one| one.package == "forgeway-db"),
    })
}
