//! A disk without a byte, or without a file, left: on a small file system in memory.

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Result, ensure};

use super::{FaultFixture, Verdict, job::RunningJob, load::Load};
use crate::server::Installation;

/// So often is tried to write while there is no room.
const ROUNDS: usize = 20;

/// A small file system that goes with the value.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Nothing where mounting is not permitted.
    fn mount(folder: &Path, limits: &str) -> Result<Option<Self>> {
        let place = folder.join("small");
        fs::create_dir(&place)?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", limits, "tmpfs"]).arg(&place).stderr(Stdio::null());
        let mounted = mount.status().is_ok_and(|status| status.success());
        Ok(mounted.then_some(Self(place)))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        if let Err(error) = Command::new("umount").arg("-l").arg(&self.0).status() {
            eprintln!("{} is still mounted: {error}", self.0.display());
        }
    }
}

pub(super) fn bytes(ground: &FaultFixture) -> Result<Verdict> {
    full(ground, "size=48m", |place| {
        let mut file = File::create(place)?;
        let block = vec![0; 64 << 10];
        // Until the file system takes no more of it, to the last page.
        while file.write_all(&block).is_ok() {}
        while file.write_all(&[0; 512]).is_ok() {}
        Ok(())
    })
}

pub(super) fn inodes(ground: &FaultFixture) -> Result<Verdict> {
    full(ground, "size=256m,nr_inodes=2000", |place| {
        fs::create_dir(place)?;
        let mut n = 0_u32;
        while File::create(place.join(n.to_string())).is_ok() {
            n += 1;
        }
        Ok(())
    })
}

fn full(
    ground: &FaultFixture,
    limits: &str,
    fill: impl Fn(&Path) -> Result<()>,
) -> Result<Verdict> {
    let Some(small) = SmallDisk::mount(&ground.folder, limits)? else {
        return Ok(Verdict::Skipped("mounting is not permitted".to_owned()));
    };
    let ballast = small.0.join("ballast");
    let mut installation = Installation::new(ground.binary.clone(), small.0.join("data"), None)?;
    installation.settings.push(("TMPDIR", small.0.display().to_string()));
    let server = installation.start()?;
    let mut load = Load::begin(&installation)?;
    for n in 0..10 {
        ensure!(load.round(n)?, "a write failed before anything was broken");
    }
    let mut job = RunningJob::begin(&installation)?;
    ensure!(job.round(&mut load)?, "a runner was refused before anything was broken");
    load.count_anew();
    fill(&ballast)?;
    let mut kept = 0;
    for n in 10..10 + ROUNDS {
        load.round(n)?;
        kept += usize::from(job.round(&mut load)?);
    }
    ensure!(kept < ROUNDS, "a runner's archive was kept each time");
    // What was found out a moment ago counts for a second.
    std::thread::sleep(Duration::from_millis(1100));
    ensure!(load.came(507) > 0, "nobody was told that the disk is full: {}", load.told());
    ensure!(!load.is_ready()?, "ready without room");
    let answers = format!("{}; not ready", load.told());
    if ballast.is_dir() {
        fs::remove_dir_all(&ballast)?
    } else {
        fs::remove_file(&ballast)?
    }
    let recovery = load.until_good()?;
    job.finish(&mut load)?;
    let kept = load.ensure_kept()?;
    server.stop()?;
    Ok(Verdict::Good { answers, recovery, kept })
}
