//! Kills the processes of a push at every step, the server among them, one push after the other: nothing may stay behind
//! that holds up the next one.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use rand::{RngExt as _, rngs::StdRng};

use super::{pushes::plain, verify};
use crate::server::{self, Installation, Server};

const PROJECT: &str = "root/crash-children";
/// From the start of a push to the kill of the server, and from the sight of a process to its own.
const MOMENTS: std::ops::Range<u64> = 0..150;
const DELAYS: std::ops::Range<u64> = 0..8;
/// The push after a kill takes no longer.
const LONGEST: Duration = Duration::from_secs(1);
/// Who dies, in turn: the server, and the processes of a push in the order in which they run.
const VICTIMS: [&str; 6] =
    ["server", "receive-pack", "unpack-objects", "rev-list", "pre-receive", "proc-receive"];

struct Clone<'a> {
    installation: &'a Installation,
    folder: PathBuf,
}

/// Pushes `rounds` times, kills a process of each push, and pushes again.
pub(super) fn rounds(
    installation: &Installation,
    mut server: Server,
    scratch: &Path,
    (rounds, longest): (u32, Option<Duration>),
    random: &mut StdRng,
) -> Result<Server> {
    let clone = Clone { installation, folder: scratch.join("clone-children") };
    std::fs::create_dir_all(&clone.folder)?;
    clone.git(&["init", "--quiet", "--initial-branch", "main"])?;
    clone.commit("first")?;
    clone.push(&["main"])?;
    let (mut killed, mut slowest) = (BTreeMap::new(), Duration::ZERO);
    for (round, victim) in (1..=rounds).zip(VICTIMS.into_iter().cycle()) {
        clone.commit(&format!("round {round}"))?;
        let mut pushing = clone.begin_push(round)?;
        let met = if victim == "server" {
            std::thread::sleep(Duration::from_millis(random.random_range(MOMENTS)));
            server.kill()?;
            server = installation.start()?;
            true
        } else {
            kill_one(&server, &mut pushing, victim, random)?
        };
        // What becomes of the push itself does not matter.
        pushing.wait()?;
        *killed.entry(victim).or_insert(0_u32) += u32::from(met);
        let begun = Instant::now();
        clone
            .push(&["--force", "main", &format!("HEAD:refs/tags/again-{round}")])
            .with_context(|| format!("round {round}, after the {victim} was killed"))?;
        slowest = slowest.max(begun.elapsed());
    }
    ensure!(
        slowest <= longest.unwrap_or(LONGEST),
        "the push after a killed one took {slowest:.0?}"
    );
    let findings = verify::doctor(installation)?;
    ensure!(findings.is_empty(), "{}", findings.join("\n"));
    println!(
        "crash: {rounds} pushes, killed {killed:?}; the next one took {slowest:.0?} at most, rows and refs agree"
    );
    Ok(server)
}

/// Waits until such a process of the push runs, and kills it. False when the push was over before.
fn kill_one(
    server: &Server,
    pushing: &mut Child,
    victim: &str,
    random: &mut StdRng,
) -> Result<bool> {
    while pushing.try_wait()?.is_none() {
        let children = server::descendants(server.id());
        let Some(found) = children.into_iter().find(|child| is_called(*child, victim)) else {
            continue;
        };
        std::thread::sleep(Duration::from_millis(random.random_range(DELAYS)));
        server::signal("KILL", &[found])?;
        return Ok(true);
    }
    Ok(false)
}

/// Whether a process is a program of this name, or does what git calls so.
fn is_called(process: u32, name: &str) -> bool {
    let line = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
    line.split('\0').any(|word| Path::new(word).file_name().is_some_and(|last| last == name))
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

    /// A branch that moves, a tag that comes and one that goes.
    fn begin_push(&self, round: u32) -> Result<Child> {
        let remote = self.installation.remote(PROJECT);
        let tag = format!("HEAD:refs/tags/v{round}");
        let mut push = Command::new("git");
        push.current_dir(&self.folder).args(["push", "--quiet", &remote, "main", &tag]);
        if round > 3 {
            push.arg(format!(":refs/tags/again-{}", round - 2));
        }
        let quiet = Stdio::null;
        Ok(plain(&mut push).stdout(quiet()).stderr(quiet()).spawn()?)
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
