//! The commits and files that one commit has beyond another one: the contents of merge requests.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use kernel::Result;

use crate::{
    commit::{Answers, read::deadline},
    git::{
        DiffLimits, FileDiff, Git, GitError, LogQuery, Oid, Reader, RepoPath,
        output_stream::printed,
    },
};

/// Files are counted, not compared.
const NAMES_ALONE: DiffLimits = DiffLimits { files: 0, ..DiffLimits::NONE };

/// The merge base of a source, and the number of files changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeSummary {
    pub base: Oid,
    /// `None` where there are too many to be counted in time.
    pub files: Option<usize>,
}

/// What `head` changes since it left `start`. Without a common commit, it is compared with `start` itself.
pub fn range_summary(reader: &Reader, start: Oid, head: Oid) -> Result<RangeSummary> {
    let base = reader.merge_base(&[start, head])?.unwrap_or(start);
    let files = match reader.diff(Some(base), head, NAMES_ALONE, deadline()) {
        Ok(files) => Some(files.len()),
        Err(GitError::Timeout) => None,
        Err(failure) => return Err(failure.into()),
    };
    Ok(RangeSummary { base, files })
}

/// Files of several megabytes are told, too, as long as memory lasts.
const WHOLE: DiffLimits = DiffLimits { total_bytes: 64 << 20, ..DiffLimits::NONE };

/// How each file differs between two commits, with what is usually left out for its size.
pub fn whole_files(reader: &Reader, base: Oid, head: Oid) -> Result<Vec<FileDiff>> {
    Ok(reader.diff(Some(base), head, WHOLE, deadline())?)
}

/// The commits that `head` has and `start` lacks, newest first. Where `start` is gone, `base` stands for it.
pub fn commits(
    reader: &Reader,
    answers: &Answers,
    start: Oid,
    base: Oid,
    head: Oid,
) -> Result<Arc<[Oid]>> {
    let left_out = if reader.has(start) { start } else { base };
    let query = LogQuery { exclude: vec![left_out], ..LogQuery::of(head) };
    Ok(answers.log(reader, &query, deadline())?)
}

/// The whole difference as git prints it.
pub async fn raw(
    git: &Git,
    repo: &RepoPath,
    base: Oid,
    head: Oid,
) -> Result<impl Stream<Item = std::result::Result<Bytes, GitError>> + use<>> {
    let options =
        ["--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--full-index"];
    Ok(printed(git.at(repo, "diff").args(options).id(base).id(head)).await?)
}
