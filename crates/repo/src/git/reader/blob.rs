//! The content of files.

use bytes::Bytes;
use gix::objs::Kind;
use sha2::{Digest as _, Sha256};

use super::Reader;
use crate::git::{GitError, Oid, Result};

/// The type and size of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobInfo {
    pub id: Oid,
    pub size: u64,
}

impl Reader {
    pub fn blob_info(&self, id: Oid) -> Result<BlobInfo> {
        match self.header(id.gix())? {
            (Kind::Blob, size) => Ok(BlobInfo { id, size }),
            _ => Err(GitError::NotFound),
        }
    }

    /// The whole content; `TooLarge`, before anything is inflated, beyond `most` bytes.
    pub fn blob(&self, id: Oid, most: u64) -> Result<Bytes> {
        if self.blob_info(id)?.size > most {
            return Err(GitError::TooLarge);
        }
        let mut object = self.object(id.gix())?;
        Ok(Bytes::from(std::mem::take(&mut object.data)))
    }

    /// The SHA-256 of the content, in hexadecimal; bounded as [`blob`](Self::blob).
    pub fn blob_sha256(&self, id: Oid, most: u64) -> Result<String> {
        Ok(hex::encode(Sha256::digest(self.blob(id, most)?)))
    }
}
