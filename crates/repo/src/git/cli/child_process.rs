//! A git child that runs: what it is fed, what it says, and how it ends.

use std::process::ExitStatus;
use std::time::Duration;

use kernel::task::{JoinHandle, spawn};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use crate::git::GitError;

/// How long a child that was told to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// How much of a child's complaints is kept.
const STDERR_KEPT: u64 = 64 * 1024;

#[derive(Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Output {
    pub fn failure(&self, subcommand: &str) -> GitError {
        failure(subcommand, self.status, &self.stderr)
    }
}

fn failure(subcommand: &str, status: ExitStatus, stderr: &str) -> GitError {
    GitError::Corrupt(format!("git {subcommand}: {status}: {}", stderr.trim()))
}

/// A started child. Dropping it ends the whole process group, gently at first so that git takes its locks away.
pub struct GitProcess {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    complaint: JoinHandle<String>,
    /// None once the child is reaped and its number may belong to somebody else.
    group: Option<Pid>,
    held: Option<(Child, OwnedSemaphorePermit)>,
    subcommand: &'static str,
    deadline: Instant,
}

impl GitProcess {
    pub(super) fn new(
        mut child: Child,
        place: OwnedSemaphorePermit,
        subcommand: &'static str,
        deadline: Instant,
    ) -> Self {
        Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            complaint: spawn(read_complaint(child.stderr.take())),
            group: child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)),
            held: Some((child, place)),
            subcommand,
            deadline,
        }
    }

    /// When the child has to be done.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Waits for the end. After this nothing is left to kill.
    pub async fn wait(&mut self) -> Result<ExitStatus, GitError> {
        drop(self.stdin.take());
        let Some((child, _)) = &mut self.held else {
            return Err(GitError::Corrupt("a git child was waited for twice".to_owned()));
        };
        let status = match timeout_at(self.deadline, child.wait()).await {
            Ok(status) => status?,
            Err(_) => return Err(GitError::Timeout),
        };
        self.group = None;
        self.held = None;
        Ok(status)
    }

    /// Waits for the end of a child whose output was read by the caller; failure becomes an error with its complaint.
    pub async fn finish(&mut self) -> Result<(), GitError> {
        let status = self.wait().await?;
        if status.success() {
            Ok(())
        } else {
            Err(failure(self.subcommand, status, &self.complaint().await))
        }
    }

    /// What the child said on its standard error.
    pub async fn complaint(&mut self) -> String {
        match timeout_at(self.deadline, &mut self.complaint).await {
            Ok(Ok(text)) => text,
            Ok(Err(_)) | Err(_) => String::new(),
        }
    }

    pub(super) async fn collect(&mut self, input: Vec<u8>, limit: u64) -> Result<Output, GitError> {
        let (stdin, stdout) = (self.stdin.take(), self.stdout.take());
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // A child that has seen enough closes its end; its exit status tells the rest.
                let _ = stdin.write_all(&input).await;
                let _ = stdin.shutdown().await;
            }
            Ok(())
        };
        let listen = async {
            match stdout {
                Some(stdout) => read_at_most(stdout, limit).await,
                None => Ok(Vec::new()),
            }
        };
        let ((), stdout) = tokio::try_join!(feed, listen)?;
        let status = self.wait().await?;
        Ok(Output { status, stdout, stderr: self.complaint().await })
    }
}

async fn read_at_most(source: impl AsyncRead + Unpin, limit: u64) -> Result<Vec<u8>, GitError> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes).await.map_err(GitError::Io)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
        return Err(GitError::TooLarge);
    }
    Ok(bytes)
}

/// Keeps the beginning and reads the rest away, so that the child never blocks on a full pipe.
async fn read_complaint(source: Option<ChildStderr>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut source) = source {
        // A complaint that cannot be read is an empty one: the exit status decides.
        let _ = (&mut source).take(STDERR_KEPT).read_to_end(&mut bytes).await;
        let _ = tokio::io::copy(&mut source, &mut tokio::io::sink()).await;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Drop for GitProcess {
    fn drop(&mut self) {
        let (Some(group), Some((child, place))) = (self.group, self.held.take()) else { return };
        signal(group, Signal::TERM);
        match Handle::try_current() {
            Ok(_) => drop(spawn(put_down(group, child, place))),
            Err(_) => signal(group, Signal::KILL),
        }
    }
}

/// Waits for a child that was told to end, and insists when it does not. Its place is taken until then.
async fn put_down(group: Pid, mut child: Child, _place: OwnedSemaphorePermit) {
    let gone = timeout(GRACE, child.wait()).await.is_ok();
    if !gone {
        signal(group, Signal::KILL);
        // Reaps it; how it ended is of no interest any more.
        let _ = child.wait().await;
    }
}

fn signal(group: Pid, signal: Signal) {
    // It may be gone already; there is nobody to tell.
    let _ = kill_process_group(group, signal);
}
