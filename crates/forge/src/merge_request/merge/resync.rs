//! Synchronisation of merge requests with git, after a push or when one was missed.

use std::collections::HashSet;

use kernel::{
    Error, Result,
    error::Kind,
    ids::{MergeRequestId, ProjectId, UserId},
};
use repo::git::{CommitInfo, Deadline, LogQuery, Oid};
use review::{
    item::held_merge_request,
    merge_request::{
        Heads, MergeRequest, MergeRequestState, VersionStore as _, change,
        merge::{
            MergeabilityStore as _,
            branch_update::{self, PushedCommit},
        },
        version,
    },
};

use super::{
    after_merge::resume,
    mergeability::{commits_between, current, save_closes},
};
use crate::{Forge, merge_request::heads::resolve_heads_at};

/// Looks whether the source is where a merge request says. What was looked up in git before it was written down may
/// have moved in between, without the push knowing of it.
pub async fn resync_with_git(forge: &Forge, id: MergeRequestId) -> Result<()> {
    let row = current(forge, id).await?;
    let (MergeRequestState::Opened, Some(source)) = (row.state, row.source_project_id) else {
        return Ok(());
    };
    match forge.branch_head(source, &row.source_branch).await?.map(|head| head.to_string()) {
        // Where there never was a source, people may still push it.
        None if row.head_sha.is_some() => close_gone(forge, row).await,
        head if head.is_some() && head != row.head_sha => {
            sync_version(forge, row, None).await?;
            resume(forge, id).await
        }
        _ => Ok(()),
    }
}

/// Closes a merge request whose source is gone, unless somebody pushed to it since.
async fn close_gone(forge: &Forge, seen: MergeRequest) -> Result<()> {
    let closed = forge.db.write(move |tx| {
        let row = held_merge_request(tx, seen.id)?;
        if row.head_sha != seen.head_sha {
            return Ok(());
        }
        let by = row.author_id;
        change::close(tx, row, by).map(drop)
    });
    match closed.await {
        // Somebody merged or closed it in this moment.
        Err(late) if late.kind == Kind::Conflict => Ok(()),
        closed => closed,
    }
}

/// So often git is asked again where the branches moved while it answered.
const TRIES: usize = 5;

/// A new head: a version of its own, and what its commits say.
pub(super) async fn sync_version(
    forge: &Forge,
    mut row: MergeRequest,
    user: Option<UserId>,
) -> Result<()> {
    let id = row.id;
    for _ in 0..TRIES {
        if renewed(forge, row, user).await? {
            return Ok(());
        }
        row = current(forge, id).await?;
    }
    Err(Error::unavailable(format!("the branches of merge request {id} do not stand still")))
}

/// Whether what git said is kept. It is not where the row has become another one meanwhile: an older answer does not
/// replace a newer one.
async fn renewed(forge: &Forge, seen: MergeRequest, user: Option<UserId>) -> Result<bool> {
    let Some(ends) = seen.ends() else { return Ok(true) };
    let heads = resolve_heads_at(forge, &ends).await?;
    let id = seen.id;
    let old = forge.db.read(move |tx| Ok(tx.version_heads(id)?.into_iter().next())).await?;
    let old = old.and_then(|sha| sha.parse::<Oid>().ok());
    let (arrived, messages) = arrived(forge, ends.target, &heads, old).await?;
    let home = forge.urls.base().to_owned();
    let done = forge.db.write(move |tx| {
        let row = held_merge_request(tx, id)?;
        let held = |row: &MergeRequest| {
            (row.head_sha.clone(), row.base_sha.clone(), row.start_sha.clone())
        };
        if held(&row) != held(&seen) || row.target_branch != seen.target_branch {
            return Ok(false);
        }
        if version::add(tx, &row, &heads, None)? {
            tx.forget_look(&row)?;
            branch_update::tell(tx, id, user.unwrap_or(row.author_id), &arrived)?;
            save_closes(tx, id, &messages, &home)?;
        }
        Ok(true)
    });
    done.await
}

/// The commits that are new in a merge request, and the messages of all that it has.
async fn arrived(
    forge: &Forge,
    project: ProjectId,
    heads: &Heads,
    old: Option<Oid>,
) -> Result<(Vec<PushedCommit>, Vec<String>)> {
    let (Some(start), Some(head)) = (&heads.start, &heads.head) else {
        return Ok(Default::default());
    };
    let (start, head): (Oid, Oid) = (start.parse()?, head.parse()?);
    let read = forge.git_read(project, move |reader| {
        let all = commits_between(reader, start, head)?;
        let exclude = [Some(start), old.filter(|old| reader.has(*old))];
        let query =
            LogQuery { exclude: exclude.into_iter().flatten().collect(), ..LogQuery::of(head) };
        let new: HashSet<Oid> = reader.log_ids(&query, Deadline::NEVER)?.into_iter().collect();
        let told = |commit: &CommitInfo| PushedCommit {
            short: commit.id.short(),
            message: commit.message.clone(),
        };
        let arrived = all.iter().filter(|commit| new.contains(&commit.id)).map(told).collect();
        Ok((arrived, all.into_iter().map(|commit| commit.message).collect()))
    });
    read.await
}
