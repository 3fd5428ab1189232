//! The commits and files of merge requests, as the repository that they lead to has them.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use kernel::{
    Result,
    error::Kind,
    page::{Page, PageRequest},
};
use repo::{
    commit::read::{deadline, find_commit},
    git::{CommitInfo, FileDiff, GitError, Oid, Reader},
    range,
};
use review::merge_request::{MergeRequest, Version};

use crate::Forge;

/// Between which commits the contents lie.
#[derive(Clone, Copy, Debug)]
pub struct CommitSpan {
    pub base: Oid,
    pub start: Oid,
    pub head: Oid,
}

impl CommitSpan {
    /// Of what a merge request holds now; `None` while it holds nothing.
    pub fn of(row: &MergeRequest) -> Option<Self> {
        Self::parse(row.base_sha.as_deref()?, row.start_sha.as_deref()?, row.head_sha.as_deref()?)
    }

    pub fn of_version(version: &Version) -> Option<Self> {
        Self::parse(&version.base_commit_sha, &version.start_commit_sha, &version.head_commit_sha)
    }

    fn parse(base: &str, start: &str, head: &str) -> Option<Self> {
        Some(Self {
            base: base.parse().ok()?,
            start: start.parse().ok()?,
            head: head.parse().ok()?,
        })
    }
}

/// A page of the commits of a merge request, newest first.
pub async fn commits(
    forge: &Forge,
    row: &MergeRequest,
    span: Option<CommitSpan>,
    page: PageRequest,
) -> Result<Page<CommitInfo>> {
    let Some(span) = span else { return Ok(page.slice(Vec::new())) };
    let answers = forge.answers.clone();
    forge
        .git_read(row.project_id, move |reader| {
            let all = range::commits(reader, &answers, span.start, span.base, span.head)?;
            Ok(page.slice(all.to_vec()).try_map_all(|ids| reader.commits(&ids))?)
        })
        .await
}

/// The hashes of all commits of a merge request, newest first.
pub async fn commit_ids(forge: &Forge, row: &MergeRequest) -> Result<Vec<String>> {
    let Some(span) = CommitSpan::of(row) else { return Ok(Vec::new()) };
    let answers = forge.answers.clone();
    let read = forge.git_read(row.project_id, move |reader| {
        range::commits(reader, &answers, span.start, span.base, span.head)
    });
    Ok(read.await?.iter().map(ToString::to_string).collect())
}

/// As [`commit_ids`]; where the repository lacks them, the newest one alone, as it is written down.
pub async fn commit_ids_or_head(forge: &Forge, row: &MergeRequest) -> Result<Vec<String>> {
    match commit_ids(forge, row).await {
        Err(lost) if lost.kind == Kind::NotFound => Ok(row.head_sha.clone().into_iter().collect()),
        found => found,
    }
}

/// How each file differs, within the usual limits.
pub async fn files(
    forge: &Forge,
    row: &MergeRequest,
    span: Option<CommitSpan>,
) -> Result<Arc<[FileDiff]>> {
    let Some(span) = span else { return Ok(Arc::default()) };
    let answers = forge.answers.clone();
    let read = move |reader: &Reader| Ok(answers.diff(reader, span.base, span.head, deadline())?);
    forge.git_read(row.project_id, read).await
}

/// As [`files`], with what is usually left out for its size.
pub async fn whole_files(
    forge: &Forge,
    row: &MergeRequest,
    span: Option<CommitSpan>,
) -> Result<Arc<[FileDiff]>> {
    let Some(span) = span else { return Ok(Arc::default()) };
    let read = move |reader: &Reader| range::whole_files(reader, span.base, span.head);
    Ok(forge.git_read(row.project_id, read).await?.into())
}

/// The whole difference as git prints it; `None` where there is nothing to compare.
///
/// # Errors
/// As [`files`]: `NotFound` where the commits are not in the repository.
pub async fn raw(
    forge: &Forge,
    row: &MergeRequest,
) -> Result<Option<impl Stream<Item = std::result::Result<Bytes, GitError>> + use<>>> {
    let Some(span) = CommitSpan::of(row) else { return Ok(None) };
    let read = forge.git_read(row.project_id, move |reader| {
        match reader.has(span.base) && reader.has(span.head) {
            true => Ok(()),
            false => Err(GitError::NotFound.into()),
        }
    });
    read.await?;
    let repository = forge.storage.repository(row.project_id);
    range::raw(&forge.git, &repository, span.base, span.head).await.map(Some)
}

/// Those of these commits that the project has, by their whole hashes.
pub async fn known_commits(
    forge: &Forge,
    project: kernel::ids::ProjectId,
    shas: Vec<String>,
) -> Result<Vec<String>> {
    let read = forge.git_read(project, move |reader| {
        let mut known = Vec::new();
        for sha in &shas {
            let is_hash = sha.len() >= 7 && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_hash {
                known.extend(find_commit(reader, sha)?.map(|id| id.to_string()));
            }
        }
        Ok(known)
    });
    match read.await {
        Err(gone) if gone.is_not_found("Repository") => Ok(Vec::new()),
        found => found,
    }
}

/// Commits by their hashes, in this order; what is gone is left out.
pub async fn commits_by_id(
    forge: &Forge,
    project: kernel::ids::ProjectId,
    shas: Vec<String>,
) -> Result<Vec<CommitInfo>> {
    let read = forge.git_read(project, move |reader| {
        let ids = shas.iter().filter_map(|sha| sha.parse::<Oid>().ok());
        let there: Vec<Oid> = ids.filter(|id| reader.has(*id)).collect();
        Ok(reader.commits(&there)?)
    });
    read.await
}
