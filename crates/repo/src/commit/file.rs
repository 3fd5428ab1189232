//! One file at one commit.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use kernel::{Error, Result};
use sha2::{Digest as _, Sha256};

use super::{
    Answers,
    read::{commit_named, deadline},
};
use crate::git::{
    EntryInfo, EntryKind, Git, GitError, Oid, Reader, RepoPath, TreePath, blob_stream,
};

/// Larger files are never held in memory.
const IN_MEMORY: u64 = 2 << 20;

/// The ref and path of a file.
#[derive(Clone, Debug)]
pub struct FileQuery {
    /// A branch, tag or commit.
    pub ref_name: String,
    /// `None` stands for a path that no tree can hold.
    pub path: Option<TreePath>,
}

/// Metadata of a file.
#[derive(Clone, Debug)]
pub struct FileFacts {
    pub entry: EntryInfo,
    pub size: u64,
    pub commit: Oid,
    /// The newest commit that touched it.
    pub last_commit: Oid,
    /// The whole content, unless the file is large.
    pub content: Option<Bytes>,
    /// The SHA-256 of the content, where it is known already.
    pub checksum: Option<Arc<str>>,
}

pub fn find(reader: &Reader, answers: &Answers, query: &FileQuery) -> Result<FileFacts> {
    let commit = commit_named(reader, &query.ref_name)?;
    let absent = || Error::not_found("File");
    let Some(path) = &query.path else { return Err(absent()) };
    let entry = reader.find_entry(commit, path)?;
    let Some(entry) = entry.filter(|entry| entry.kind() == EntryKind::Blob) else {
        return Err(absent());
    };
    let size = reader.blob_info(entry.id).map_err(GitError::lost)?.size;
    let last_commit = answers.last_commit(reader, commit, path, deadline())?.unwrap_or(commit);
    let content = if size > IN_MEMORY { None } else { Some(reader.blob(entry.id, IN_MEMORY)?) };
    let checksum = answers.checksum(entry.id, content.as_deref());
    Ok(FileFacts { entry, size, commit, last_commit, content, checksum })
}

/// The SHA-256 of a file's content; a large file is read once for it.
pub async fn checksum(
    git: &Git,
    repo: &RepoPath,
    answers: &Answers,
    facts: &FileFacts,
) -> Result<Arc<str>> {
    if let Some(known) = &facts.checksum {
        return Ok(Arc::clone(known));
    }
    let mut hasher = Sha256::new();
    let mut pieces = std::pin::pin!(blob_stream(git, repo, facts.entry.id).await?);
    while let Some(piece) = pieces.next().await {
        hasher.update(piece?);
    }
    let sum: Arc<str> = hex::encode(hasher.finalize()).into();
    answers.keep_checksum(facts.entry.id, &sum);
    Ok(sum)
}
