//! The repository that is measured: a real one, or one of some thousand commits made on the spot.

use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};

/// A repository on this disk, asked through the git command line.
pub(super) struct History {
    folder: PathBuf,
    pub(super) branch: String,
}

const MADE_COMMITS: u32 = 5_000;
const MADE_FILES: u32 = 300;

impl History {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
        let mut history = Self { folder, branch: String::new() };
        // A snapshot's HEAD may name a branch it does not hold.
        let head = history.line(&["symbolic-ref", "--short", "HEAD"]).unwrap_or_default();
        let names = history.lines(&["for-each-ref", "--format=%(refname:short)", "refs/heads"])?;
        let known = [head.as_str(), "master", "main"]
            .into_iter()
            .find(|name| names.iter().any(|known| known == name));
        let branch = known.map(str::to_owned).or_else(|| names.first().cloned());
        branch.context("the repository has no branch")?.clone_into(&mut history.branch);
        Ok(history)
    }

    /// A linear history with many small changes, the same one every time.
    pub(super) fn make(folder: &Path) -> Result<Self> {
        let init = Command::new("git")
            .args(["init", "--quiet", "--bare", "--initial-branch", "main"])
            .arg(folder)
            .status()?;
        ensure!(init.success(), "git init failed");
        let mut import = Command::new("git")
            .arg("--git-dir")
            .arg(folder)
            .args(["fast-import", "--quiet"])
            .stdin(Stdio::piped())
            .spawn()
            .context("starting git fast-import")?;
        import
            .stdin
            .take()
            .context("git fast-import takes no input")?
            .write_all(stream()?.as_bytes())?;
        ensure!(import.wait()?.success(), "git fast-import failed");
        Self::open(folder)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn bytes(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let mut git = Command::new("git");
        git.arg("--git-dir")
            .arg(&self.folder)
            .args(["-c", "safe.directory=*", "-c", "core.quotePath=false"])
            .args(arguments);
        let done =
            git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").output()?;
        ensure!(
            done.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        Ok(done.stdout)
    }

    pub(super) fn text(&self, arguments: &[&str]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.bytes(arguments)?).into_owned())
    }

    pub(super) fn lines(&self, arguments: &[&str]) -> Result<Vec<String>> {
        Ok(self.text(arguments)?.lines().map(str::to_owned).collect())
    }

    pub(super) fn line(&self, arguments: &[&str]) -> Result<String> {
        Ok(self.text(arguments)?.trim().to_owned())
    }

    /// Commits spread evenly over the branch.
    pub(super) fn commits(&self, count: usize) -> Result<Vec<String>> {
        Ok(spread(self.lines(&["rev-list", &self.branch])?, count))
    }

    /// Files spread evenly over the branch's tree.
    pub(super) fn files(&self, count: usize) -> Result<Vec<String>> {
        let listed = self.lines(&["ls-tree", "-r", &self.branch])?;
        let blobs = listed
            .iter()
            .filter_map(|line| line.split_once('\t').filter(|(head, _)| head.contains(" blob ")));
        Ok(spread(blobs.map(|(_, path)| path.to_owned()).collect(), count))
    }

    /// The folders at the top of the branch; a submodule is none.
    pub(super) fn folders(&self) -> Result<Vec<String>> {
        let listed = self.lines(&["ls-tree", "-d", &self.branch])?;
        let trees = listed.iter().filter_map(|line| line.split_once('\t'));
        Ok(trees
            .filter(|(head, _)| head.contains(" tree "))
            .map(|(_, name)| name.to_owned())
            .collect())
    }

    /// The files that the newest commits change most often.
    pub(super) fn hot_files(&self, count: usize) -> Result<Vec<String>> {
        let named = self.lines(&[
            "log",
            "-n",
            "1000",
            "--no-merges",
            "--format=",
            "--name-only",
            &self.branch,
        ])?;
        let mut times: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
        for name in named {
            *times.entry(name).or_default() += 1;
        }
        let there = self.lines(&["ls-tree", "-r", "--name-only", &self.branch])?;
        let mut times =
            times.into_iter().filter(|(name, _)| there.contains(name)).collect::<Vec<_>>();
        times.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(times.into_iter().take(count).map(|(name, _)| name).collect())
    }
}

fn spread(all: Vec<String>, count: usize) -> Vec<String> {
    let step = (all.len() / count.max(1)).max(1);
    all.into_iter().step_by(step).take(count).collect()
}

fn stream() -> Result<String> {
    let mut text = String::new();
    for n in 1..=MADE_COMMITS {
        let (file, moment) = (n * 7 % MADE_FILES, 1_600_000_000 + n * 600);
        let message = format!("Change file {file}, the {n}th time\n");
        let body = (0..40)
            .map(|line| format!("line {line} as of {}\n", n - n % (line + 1)))
            .collect::<String>();
        writeln!(
            text,
            "commit refs/heads/main\ncommitter Bench <bench@example.com> {moment} +0000"
        )?;
        writeln!(text, "data {}\n{message}", message.len())?;
        writeln!(
            text,
            "M 100644 inline folder-{}/file-{file}.txt\ndata {}\n{body}",
            file % 20,
            body.len()
        )?;
        if n % 250 == 0 {
            writeln!(text, "reset refs/tags/v{}.0\nfrom refs/heads/main\n", n / 250)?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_history_can_be_asked() {
        let folder = tempfile::tempdir().unwrap();

        let history = History::make(&folder.path().join("made.git")).unwrap();

        assert_eq!(history.branch, "main");
        assert_eq!(history.lines(&["rev-list", "main"]).unwrap().len(), 5_000);
        assert_eq!(history.lines(&["tag", "--list"]).unwrap().len(), 20);
        assert_eq!(history.commits(200).unwrap().len(), 200);
        assert_eq!(history.files(50).unwrap().len(), 50);
        assert_eq!(history.hot_files(5).unwrap().len(), 5);
    }
}
