//! Kills the server at random moments under load and checks what it promised: nothing acknowledged is lost, nothing
//! half done is left.

mod alerts;
mod children;
mod facts;
mod hooks;
mod ledger;
mod load;
mod merges;
mod pipelines;
mod pushes;
mod runners;
mod verify;

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Result, bail, ensure};
use clap::Args;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tempfile::TempDir;

use crate::{
    migrate::Database,
    postgres::{Cluster, Durability},
    server::{self, Installation, Profile, Server},
};
use ledger::SharedLedger;

#[derive(Args)]
pub(crate) struct Options {
    /// How often the server is killed
    #[arg(long, default_value_t = 20)]
    rounds: u32,
    #[arg(long, value_enum, default_value_t = Database::Sqlite)]
    database: Database,
    /// How many pushes lose a process of theirs, or the server
    #[arg(long, default_value_t = 20)]
    pushes: u32,
    /// Chooses the moments; the same seed chooses the same ones
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The debug build, which is quicker to make
    #[arg(long)]
    debug: bool,
    /// Kill this binary; without it one is built
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Kill it while webhooks are told of changes, and do nothing else
    #[arg(long)]
    hooks: bool,
    /// How many changes webhooks are told of. Default: 10,000 with `--hooks`, else 500
    #[arg(long)]
    events: Option<u64>,
    /// Leave the data folder behind, for a look at what went wrong
    #[arg(long)]
    keep: bool,
}

/// Changes that webhooks are told of, alone and beside the other rounds, and the kills meanwhile in the latter case.
const ALL_EVENTS: u64 = 10_000;
const SOME_EVENTS: u64 = 500;
const SOME_KILLS: u32 = 5;
/// Between the first request of a round and its kill.
const MOMENTS: std::ops::Range<u64> = 50..1500;

/// Who dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victims {
    /// The server alone; git processes it started run on as orphans.
    Server,
    /// Also every git process: as when the machine stops.
    Everybody,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let profile = if options.debug { Profile::Debug } else { Profile::Release };
    let binary = server::binary(options.binary.as_deref(), profile)?;
    let mut scratch = tempfile::Builder::new().prefix("forgeway-crash-").tempdir()?;
    scratch.disable_cleanup(options.keep);
    let cluster = match options.database {
        Database::Sqlite => None,
        Database::Postgres => Cluster::start(Durability::Full)?,
    };
    let database = cluster.as_ref().map(|cluster| cluster.create("crash")).transpose()?;
    if options.database == Database::Postgres && database.is_none() {
        println!("crash: left out, no PostgreSQL server found on PATH or in /usr/lib/postgresql");
        return Ok(());
    }
    let installation = Installation::new(binary.clone(), scratch.path().join("data"), database)?;
    let told = cluster.as_ref().map(|cluster| cluster.create("crash_hooks")).transpose()?;
    let mut told = Installation::new(binary, scratch.path().join("hooks"), told)?;
    told.settings = ["FORGEWAY_RATE_LIMIT_USER", "FORGEWAY_RATE_LIMIT_ISSUE"]
        .map(|name| (name, "0".to_owned()))
        .to_vec();
    let size = match options.hooks {
        true => (options.rounds, options.events.unwrap_or(ALL_EVENTS)),
        false => (options.rounds.min(SOME_KILLS), options.events.unwrap_or(SOME_EVENTS)),
    };
    let outcome = match options.hooks {
        true => Ok(()),
        false => rounds(options, &installation, &scratch),
    };
    // Where nothing is to be killed, as for pushes alone, nothing is told either.
    let outcome = outcome.and_then(|()| match size.0 {
        0 => Ok(()),
        _ => deliveries(options.seed, size, &told),
    });
    if options.keep {
        println!("crash: the data stays in {}", scratch.path().display());
    }
    outcome
}

fn rounds(options: &Options, installation: &Installation, scratch: &TempDir) -> Result<()> {
    let mut random = StdRng::seed_from_u64(options.seed);
    let mut started = facts::now()?;
    let mut server = installation.start()?;
    let stage = load::Stage::prepare(installation, scratch.path())?;
    let everything = SharedLedger::default();
    for round in 1..=options.rounds {
        let victims = if random.random_bool(0.5) { Victims::Server } else { Victims::Everybody };
        let moment = Duration::from_millis(random.random_range(MOMENTS));
        let ledger = SharedLedger::default();
        crash(server, &stage, round, &ledger, (moment, victims))?;
        started = facts::now()?;
        server = installation.start()?;
        let back = server.started_in;
        let told = ledger.summary();
        let findings = verify::after_crash(installation, &ledger, started)?;
        println!(
            "round {round}: killed {victims:?} after {moment:?}; {told}; ready again in {back:.0?}"
        );
        everything.absorb(ledger);
        report(&findings)?;
    }
    let findings = verify::at_the_end(installation, &everything, started, stage.running_project)?;
    // A debug build is slow, and is not measured.
    let longest = options.debug.then_some(Duration::from_secs(30));
    let pushes = (options.pushes, longest);
    server = children::rounds(installation, server, scratch.path(), pushes, &mut random)?;
    server.stop()?;
    println!(
        "crash: {} rounds on {}: {}",
        options.rounds,
        options.database.name(),
        everything.summary()
    );
    report(&findings)?;
    println!(
        "crash: nothing acknowledged was lost, no job was done twice, every repository is sound, rows and refs agree, no lock is left"
    );
    Ok(())
}

/// Webhooks, on an installation of their own.
fn deliveries(seed: u64, size: (u32, u64), installation: &Installation) -> Result<()> {
    let mut random = StdRng::seed_from_u64(seed);
    report(&hooks::rounds(installation, size, &mut random)?)?;
    println!(
        "crash: every acknowledged event has arrived at every hook, in order, and at no deleted one"
    );
    Ok(())
}

/// One round of load, ended by SIGKILL.
fn crash(
    server: Server,
    stage: &load::Stage<'_>,
    round: u32,
    ledger: &SharedLedger,
    (moment, victims): (Duration, Victims),
) -> Result<()> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        stage.begin(scope, round, ledger, &stop);
        std::thread::sleep(moment);
        let children = if victims == Victims::Everybody {
            server::descendants(server.id())
        } else {
            Vec::new()
        };
        stop.store(true, Ordering::SeqCst);
        server.kill()?;
        if !children.is_empty() {
            server::signal("KILL", &children)?;
        }
        anyhow::Ok(())
    })?;
    let refused = ledger.refused();
    ensure!(
        refused.is_empty(),
        "a healthy server refused what it should have done:\n{}",
        refused.join("\n")
    );
    Ok(())
}

fn report(findings: &[String]) -> Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    bail!("{} findings:\n{}", findings.len(), findings.join("\n"))
}
