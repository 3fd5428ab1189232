//! The blame of a file that is too large for memory: written while its content is read.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use entities::repo::blame::BlamedCommitEntity;
use futures_util::{Stream, StreamExt as _, stream::try_unfold};
use kernel::{Error, Result, ids::ProjectId};
use repo::git::{Oid, blame::Blame};

use super::files::Pieces;
use crate::app::App;

/// Spans whose commits are read at once.
const AHEAD: usize = 500;
/// Records of commits that are held.
const MOST_COMMITS: usize = 5_000;

/// The same JSON as of a small file, piece by piece.
pub(super) fn streamed(
    app: App,
    project: ProjectId,
    blame: Arc<Blame>,
    content: Pieces,
) -> impl Stream<Item = Result<Bytes>> {
    let lines = Lines { skip: blame.skipped, left: 0, next: 0, blame, started: false };
    let writer = Writer { app, project, lines, commits: HashMap::new(), content, rest: Vec::new() };
    try_unfold(Some(writer), |writer| async move {
        let Some(mut writer) = writer else { return Ok(None) };
        let (text, is_over) = writer.piece().await?;
        Ok(Some((Bytes::from(text), (!is_over).then_some(writer))))
    })
}

/// The state of the output.
struct Lines {
    blame: Arc<Blame>,
    /// Lines before the first that is wanted.
    skip: u32,
    /// Lines that are still missing of the current span.
    left: u32,
    /// The span after the current one.
    next: usize,
    started: bool,
}

impl Lines {
    fn are_over(&self) -> bool {
        self.left == 0 && self.next >= self.blame.spans.len()
    }
}

struct Writer {
    app: App,
    project: ProjectId,
    lines: Lines,
    /// Records as JSON.
    commits: HashMap<Oid, String>,
    content: Pieces,
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
}

impl Writer {
    /// What one piece of the content gives, and whether it was the last.
    async fn piece(&mut self) -> Result<(Vec<u8>, bool)> {
        let mut text = if self.lines.started { Vec::new() } else { b"[".to_vec() };
        self.lines.started = true;
        let piece = self.content.next().await.transpose()?;
        let is_end = piece.is_none();
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.extend_from_slice(&piece.unwrap_or_default());
        let mut rest = bytes.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line(&rest[..end], &mut text).await?;
            rest = &rest[end + 1..];
        }
        if is_end && !rest.is_empty() {
            self.line(rest, &mut text).await?;
        }
        let is_over = is_end || self.lines.are_over();
        if is_over {
            text.extend_from_slice(if self.lines.next == 0 { &b"]"[..] } else { b"]}]" });
        }
        self.rest = rest.to_vec();
        Ok((text, is_over))
    }

    async fn line(&mut self, line: &[u8], text: &mut Vec<u8>) -> Result<()> {
        if self.lines.skip > 0 {
            self.lines.skip -= 1;
            return Ok(());
        }
        if self.lines.left > 0 {
            text.push(b',');
        } else {
            let Some(span) = self.lines.blame.spans.get(self.lines.next).copied() else {
                return Ok(());
            };
            if !self.commits.contains_key(&span.commit) {
                self.read_commits().await?;
            }
            if self.lines.next > 0 {
                text.extend_from_slice(b"]},");
            }
            text.extend_from_slice(b"{\"commit\":");
            text.extend_from_slice(
                self.commits.get(&span.commit).map_or(&b"null"[..], String::as_bytes),
            );
            text.extend_from_slice(b",\"lines\":[");
            self.lines.next += 1;
            self.lines.left = span.lines;
        }
        self.lines.left = self.lines.left.saturating_sub(1);
        serde_json::to_writer(text, &String::from_utf8_lossy(line)).map_err(Error::internal)
    }

    /// The records of the commits that come next.
    async fn read_commits(&mut self) -> Result<()> {
        if self.commits.len() > MOST_COMMITS {
            self.commits.clear();
        }
        let spans = self.lines.blame.spans.iter().skip(self.lines.next).take(AHEAD);
        let mut wanted: Vec<Oid> = spans.map(|span| span.commit).collect();
        wanted.sort();
        wanted.dedup();
        wanted.retain(|id| !self.commits.contains_key(id));
        let read = self.app.git_read(self.project, move |reader| {
            let record = |id: Oid| -> Result<(Oid, String)> {
                let record = BlamedCommitEntity::from(&reader.commit(id)?);
                Ok((id, serde_json::to_string(&record).map_err(Error::internal)?))
            };
            wanted.into_iter().map(record).collect::<Result<Vec<_>>>()
        });
        self.commits.extend(read.await?);
        Ok(())
    }
}
