//! The contents of large files on their way out.

use std::{io, pin::Pin};

use bytes::Bytes;
use futures_util::{Stream, stream};
use kernel::{Error, Result, ids::ProjectId};
use repo::lfs::{LfsId, LfsStore, Smudge};
use tokio::io::AsyncReadExt as _;

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
    let smudge = tokio::task::spawn_blocking(move || Smudge::new(program, &files, &ids)).await;
    smudge.map_err(Error::internal)?.map(Some).map_err(Error::internal)
}

const BLOCK: usize = 256 << 10;

pub type Content = Pin<Box<dyn Stream<Item = io::Result<Bytes>>>>;

/// The size and the content of a file that a project has.
pub async fn find(app: &App, project: ProjectId, id: &LfsId) -> Result<Option<(u64, Content)>> {
    let (place, id) = (app.lfs.place(id), id.clone());
    let known = app.db.peek(move |tx| tx.lfs_objects(project, std::slice::from_ref(&id))).await?;
    if known.is_empty() {
        return Ok(None);
    }
    let file = tokio::fs::File::open(place).await.map_err(Error::internal)?;
    let size = file.metadata().await.map_err(Error::internal)?.len();
    let content = stream::try_unfold(file, |mut file| async move {
        let mut block = Vec::with_capacity(BLOCK);
        let read = file.read_buf(&mut block).await?;
        Ok((read > 0).then(|| (Bytes::from(block), file)))
    });
    Ok(Some((size, Box::pin(content))))
}
