//! Every git process starts here: one environment, one set of limits, and no user text except after `--`.
//!
//! A child inherits nothing, reads no configuration but the repository's own, runs in its own process group,
//! and is ended with everything it started when it is dropped, takes too long or says too much.

mod child_process;

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use bstr::ByteSlice;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

pub use child_process::{GitProcess, Output};

use super::{GitError, Oid, RepoPath, TreePath};

/// The oldest git that knows `merge-tree --write-tree` as used here (Debian 12 has 2.39).
pub const OLDEST: Version = Version { major: 2, minor: 39 };

/// Configuration that every child gets, stronger than anything a repository says.
const CONFIG: &[&str] = &[
    "core.fsync=committed,reference",
    // Nothing lies below it, so no hook runs: rules are checked before git is asked.
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.filesRefLockTimeout=5000",
    "core.packedRefsTimeout=5000",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "advice.detachedHead=false",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    /// Reads `git version 2.39.5 (Some Vendor-123)`.
    fn parse(line: &str) -> Option<Self> {
        let number = line.trim().strip_prefix("git version ")?;
        let mut parts = number.split(|c: char| !c.is_ascii_digit());
        Some(Self { major: parts.next()?.parse().ok()?, minor: parts.next()?.parse().ok()? })
    }
}

/// Reasons for which the git program is not usable, for the operator.
#[derive(Debug, thiserror::Error)]
pub enum GitProblem {
    #[error(
        "git was not found as {program:?}: install git {OLDEST} or newer, or name the program in the settings"
    )]
    NotFound { program: PathBuf, source: std::io::Error },
    #[error("git {found} is too old: install git {OLDEST} or newer")]
    TooOld { found: Version },
    #[error("{program:?} does not answer `version` like git does: {answer:?}")]
    NotGit { program: PathBuf, answer: String },
}

/// The number, time and output limits of git processes.
#[derive(Clone, Debug)]
pub struct Settings {
    pub program: PathBuf,
    /// The `PATH` of the children, where git finds its own helpers.
    pub search_path: OsString,
    pub plumbing: usize,
    pub transport: usize,
    pub background: usize,
    pub time_limit: Duration,
    pub output_limit: u64,
}

impl Settings {
    pub fn new(search_path: OsString) -> Self {
        Self {
            program: PathBuf::from("git"),
            search_path,
            plumbing: 8,
            transport: 16,
            background: 1,
            time_limit: Duration::from_secs(60),
            output_limit: 64 * 1024 * 1024,
        }
    }
}

/// Who waits for whom: children of one lane never wait for a free place in another, so a push whose hook needs
/// a merge base cannot block the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessClass {
    /// Short questions and answers for API calls.
    Plumbing,
    /// Clones, fetches and pushes of remote git clients.
    Transport,
    /// Repacking and other care while nobody waits.
    Background,
}

/// The git program, checked once at start-up.
#[derive(Clone, Debug)]
pub struct Git(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    version: Version,
    plumbing: ProcessSlots,
    transport: ProcessSlots,
    background: ProcessSlots,
}

/// Room for so many children at once.
#[derive(Debug)]
struct ProcessSlots {
    free: Arc<Semaphore>,
    all: usize,
}

impl ProcessSlots {
    fn new(count: usize) -> Self {
        let all = count.max(1);
        Self { free: Arc::new(Semaphore::new(all)), all }
    }

    fn taken(&self) -> usize {
        self.all.saturating_sub(self.free.available_permits())
    }
}

impl Git {
    pub async fn find(mut settings: Settings) -> Result<Self, GitProblem> {
        let named = settings.program.clone();
        let Some(program) = locate(&named, &settings.search_path) else {
            return Err(GitProblem::NotFound {
                program: named,
                source: ErrorKind::NotFound.into(),
            });
        };
        settings.program.clone_from(&program);
        let output = command(&settings)
            .arg("version")
            .stdin(Stdio::null())
            .output()
            .await
            .map_err(|source| GitProblem::NotFound { program: program.clone(), source })?;
        let answer = String::from_utf8_lossy(&output.stdout).into_owned();
        let Some(version) = Version::parse(&answer) else {
            return Err(GitProblem::NotGit { program, answer });
        };
        if version < OLDEST {
            return Err(GitProblem::TooOld { found: version });
        }
        Ok(Self(Arc::new(Inner {
            plumbing: ProcessSlots::new(settings.plumbing),
            transport: ProcessSlots::new(settings.transport),
            background: ProcessSlots::new(settings.background),
            settings,
            version,
        })))
    }

    pub fn version(&self) -> Version {
        self.0.version
    }

    /// Its full path. Started by it, a child shares our memory until it runs; found by name, all of that would be copied.
    pub fn program(&self) -> &Path {
        &self.0.settings.program
    }

    /// How long a question may take.
    pub fn time_limit(&self) -> Duration {
        self.0.settings.time_limit
    }

    /// Starts describing `git <subcommand>` in a repository.
    pub fn at(&self, repo: &RepoPath, subcommand: &'static str) -> Call {
        let mut call = self.call();
        call.command.arg("-c").arg(joined("safe.directory=", repo.as_path().as_os_str()));
        call.command.arg(joined("--git-dir=", repo.as_path().as_os_str()));
        call.command.current_dir(repo.as_path());
        call.subcommand = subcommand;
        call
    }

