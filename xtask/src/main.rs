//! The developer's tool: whatever is checked, generated or measured about Forgeway starts here.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to its terminal"
)]

mod bench;
mod build_report;
mod check;
mod client;
mod clients;
mod crash;
mod dump;
mod explorer;
mod faults;
mod format;
mod migrate;
mod object_store;
mod postgres;
mod receiver;
mod runner;
mod schema;
mod scratch;
mod server;
mod source;
mod test;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Checks, tests, generates and measures Forgeway.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything CI asks for besides the tests: format, lints, crate graph, schema, generated files, …
    Check(check::Options),
    /// All tests on SQLite, then the database-backed ones on a scratch PostgreSQL
    Test(test::Options),
    /// Write docs/openapi.json and docs/routes.txt
    Dump(dump::Options),
    /// Build the files of the GraphQL explorer from their packages (npm)
    Explorer(explorer::Options),
    /// Format all sources
    Format(format::Options),
    /// Kill the server under load, again and again, and check what it promised
    Crash(crash::Options),
    /// Break disk, files, memory and database under the server, and check what it answers and keeps
    Faults(faults::Options),
    /// Measure every kind of request on the release build, and compare answers with git
    Bench(bench::Options),
    /// What a build costs: seconds by crate, size by section, functions by number of copies
    BuildReport(build_report::Options),
    /// Make, apply, revert or list migrations
    #[command(subcommand)]
    Migrate(migrate::Task),
    /// Write crates/db/src/schema.rs from the migrations
    Schema(schema::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Check(options) => check::run(&options),
        Task::Test(options) => test::run(&options),
        Task::Dump(options) => dump::run(&options),
        Task::Explorer(options) => explorer::run(&options),
        Task::Format(options) => format::run(&options),
        Task::Crash(options) => crash::run(&options),
        Task::Faults(options) => faults::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::BuildReport(options) => build_report::run(&options),
        Task::Migrate(task) => migrate::run(&task),
        Task::Schema(options) => schema::run(&options),
    }
}
