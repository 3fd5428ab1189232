//! Writing contents piece by piece.

use std::sync::Arc;

use bytes::BytesMut;
use kernel::Result;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt as _, PutPayload, path::Path};
use sha2::{Digest as _, Sha256};

use crate::{Ledger, failed};

/// Bytes of one part of a multipart upload; some stores refuse smaller ones.
const PART: usize = 8 << 20;

/// A content being written. Nothing is stored unless [`finish`](Self::finish) succeeds.
pub struct Incoming {
    store: Arc<dyn ObjectStore>,
    path: Path,
    /// None while all of it fits into one part.
    upload: Option<Box<dyn MultipartUpload>>,
    waiting: BytesMut,
    digest: Sha256,
    size: u64,
    ledger: Option<Arc<dyn Ledger>>,
}

/// A content that was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredContent {
    pub size: u64,
    pub sha256: String,
}

impl Incoming {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        path: Path,
        ledger: Option<Arc<dyn Ledger>>,
    ) -> Self {
        let (waiting, digest) = (BytesMut::new(), Sha256::new());
        Self { store, path, upload: None, waiting, digest, size: 0, ledger }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        self.size += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PART { self.send().await } else { Ok(()) }
    }

    async fn send(&mut self) -> Result<()> {
        let part = PutPayload::from(self.waiting.split().freeze());
        let upload = match &mut self.upload {
            Some(upload) => upload,
            None => {
                let begun = self.store.put_multipart(&self.path).await.map_err(failed)?;
                self.upload.insert(begun)
            }
        };
        upload.put_part(part).await.map_err(failed)
    }

    pub async fn finish(mut self) -> Result<StoredContent> {
        if self.upload.is_some() && !self.waiting.is_empty() {
            self.send().await?;
        }
        match &mut self.upload {
            Some(upload) => upload.complete().await.map(drop),
            None => {
                let whole = PutPayload::from(self.waiting.split().freeze());
                self.store.put(&self.path, whole).await.map(drop)
            }
        }
        .map_err(failed)?;
        let sha256 = hex::encode(self.digest.finalize());
        let stored = StoredContent { size: self.size, sha256 };
        if let Some(ledger) = &self.ledger {
            ledger.stored(self.path.as_ref(), &stored).await?;
        }
        Ok(stored)
    }

    /// Discards what was written.
    pub async fn abort(self) {
        let Some(mut upload) = self.upload else { return };
        if let Err(cause) = upload.abort().await {
            tracing::warn!(error = %cause, "a part of a content is left");
        }
    }
}
