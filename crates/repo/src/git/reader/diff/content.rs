//! The bytes that are compared.

use super::{super::Reader, changes::Side};
use crate::git::{FileMode, GitError, Oid, Result};

/// Git takes a file for binary when its beginning holds a NUL.
const BEGINNING: usize = 8000;

pub(super) enum Content {
    Text(Vec<u8>),
    Binary,
    TooLarge,
}

impl Reader {
    /// One side of a change; the missing side is empty.
    pub(super) fn content(&self, side: Option<Side>, most: u64) -> Result<Content> {
        let Some(side) = side else { return Ok(Content::Text(Vec::new())) };
        if side.mode == FileMode::Submodule {
            return Ok(Content::Text(format!("Subproject commit {}\n", side.id).into_bytes()));
        }
        match self.blob(Oid::of(&side.id), most) {
            Ok(bytes) if is_binary(&bytes) => Ok(Content::Binary),
            Ok(bytes) => Ok(Content::Text(bytes.into())),
            Err(GitError::TooLarge) => Ok(Content::TooLarge),
            Err(error) => Err(error),
        }
    }
}

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(BEGINNING).any(|byte| *byte == 0)
}
