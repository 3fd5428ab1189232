//! All tests, first on SQLite, then the database-backed ones again on a scratch PostgreSQL.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use crate::{
    clients,
    postgres::{Cluster, Durability},
    server::Profile,
    workspace::{self, Package, cargo},
};

/// Where a test finds the server it makes its databases on.
const TEST_DATABASE: &str = "FORGEWAY_TEST_DATABASE_URL";

#[derive(Args)]
pub(crate) struct Options {
    /// Only on SQLite
    #[arg(long, conflicts_with = "postgres")]
    sqlite: bool,
    /// Only the database-backed tests, on PostgreSQL; fails when no server is found
    #[arg(long)]
    postgres: bool,
    /// Instead of the tests: two client libraries from their registries against a running server
    #[arg(long, conflicts_with_all = ["sqlite", "postgres", "filters"])]
    clients: bool,
    /// With `--clients`: the release build of the server
    #[arg(long, requires = "clients")]
    release: bool,
    /// Only tests whose name contains one of these
    filters: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.clients {
        return clients::smoke(if options.release { Profile::Release } else { Profile::Debug });
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
    let mut tests = cargo();
    tests
        .args(["test", "--workspace", "--all-features", "--no-fail-fast", "--"])
        .args(&options.filters);
    workspace::run(tests.env_remove(TEST_DATABASE))
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
    let mut failed = Vec::new();
    for program in programs()? {
        let mut tests = std::process::Command::new(&program.file);
        tests
            .current_dir(&program.folder)
            .args(&options.filters)
            .env("CARGO_MANIFEST_DIR", &program.folder);
        println!("     Running {} on PostgreSQL", workspace::shown(&program.file));
        if !tests.env(TEST_DATABASE, cluster.url("postgres")).status()?.success() {
            failed.push(workspace::shown(&program.file));
        }
        cluster.forget("forgeway_test_")?;
    }
    ensure!(failed.is_empty(), "on PostgreSQL these failed: {}", failed.join(", "));
    Ok(())
}

/// A compiled test binary and the folder cargo would start it in.
struct Program {
    file: PathBuf,
    folder: PathBuf,
}

/// The test binaries of the crates that reach the database.
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
    let on_database =
        package.name == "db" || package.dependencies.iter().any(|d| d.package == "forgeway-db");
    on_database
        .then(|| Program { file: Path::new(file).to_owned(), folder: package.folder.clone() })
}
