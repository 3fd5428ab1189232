//! Commits applied once more to another branch, and commits taken back.

use kernel::{Error, Grant, Result};
use org::user::User;
use repo::{
    branch::read::{branch_named, existing},
    commit::{
        Pick,
        read::{commit_named, deadline},
    },
    git::{
        CommitInfo, LogQuery, Oid,
        merge::{MergedRequest, Operation},
    },
    policy::PushToBranch,
};
use review::{merge_request::MergeRequestCommitStore as _, policy::ListMergeRequests};

use super::{author::signature, create::ensure_may_push};
use crate::Forge;

/// A commit to pick or to revert.
#[derive(Clone, Debug)]
pub struct PickRequest {
    pub operation: Operation,
    /// The commit, by whatever names it.
    pub sha: String,
    /// Where the new commit is to be.
    pub branch: String,
    /// Whether it is only tried.
    pub dry_run: bool,
    /// Instead of the usual words.
    pub message: Option<String>,
}

/// Picks or reverts a commit; the answer is the new one, or nothing where it was only tried.
///
/// # Errors
/// `Forbidden` for those who may not push to the branch; otherwise as [`repo::commit::Writer::apply`].
pub async fn pick(
    forge: &Forge,
    grant: &Grant<PushToBranch>,
    caller: &User,
    request: PickRequest,
) -> Result<Option<Oid>> {
    ensure_may_push(forge, grant, &request.branch).await?;
    let committer = signature(forge, caller);
    let found = forge.git_read(grant.project(), move |reader| {
        let PickRequest { operation, sha, branch, dry_run, message } = request;
        let commit = reader.commit(commit_named(reader, &sha)?)?;
        let branch = branch_named(&branch)?;
        let tip = existing(reader, &branch)?.commit.ok_or_else(|| Error::not_found("Branch"))?;
        Ok(Pick { operation, commit, branch, tip, committer, message, dry_run, merged: None })
    });
    let mut pick = found.await?;
    pick.merged = merged_by(forge, grant, &pick.commit).await?;
    forge.writer().apply(grant, pick).await
}

/// What a merge commit merged: a merge request that the caller may read.
async fn merged_by(
    forge: &Forge,
    grant: &Grant<PushToBranch>,
    commit: &CommitInfo,
) -> Result<Option<MergedRequest>> {
    let [target, source, ..] = commit.parents[..] else { return Ok(None) };
    if grant.also::<ListMergeRequests>().is_err() {
        return Ok(None);
    }
    let (project, sha) = (grant.project(), commit.id.to_string());
    let found = forge.db.peek(move |tx| tx.find_merged_by(project, &sha)).await?;
    let Some(iid) = found else { return Ok(None) };
    let read = forge.git_read(project, move |reader| {
        let query = LogQuery { exclude: vec![target], ..LogQuery::of(source) };
        let mut brought = reader.log(&query, deadline())?;
        brought.reverse();
        Ok(brought.into_iter().map(|one| (one.id.short(), one.title)).collect())
    });
    Ok(Some(MergedRequest { iid, commits: read.await? }))
}