    fn call(&self) -> Call {
        let settings = &self.0.settings;
        let mut command = command(settings);
        for setting in CONFIG {
            command.arg("-c").arg(setting);
        }
        Call {
            git: self.clone(),
            command,
            subcommand: "",
            arguments: Vec::new(),
            input: Vec::new(),
            lane: ProcessClass::Plumbing,
            time_limit: settings.time_limit,
            output_limit: settings.output_limit,
        }
    }

    fn places(&self, lane: ProcessClass) -> &ProcessSlots {
        match lane {
            ProcessClass::Plumbing => &self.0.plumbing,
            ProcessClass::Transport => &self.0.transport,
            ProcessClass::Background => &self.0.background,
        }
    }

    /// Children running now, for the metrics page.
    pub fn running(&self) -> usize {
        let lanes = [ProcessClass::Plumbing, ProcessClass::Transport, ProcessClass::Background];
        lanes.into_iter().map(|lane| self.places(lane).taken()).sum()
    }
}

/// Git by its full path, with nothing of our own environment.
fn command(settings: &Settings) -> Command {
    let mut command = Command::new(&settings.program);
    command.env_clear().env("PATH", &settings.search_path).envs(ENVIRONMENT.iter().copied());
    command
}

/// The full path of a program that may be given by its name alone.
fn locate(program: &Path, search_path: &OsStr) -> Option<PathBuf> {
    if program.components().nth(1).is_some() {
        return std::path::absolute(program).ok();
    }
    let runs = |file: &PathBuf| {
        let about = file.metadata();
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(runs)
}

const ENVIRONMENT: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("HOME", "/nonexistent"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
];

fn joined(prefix: &str, rest: &OsStr) -> OsString {
    let mut text = OsString::from(prefix);
    text.push(rest);
    text
}

/// A git command being put together. User text reaches it only as an id or as a path after `--`.
pub struct Call {
    git: Git,
    command: Command,
    subcommand: &'static str,
    arguments: Vec<OsString>,
    input: Vec<u8>,
    lane: ProcessClass,
    time_limit: Duration,
    output_limit: u64,
}

impl Call {
    /// A word of the program's own text. What it is made of must not come from a caller.
    pub fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.arguments.push(word.as_ref().to_owned());
        self
    }

    pub fn args<W: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.arguments.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
        self
    }

    pub fn id(self, id: Oid) -> Self {
        self.arg(id.to_string())
    }

    /// Ends the options and names paths, which git takes literally.
    pub fn paths<'a>(mut self, paths: impl IntoIterator<Item = &'a TreePath>) -> Self {
        self.arguments.push(OsString::from("--"));
        let paths = paths.into_iter().map(|path| path.as_bstr().to_os_str_lossy().into_owned());
        self.arguments.extend(paths);
        self
    }

    /// One more `-c name=value`, stronger than the common ones.
    pub fn config(mut self, setting: impl AsRef<OsStr>) -> Self {
        self.command.arg("-c").arg(setting);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = bytes;
        self
    }

    pub fn lane(mut self, lane: ProcessClass) -> Self {
        self.lane = lane;
        self
    }

    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    pub fn output_limit(mut self, bytes: u64) -> Self {
        self.output_limit = bytes;
        self
    }

    /// Waits for a free place and starts the child with all three pipes in our hands.
    pub async fn start(mut self) -> Result<GitProcess, GitError> {
        let deadline = Instant::now() + self.time_limit;
        let places = Arc::clone(&self.git.places(self.lane).free);
        let place = match timeout_at(deadline, places.acquire_owned()).await {
            Ok(Ok(place)) => place,
            Ok(Err(_)) | Err(_) => return Err(GitError::Timeout),
        };
        self.command.arg(self.subcommand).args(&self.arguments);
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.process_group(0);
        let child = self.command.spawn().map_err(GitError::Io)?;
        Ok(GitProcess::new(child, place, self.subcommand, deadline))
    }

    /// Runs the command to its end, whatever that is.
    pub async fn output(mut self) -> Result<Output, GitError> {
        let input = std::mem::take(&mut self.input);
        let limit = self.output_limit;
        let mut running = self.start().await?;
        let deadline = running.deadline();
        match timeout_at(deadline, running.collect(input, limit)).await {
            Ok(output) => output,
            Err(_) => Err(GitError::Timeout),
        }
    }

    /// Runs the command and takes anything but success for a broken repository.
    pub async fn succeed(self) -> Result<Vec<u8>, GitError> {
        let subcommand = self.subcommand;
        let output = self.output().await?;
        if output.status.success() { Ok(output.stdout) } else { Err(output.failure(subcommand)) }
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_of_all_vendors_are_read() {
        let of = |line| Version::parse(line).map(|found| (found.major, found.minor));

        assert_eq!(of("git version 2.39.5\n"), Some((2, 39)));
        assert_eq!(of("git version 2.47.3 (Apple Git-155)"), Some((2, 47)));
        assert_eq!(of("git version 2.50.rc1.windows.1"), Some((2, 50)));
        assert_eq!(of("hello"), None);
    }
}
