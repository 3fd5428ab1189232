//! The contents of large files on their way out.

use std::{io, pin::Pin};

use bytes::Bytes;
use futures_util::{Stream, stream};
use kernel::{Error, Result, ids::ProjectId};
use repo::lfs::{LfsId, LfsStore};
use tokio::io::AsyncReadExt as _;

use crate::app::App;

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
