//! A write-ahead log that somebody removed after a crash.

use std::{fs, time::Instant};

use anyhow::{Result, ensure};

use super::{FaultFixture, Verdict, load::Load};
use crate::server::Installation;

pub(super) fn removed(ground: &FaultFixture) -> Result<Verdict> {
    let installation = Installation::new(ground.binary.clone(), ground.folder.join("data"), None)?;
    // The first stop moves the tables out of the log.
    installation.start()?.stop()?;
    let server = installation.start()?;
    let mut load = Load::begin(&installation)?;
    for n in 0..5 {
        load.round(n)?;
    }
    server.kill()?;
    // Only killed: everything is there.
    let server = installation.start()?;
    let kept = load.ensure_kept()?;
    server.kill()?;
    let doctor = || Ok::<_, std::io::Error>(installation.command().arg("doctor").output()?.stdout);
    let told = String::from_utf8_lossy(&doctor()?).into_owned();
    ensure!(told.contains("every commit that was noted"), "before the loss: {told}");
    // A kill and a few writes, so that the log holds what the database does not.
    let server = installation.start()?;
    for n in 5..8 {
        load.round(n)?;
    }
    server.kill()?;
    for end in ["wal", "shm"] {
        fs::remove_file(installation.data.join(format!("forgeway.sqlite3-{end}")))?;
    }
    let begun = Instant::now();
    let server = installation.start()?;
    let recovery = begun.elapsed();
    let log = fs::read_to_string(installation.log())?;
    ensure!(log.contains("lacks commits"), "the log says nothing of the loss");
    let told = String::from_utf8_lossy(&doctor()?).into_owned();
    ensure!(told.contains("the database ended at commit"), "the doctor says: {told}");
    server.stop()?;
    let answers = "the start logs an error, the doctor says WRONG".to_owned();
    Ok(Verdict::Good { answers, recovery, kept })
}
