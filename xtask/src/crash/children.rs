//! Kills the processes of a push at every step, one push after the other: the server lives, so nothing may stay behind.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use rand::{RngExt as _, rngs::StdRng};

use super::{pushes::plain, verify};
use crate::server::{self, Installation, Server};

const PROJECT: &str = "root/crash-children";
/// From the start of a push to the kill.
const MOMENTS: std::ops::Range<u64> = 0..150;
/// The push after a kill that met something takes no longer.
const LONGEST: Duration = Duration::from_secs(1);

struct Clone<'a> {
    installation: &'a Installation,
    folder: PathBuf,
}

/// Pushes `rounds` times, kills a process of each push, and pushes again.
pub(super) fn rounds(
    installation: &Installation,
    server: &Server,
    scratch: &Path,
    (rounds, longest): (u32, Option<Duration>),
    random: &mut StdRng,
) -> Result<()> {
    let clone = Clone { installation, folder: scratch.join("clone-children") };
    std::fs::create_dir_all(&clone.folder)?;
    clone.git(&["init", "--quiet", "--initial-branch", "main"])?;
    clone.commit("first")?;
    clone.push(&["main"])?;
    let (mut killed, mut slowest) = (0, Duration::ZERO);
    for round in 1..=rounds {
        clone.commit(&format!("round {round}"))?;
        killed += u32::from(clone.push_and_kill(server, round, random)?);
        let begun = Instant::now();
        clone.push(&["--force", "main", &format!("HEAD:refs/tags/again-{round}")])?;
        slowest = slowest.max(begun.elapsed());
    }
    ensure!(
        slowest <= longest.unwrap_or(LONGEST),
        "the push after a killed one took {slowest:.0?}"
    );
    let findings = verify::doctor(installation)?;
    ensure!(findings.is_empty(), "{}", findings.join("\n"));
    println!(
        "crash: {rounds} pushes, {killed} of them with a process killed; the next one took {slowest:.0?} at most, rows and refs agree"
    );
    Ok(())
}

impl Clone<'_> {
    fn commit(&self, title: &str) -> Result<()> {
        std::fs::write(self.folder.join("file"), title)?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", title])
    }

    fn push(&self, words: &[&str]) -> Result<()> {
        let remote = self.installation.remote(PROJECT);
        let (mut all, refs): (Vec<&str>, Vec<&str>) =
            words.iter().copied().partition(|word| word.starts_with("--"));
        all.splice(0..0, ["push", "--quiet"]);
        all.push(&remote);
        all.extend(refs);
        self.git(&all)
    }

    /// Whether there was a process to kill. What becomes of the push itself does not matter.
    fn push_and_kill(&self, server: &Server, round: u32, random: &mut StdRng) -> Result<bool> {
        let remote = self.installation.remote(PROJECT);
        let tag = format!("HEAD:refs/tags/v{round}");
        let mut push = Command::new("git");
        push.current_dir(&self.folder).args(["push", "--quiet", &remote, "main", &tag]);
        if round > 3 {
            push.arg(format!(":refs/tags/again-{}", round - 2));
        }
        let quiet = std::process::Stdio::null;
        let mut pushing = plain(&mut push).stdout(quiet()).stderr(quiet()).spawn()?;
        std::thread::sleep(Duration::from_millis(random.random_range(MOMENTS)));
        let children = server::descendants(server.id());
        let victim = match children.len() {
            0 => None,
            many => children.get(random.random_range(0..many)),
        };
        if let Some(victim) = victim {
            server::signal("KILL", &[*victim])?;
        }
        pushing.wait()?;
        Ok(victim.is_some())
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let mut git = Command::new("git");
        git.current_dir(&self.folder)
            .args(["-c", "user.name=Crash", "-c", "user.email=crash@example.com"])
            .args(arguments);
        let done = plain(&mut git).output()?;
        let told = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "git {} ended with {}: {told}", arguments[0], done.status);
        Ok(())
    }
}
