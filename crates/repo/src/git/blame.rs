//! Who wrote each line of a file, as git sees it.

use bstr::ByteSlice;
use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::ChildStdout;
use tokio::time::timeout_at;

use super::cli::{Git, Running};
use super::{GitError, Oid, RepoPath, TreePath};

/// Lines of a file in a row that came with the same commit, without their line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameRange {
    pub commit: Oid,
    pub lines: Vec<Bytes>,
}

/// First and last line, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    pub first: u32,
    pub last: u32,
}

/// Blames a file as it is at a commit, all of it or some lines. Lines beyond the end are not there.
pub async fn blame(
    git: &Git,
    repo: &RepoPath,
    at: Oid,
    path: &TreePath,
    lines: Option<LineRange>,
    output_limit: u64,
) -> Result<Vec<BlameRange>, GitError> {
    let mut call = git.at(repo, "blame").args(["--porcelain"]);
    if let Some(LineRange { first, last }) = lines {
        call = call.arg(format!("-L{first},{last}"));
    }
    let mut child = call.id(at).paths([path]).start().await?;
    let Some(stdout) = child.stdout.take() else { return Ok(Vec::new()) };
    let ranges = match timeout_at(child.deadline(), read_ranges(stdout, output_limit)).await {
        Ok(ranges) => ranges?,
        Err(_) => return Err(GitError::Timeout),
    };
    match end(&mut child).await? {
        End::Done => Ok(ranges),
        End::BeyondTheFile => Ok(Vec::new()),
    }
}

enum End {
    Done,
    BeyondTheFile,
}

async fn end(child: &mut Running) -> Result<End, GitError> {
    let status = child.wait().await?;
    if status.success() {
        return Ok(End::Done);
    }
    let complaint = child.complaint().await;
    if complaint.contains("has only") {
        return Ok(End::BeyondTheFile);
    }
    if complaint.contains("no such path") || complaint.contains("unsupported file type") {
        return Err(GitError::NotFound);
    }
    Err(GitError::Corrupt(format!("git blame: {}", complaint.trim())))
}

/// Each line is a header that begins with an id, facts about commits that are new, and the line after a tab.
async fn read_ranges(stdout: ChildStdout, limit: u64) -> Result<Vec<BlameRange>, GitError> {
    let mut reader = BufReader::new(stdout.take(limit.saturating_add(1)));
    let (mut read, mut current) = (0_u64, None);
    let mut ranges: Vec<BlameRange> = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line).await?;
        if length == 0 {
            return Ok(ranges);
        }
        read = read.saturating_add(u64::try_from(length).or(Err(GitError::TooLarge))?);
        if read > limit {
            return Err(GitError::TooLarge);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        match (line.strip_prefix(b"\t"), current) {
            (Some(text), Some(commit)) => {
                push_line(&mut ranges, commit, text);
                current = None;
            }
            (None, None) => current = Some(header(line)?),
            // A fact about the commit; whoever shows it reads the commit itself.
            (None, Some(_)) => {}
            (Some(_), None) => {
                return Err(GitError::Corrupt("git blame: a line without header".to_owned()));
            }
        }
    }
}

fn header(line: &[u8]) -> Result<Oid, GitError> {
    let id = line.split_str(" ").next().unwrap_or_default();
    id.to_str_lossy()
        .parse()
        .or(Err(GitError::Corrupt("git blame: a header without id".to_owned())))
}

fn push_line(ranges: &mut Vec<BlameRange>, commit: Oid, text: &[u8]) {
    let line = Bytes::copy_from_slice(text);
    match ranges.last_mut() {
        Some(range) if range.commit == commit => range.lines.push(line),
        _ => ranges.push(BlameRange { commit, lines: vec![line] }),
    }
}
