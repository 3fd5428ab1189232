//! One clone that pushes: each time its branch, a new tag, and the end of an older tag, all in one push.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::{Result, ensure};

use super::ledger::SharedLedger;
use crate::server::Installation;

pub(super) struct Pusher<'a> {
    installation: &'a Installation,
    project: i64,
    path: String,
    name: &'static str,
    clone: PathBuf,
}

impl<'a> Pusher<'a> {
    pub(super) fn prepare(
        installation: &'a Installation,
        scratch: &Path,
        (project, path): (i64, &str),
        name: &'static str,
    ) -> Result<Self> {
        let clone = scratch.join(format!("clone-{name}"));
        std::fs::create_dir_all(&clone)?;
        let pusher = Self { installation, project, path: path.to_owned(), name, clone };
        pusher.git(&["init", "--quiet", "--initial-branch", pusher.branch()])?;
        Ok(pusher)
    }

    fn branch(&self) -> &'static str {
        self.name
    }

    /// Pushes until the server is gone.
    pub(super) fn work(&self, round: u32, ledger: &SharedLedger, stop: &AtomicBool) {
        let mut tags: Vec<String> = Vec::new();
        for n in 0.. {
            if stop.load(Ordering::SeqCst) {
                return;
            }
            if let Err(error) = self.push(&format!("{}-{round}-{n}", self.name), &mut tags, ledger)
            {
                if !stop.load(Ordering::SeqCst) {
                    ledger.refuse(self.name, &format!("{error:#}"));
                }
                return;
            }
        }
    }

    fn push(&self, tag: &str, tags: &mut Vec<String>, ledger: &SharedLedger) -> Result<()> {
        std::fs::write(self.clone.join(format!("{tag}.txt")), format!("pushed with {tag}\n"))?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", tag])?;
        let sha = self.git(&["rev-parse", "HEAD"])?;
        let branch = format!("refs/heads/{}", self.branch());
        let mut specs = vec![format!("HEAD:{branch}"), format!("HEAD:refs/tags/{tag}")];
        // From here until the answer it may be there or not.
        let old = (tags.len() > 2).then(|| format!("refs/tags/{}", tags.remove(0)));
        if let Some(old) = &old {
            ledger.write().refs.remove(&(self.project, old.clone()));
            specs.push(format!(":{old}"));
        }
        let remote = self.installation.remote(&self.path);
        let mut arguments = vec!["push", "--quiet", &remote];
        arguments.extend(specs.iter().map(String::as_str));
        self.git(&arguments)?;
        tags.push(tag.to_owned());
        let mut ledger = ledger.write();
        ledger.pushes += 1;
        ledger.commits.entry((self.project, branch)).or_default().push(sha.clone());
        ledger.refs.insert((self.project, format!("refs/tags/{tag}")), Some(sha));
        ledger.refs.extend(old.map(|old| ((self.project, old), None)));
        Ok(())
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let mut git = Command::new("git");
        git.current_dir(&self.clone)
            .args(["-c", "user.name=Crash", "-c", "user.email=crash@example.com"])
            .args(arguments);
        let done = plain(&mut git).output()?;
        let told = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "git {} ended with {}: {told}", arguments[0], done.status);
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }
}

/// Git without this machine's own settings, and without questions.
pub(super) fn plain(git: &mut Command) -> &mut Command {
    git.env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
}
