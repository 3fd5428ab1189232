//! Push and clone, timed with the real git.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Result, ensure};

use super::history::History;
use crate::server::Installation;

const PUSHES: usize = 15;
/// Refs of one push.
const MANY: usize = 2_000;

/// Seconds, over several runs of the same command.
pub(super) struct Timing {
    pub(super) what: String,
    pub(super) seconds: Vec<f64>,
}

impl Timing {
    pub(super) fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// The first push: all branches and tags.
pub(super) fn push_everything(
    installation: &Installation,
    history: &History,
    project: &str,
) -> Result<Timing> {
    let remote = installation.remote(project);
    let specs = ["refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"];
    let mut push = git();
    push.arg("--git-dir").arg(history.folder()).args(["push", "--quiet", &remote]).args(specs);
    Ok(Timing { what: "push of everything".to_owned(), seconds: vec![seconds(&mut push)?] })
}

/// Clones of the large project over HTTP beside clones of the same repository from the disk, then small pushes.
pub(super) fn measure(
    installation: &Installation,
    history: &History,
    (large, small): (&str, &str),
    scratch: &Path,
    repeats: usize,
) -> Result<Vec<Timing>> {
    let served = installation.remote(large);
    let disk = format!("file://{}", history.folder().display());
    let clone = |what: &str, source: &str, options: &[&str]| -> Result<Timing> {
        let runs =
            (0..repeats).map(|_| clone_once(source, options, scratch)).collect::<Result<_>>()?;
        Ok(Timing { what: what.to_owned(), seconds: runs })
    };
    let shallow = ["--depth", "1"];
    let partial = ["--filter=blob:none"];
    let (many, many_on_disk) = pushes_of_many_refs(installation, scratch)?;
    Ok(vec![
        many,
        many_on_disk,
        clone("clone over HTTP", &served, &[])?,
        clone("clone from the disk", &disk, &[])?,
        clone("clone --depth 1 over HTTP", &served, &shallow)?,
        clone("clone --depth 1 from the disk", &disk, &shallow)?,
        clone("clone --filter=blob:none over HTTP", &served, &partial)?,
        pushes(installation, small, scratch)?,
    ])
}

/// Tags of one commit, pushed to a new project and to a repository on the disk.
fn pushes_of_many_refs(installation: &Installation, scratch: &Path) -> Result<(Timing, Timing)> {
    let (clone, bare) = (scratch.join("many"), scratch.join("many.git"));
    seconds(git().args(["init", "--quiet", "--initial-branch", "main"]).arg(&clone))?;
    seconds(git().args(["init", "--quiet", "--bare"]).arg(&bare))?;
    let in_clone = |words: &[&str]| seconds(git().current_dir(&clone).args(words));
    in_clone(&["commit", "--quiet", "--allow-empty", "--message", "one"])?;
    let served = installation.remote("root/many-refs");
    let disk = bare.display().to_string();
    for remote in [served.as_str(), disk.as_str()] {
        in_clone(&["push", "--quiet", remote, "main"])?;
    }
    let script: String = (0..MANY).map(|n| format!("create refs/tags/v{n:04} HEAD\n")).collect();
    std::fs::write(clone.join("refs"), script)?;
    in_clone(&["-c", "alias.fill=!git update-ref --stdin < refs", "fill"])?;
    let timed = |what: &str, remote: &str| -> Result<Timing> {
        let taken = in_clone(&["push", "--quiet", remote, "refs/tags/*:refs/tags/*"])?;
        Ok(Timing { what: what.to_owned(), seconds: vec![taken] })
    };
    Ok((
        timed("push of 2,000 refs over HTTP", &served)?,
        timed("push of 2,000 refs to the disk", &disk)?,
    ))
}

fn clone_once(source: &str, options: &[&str], scratch: &Path) -> Result<f64> {
    let target = scratch.join("cloned");
    let mut clone = git();
    clone.args(["clone", "--quiet", "--bare"]).args(options).arg(source).arg(&target);
    let taken = seconds(&mut clone)?;
    std::fs::remove_dir_all(target)?;
    Ok(taken)
}

/// One new commit at a time onto one branch.
fn pushes(installation: &Installation, project: &str, scratch: &Path) -> Result<Timing> {
    let mut pusher = Pusher::new(installation, project, scratch.join("pusher"))?;
    let seconds = (0..PUSHES).map(|_| pusher.push()).collect::<Result<_>>()?;
    Ok(Timing { what: "push of one commit".to_owned(), seconds })
}

/// A clone that pushes one commit at a time onto its branch.
pub(super) struct Pusher {
    clone: PathBuf,
    commits: usize,
}

impl Pusher {
    pub(super) fn new(installation: &Installation, project: &str, clone: PathBuf) -> Result<Self> {
        let remote = installation.remote(project);
        seconds(git().args(["clone", "--quiet", &remote]).arg(&clone))?;
        Ok(Self { clone, commits: 0 })
    }

    /// Makes a commit, and tells how many seconds its push takes.
    pub(super) fn push(&mut self) -> Result<f64> {
        self.commits += 1;
        let message = format!("commit {}", self.commits);
        let commit = ["commit", "--quiet", "--allow-empty", "--message", &message];
        seconds(git().current_dir(&self.clone).args(commit))?;
        seconds(git().current_dir(&self.clone).args(["push", "--quiet", "origin", "HEAD"]))
    }
}

fn git() -> Command {
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0");
    git.args([
        "-c",
        "safe.directory=*",
        "-c",
        "user.name=Bench",
        "-c",
        "user.email=bench@example.com",
    ]);
    git
}

fn seconds(command: &mut Command) -> Result<f64> {
    let begun = Instant::now();
    let done = command.output()?;
    let told = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{command:?}: {told}");
    Ok(begun.elapsed().as_secs_f64())
}
