//! The contents of large files on their way out.

use std::{io, pin::Pin};

use bytes::Bytes;
use futures_util::Stream;
use kernel::{Error, Result, error::Kind, ids::ProjectId};
use repo::lfs::{LfsId, LfsStore, Smudge};

use crate::app::App;

/// Git holds a file in memory while it puts it into an archive; a larger one stays a pointer there.
const LARGEST_IN_ARCHIVES: i64 = 512 << 20;

/// What puts a project's large files into its archives; nothing where there are none.
pub async fn for_archives(app: &App, project: ProjectId) -> Result<Option<Smudge>> {
    let Some(program) = app.transport.large_files() else { return Ok(None) };
    let ids = app.db.read(move |tx| tx.lfs_objects_up_to(project, LARGEST_IN_ARCHIVES)).await?;
    if ids.is_empty() {
        return Ok(None);
    }
    let files = app.lfs.clone();
    let smudge = kernel::task::spawn_blocking(move || Smudge::new(program, &files, &ids)).await;
    smudge.map_err(Error::internal)?.map(Some).map_err(Error::internal)
}

pub type Content = Pin<Box<dyn Stream<Item = io::Result<Bytes>>>>;

/// The size and the content of a file that a project has.
pub async fn find(app: &App, project: ProjectId, id: &LfsId) -> Result<Option<(u64, Content)>> {
    let wanted = id.clone();
    let known =
        app.db.peek(move |tx| tx.lfs_objects(project, std::slice::from_ref(&wanted))).await?;
    if known.is_empty() {
        return Ok(None);
    }
    // One that is kept no more is our loss, and no mistake of who asks.
    let (size, content) =
        app.lfs.read(id).await.map_err(|cause| match cause.is_plain(Kind::NotFound) {
            true => Error::internal("the content of a large file is gone"),
            false => cause,
        })?;
    Ok(Some((size, Box::pin(content))))
}
