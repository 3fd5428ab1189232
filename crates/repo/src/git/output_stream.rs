//! Streams the output of a git command while it runs.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream::try_unfold};
use tokio::{io::AsyncReadExt, process::ChildStdout, time::timeout_at};

use super::{
    GitError,
    cli::{Call, GitProcess, ProcessClass},
};

const CHUNK: usize = 64 * 1024;

/// Includes the time in which a slow reader takes it.
const TIME_LIMIT: Duration = Duration::from_secs(3600);

/// Starts the command. What git refuses, it refuses here, before anything is sent.
pub async fn printed(
    call: Call,
) -> Result<impl Stream<Item = Result<Bytes, GitError>> + use<>, GitError> {
    let mut child = call.lane(ProcessClass::Transport).time_limit(TIME_LIMIT).start().await?;
    drop(child.stdin.take());
    let Some(stdout) = child.stdout.take() else {
        return Err(GitError::Corrupt("git has no pipes".to_owned()));
    };
    let mut source = Source { child, stdout, first: None, ended: false };
    source.first = source.next().await?;
    Ok(try_unfold(source, |mut source| async move {
        let chunk = match source.first.take() {
            Some(first) => Some(first),
            None => source.next().await?,
        };
        Ok(chunk.map(|chunk| (chunk, source)))
    }))
}

struct Source {
    child: GitProcess,
    stdout: ChildStdout,
    first: Option<Bytes>,
    ended: bool,
}

impl Source {
    /// The next piece. None only after git has ended well.
    async fn next(&mut self) -> Result<Option<Bytes>, GitError> {
        if self.ended {
            return Ok(None);
        }
        let mut chunk = BytesMut::with_capacity(CHUNK);
        let read = timeout_at(self.child.deadline(), self.stdout.read_buf(&mut chunk)).await;
        read.map_err(|_late| GitError::Timeout)??;
        if chunk.is_empty() {
            self.ended = true;
            self.child.finish().await?;
            return Ok(None);
        }
        Ok(Some(chunk.freeze()))
    }
}
