//! What one commit brings to another: for merge requests, whose sources are proposed to their targets.

use kernel::Result;

use crate::{
    commit::read::deadline,
    git::{DiffLimits, FileDiff, GitError, Oid, Reader},
};

/// Files are counted, not compared.
const NAMES_ALONE: DiffLimits = DiffLimits { files: 0, ..DiffLimits::NONE };

/// Where a source left its target, and how many files it changes since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub base: Oid,
    /// `None` where there are too many to be counted in time.
    pub files: Option<usize>,
}

/// What `head` changes since it left `start`. Without a common commit, it is compared with `start` itself.
pub fn extent(reader: &Reader, start: Oid, head: Oid) -> Result<Extent> {
    let base = reader.merge_base(&[start, head])?.unwrap_or(start);
    let files = match reader.diff(Some(base), head, NAMES_ALONE, deadline()) {
        Ok(files) => Some(files.len()),
        Err(GitError::Timeout) => None,
        Err(failure) => return Err(failure.into()),
    };
    Ok(Extent { base, files })
}

/// How each file differs between two commits.
pub fn files(reader: &Reader, base: Oid, head: Oid, limits: DiffLimits) -> Result<Vec<FileDiff>> {
    Ok(reader.diff(Some(base), head, limits, deadline())?)
}
