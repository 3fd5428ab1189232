//! Breaks the machine under the server, one way after the other, and checks what it answers meanwhile, that it recovers
//! without a restart, and that nothing acknowledged is lost.

mod database;
mod disk;
mod job;
mod load;
mod log;
mod resource_limits;

use std::{path::PathBuf, time::Duration};

use anyhow::{Result, ensure};
use clap::Args;

use crate::server::{self, Profile};

#[derive(Args)]
pub(crate) struct Options {
    /// Only the faults whose names contain this
    only: Option<String>,
    /// The debug build, which is quicker to make
    #[arg(long)]
    debug: bool,
    /// Break the machine under this binary; without it one is built
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// What a fault is called, and how it is made and looked at.
type Fault = (&'static str, fn(&FaultFixture) -> Result<Verdict>);

const FAULTS: [Fault; 6] = [
    ("disk full", disk::bytes),
    ("inodes full", disk::inodes),
    ("open files", resource_limits::files),
    ("memory", resource_limits::memory),
    ("database away", database::away),
    ("log removed", log::removed),
];

/// What every fault needs: the program, and a folder of its own.
struct FaultFixture {
    binary: PathBuf,
    folder: PathBuf,
}

/// What came of a fault.
enum Verdict {
    /// In words, for the table.
    Good { answers: String, recovery: Duration, kept: usize },
    /// What this machine does not permit.
    Skipped(String),
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let profile = if options.debug { Profile::Debug } else { Profile::Release };
    let binary = server::binary(options.binary.as_deref(), profile)?;
    let scratch = tempfile::Builder::new().prefix("forgeway-faults-").tempdir()?;
    let wanted = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only));
    let mut bad = 0;
    println!(
        "| fault | answers meanwhile | good again after | acknowledged, all there |\n| --- | --- | --- | --- |"
    );
    for (name, fault) in FAULTS.into_iter().filter(|(name, _)| wanted(name)) {
        let folder = scratch.path().join(name.replace(' ', "-"));
        std::fs::create_dir(&folder)?;
        match fault(&FaultFixture { binary: binary.clone(), folder }) {
            Ok(Verdict::Good { answers, recovery, kept }) => {
                println!("| {name} | {answers} | {:.1} s | {kept} |", recovery.as_secs_f64());
            }
            Ok(Verdict::Skipped(why)) => println!("| {name} | skipped: {why} | | |"),
            Err(error) => {
                bad += 1;
                println!("| {name} | **wrong**: {error:#} | | |");
            }
        }
    }
    ensure!(bad == 0, "{bad} faults were not borne well");
    Ok(())
}
