//! The author of each line of a file, as git computes it.

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::ChildStdout;
use tokio::time::timeout_at;

use super::cli::{Git, GitProcess};
use super::{GitError, Oid, RepoPath, TreePath};

/// Lines of a file in a row that came with the same commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub commit: Oid,
    pub lines: u32,
}

/// The blame of a file, as consecutive spans. The lines themselves are in the blob.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// How many lines of the file come before the first span.
    pub skipped: u32,
    pub spans: Vec<Span>,
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
) -> Result<Blame, GitError> {
    // Says only where the lines of each commit are, not the lines: a few bytes for a file of any size.
    let mut call = git.at(repo, "blame").args(["--incremental"]);
    if let Some(LineRange { first, last }) = lines {
        call = call.arg(format!("-L{first},{last}"));
    }
    let mut child = call.id(at).paths([path]).start().await?;
    let Some(stdout) = child.stdout.take() else { return Ok(Blame::default()) };
    let found = match timeout_at(child.deadline(), read_places(stdout)).await {
        Ok(found) => found?,
        Err(_) => return Err(GitError::Timeout),
    };
    match end(&mut child).await? {
        End::Done => Ok(in_order(found)),
        End::BeyondTheFile => Ok(Blame::default()),
    }
}

enum End {
    Done,
    BeyondTheFile,
}

async fn end(child: &mut GitProcess) -> Result<End, GitError> {
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

/// A span and where it begins in the file, counted from 1.
struct NumberedSpan {
    start: u32,
    span: Span,
}

/// Each place is a line `<id> <start in that commit> <start> <lines>`, facts about the commit where it is new, and at the
/// end the file's name in that commit. Git tells them in no order.
async fn read_places(stdout: ChildStdout) -> Result<Vec<NumberedSpan>, GitError> {
    let mut reader = BufReader::new(stdout);
    let (mut places, mut line) = (Vec::new(), Vec::new());
    let mut is_between = true;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).await? == 0 {
            return Ok(places);
        }
        if is_between {
            places.push(place(&line).ok_or_else(|| {
                GitError::Corrupt("git blame: a place that cannot be read".to_owned())
            })?);
        }
        is_between = line.starts_with(b"filename ");
    }
}

fn place(line: &[u8]) -> Option<NumberedSpan> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let commit = words.next()?.parse().ok()?;
    let (start, lines) = (words.nth(1)?.parse().ok()?, words.next()?.parse().ok()?);
    Some(NumberedSpan { start, span: Span { commit, lines } })
}

fn in_order(mut places: Vec<NumberedSpan>) -> Blame {
    places.sort_unstable_by_key(|place| place.start);
    let skipped = places.first().map_or(0, |first| first.start.saturating_sub(1));
    let mut spans: Vec<Span> = Vec::new();
    for NumberedSpan { span, .. } in places {
        match spans.last_mut() {
            Some(last) if last.commit == span.commit => last.lines += span.lines,
            _ => spans.push(span),
        }
    }
    Blame { skipped, spans }
}
