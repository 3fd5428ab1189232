//! A blob too large for memory, sent on while git inflates it.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream::try_unfold};
use tokio::{io::AsyncReadExt as _, process::ChildStdout, time::timeout_at};

use super::{
    Git, GitError, Oid, RepoPath, Result,
    cli::{GitProcess, ProcessClass},
};

const CHUNK: usize = 64 << 10;

/// Includes the time in which a slow reader takes it.
const TIME_LIMIT: Duration = Duration::from_secs(3600);

/// The content of a blob that [`Reader::blob_info`](super::Reader::blob_info) has found, piece by piece; only as fast
/// as it is taken. Dropping the stream ends the child.
pub async fn blob_stream(
    git: &Git,
    repo: &RepoPath,
    id: Oid,
) -> Result<impl Stream<Item = Result<Bytes>> + use<>> {
    // Beyond it git inflates piece by piece, too.
    let call = git.at(repo, "cat-file").config("core.bigFileThreshold=1m").arg("blob").id(id);
    let mut child = call.lane(ProcessClass::Transport).time_limit(TIME_LIMIT).start().await?;
    drop(child.stdin.take());
    let Some(stdout) = child.stdout.take() else {
        return Err(GitError::Corrupt("git cat-file has no pipes".to_owned()));
    };
    Ok(try_unfold((child, stdout), |(mut child, mut stdout)| async move {
        let piece = next_piece(&mut child, &mut stdout).await?;
        Ok(piece.map(|piece| (piece, (child, stdout))))
    }))
}

/// `None` only after git has ended well.
async fn next_piece(child: &mut GitProcess, stdout: &mut ChildStdout) -> Result<Option<Bytes>> {
    let mut piece = BytesMut::with_capacity(CHUNK);
    let read = timeout_at(child.deadline(), stdout.read_buf(&mut piece)).await;
    if read.or(Err(GitError::Timeout))?? > 0 {
        return Ok(Some(piece.freeze()));
    }
    child.finish().await?;
    Ok(None)
}
