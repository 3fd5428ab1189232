//! Updates of merge requests after a push: a part in its transaction, the rest before the pusher is answered.

use std::{collections::HashSet, sync::Weak};

use db::Tx;
use futures_util::future::BoxFuture;
use kernel::{
    Result,
    error::Kind,
    ids::{MergeRequestId, ProjectId, UserId},
};
use repo::{
    event::MovedRef,
    git::{BranchCommits, Oid},
    ports::AfterPush,
    push::{Push, RefChange},
};
use review::{
    item::hold_merge_requests_of,
    merge_request::{
        MergeRequest, MergeRequestCommitStore as _, MergeRequestStore as _,
        merge::{
            MergeabilityStore as _,
            branch_update::{self, BranchMove},
            run,
        },
    },
};
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::{Job, Queue as _};

use super::{
    after_merge::resume, closing_commits::close_promised, mergeability::check_mergeability,
    resync::sync_version,
};
use crate::{Forge, Services, pipeline};

/// Of the merge requests into a branch that moved, git is asked about so many before somebody reads them.
const MOST_LOOKED_AT: i64 = 100;
/// Who pushes once often does so again: git is asked when the branch has come to rest.
const REST: Duration = Duration::seconds(5);
/// So many merge requests into a branch get another version before its pusher is answered.
const BEFORE_THE_ANSWER: i64 = 10;
/// Of a push with more commits than that, merge requests are not looked up by commit.
const MOST_ASKED_FOR: usize = 5_000;

/// Looks after merge requests when somebody pushed.
pub struct Follower(pub Weak<Services>);

/// A branch that moved, and what has to be looked at therefore.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FollowPush {
    project: ProjectId,
    branch: String,
    before: Option<String>,
    after: Option<String>,
    user: Option<UserId>,
}

impl Job for FollowPush {
    const KIND: &'static str = "merge_request.follow_push";
}

/// Checks the mergeability of the merge requests into a branch that moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CheckBranchMergeability {
    project: ProjectId,
    branch: String,
}

impl Job for CheckBranchMergeability {
    const KIND: &'static str = "merge_request.look_into";

    fn unique_key(&self) -> Option<String> {
        Some(format!("{}:{}", self.project, self.branch))
    }
}

impl AfterPush for Follower {
    fn follow<'a>(&'a self, push: &'a Push) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let Some(forge) = self.0.upgrade().map(Forge) else { return Ok(()) };
            // Before those of merge requests, which are the ones that count for them.
            let mut done = pipeline::run_after_push(&forge, push).await;
            // What fails here keeps nothing from what comes behind it.
            done = done.and(follow_changes(&forge, push).await);
            done.and(close_promised(&forge, push).await)
        })
    }
}

/// Follows those branches of a push that merge requests name.
async fn follow_changes(forge: &Forge, push: &Push) -> Result<()> {
    let branches = || push.changes.iter().filter(|change| change.name.is_branch());
    let names: Vec<String> = branches().map(|change| change.name.short().into_owned()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let project = push.project.id;
    let proposed = forge.db.peek(move |tx| proposed(tx, project, &names)).await?;
    let mut done = Ok(());
    for change in branches().filter(|change| proposed.contains(&*change.name.short())) {
        // What fails for one branch keeps nothing from the others.
        done = done.and(follow_change(forge, push, change).await);
    }
    done
}

async fn follow_change(forge: &Forge, push: &Push, change: &RefChange) -> Result<()> {
    let moved = FollowPush {
        project: push.project.id,
        branch: change.name.short().into_owned(),
        before: change.old.map(|id| id.to_string()),
        after: change.new.map(|id| id.to_string()),
        user: push.who.actor.id,
    };
    follow_branch(forge, &moved, BEFORE_THE_ANSWER).await
}

/// In the transaction of the push, before any of them is changed: of two pushes neither waits for the other half-way. A
/// merge changes its own one before this, and holds all that its target touches in the same order before that.
pub fn hold_touched(tx: &mut Tx<'_>, project: ProjectId, moves: &[MovedRef]) -> Result<()> {
    let branches = moves.iter().filter_map(|moved| moved.name.strip_prefix("refs/heads/"));
    hold_merge_requests_of(tx, project, &branches.collect::<Vec<_>>())
}

fn proposed(tx: &mut Tx<'_>, project: ProjectId, names: &[String]) -> Result<HashSet<String>> {
    match names {
        [] => Ok(HashSet::new()),
        names => {
            tx.proposed_branches(project, &names.iter().map(String::as_str).collect::<Vec<_>>())
        }
    }
}

/// The branches of a push from which merge requests come, or to which they lead.
pub fn proposed_by(
    tx: &mut Tx<'_>,
    project: ProjectId,
    moves: &[MovedRef],
) -> Result<HashSet<String>> {
    let branches = moves.iter().filter_map(|moved| moved.name.strip_prefix("refs/heads/"));
    proposed(tx, project, &branches.map(str::to_owned).collect::<Vec<_>>())
}

/// In the transaction of the push. `proposed` are those of its branches that merge requests name.
pub fn record_push(
    tx: &mut Tx<'_>,
    project: ProjectId,
    user: Option<UserId>,
    moves: &[MovedRef],
    proposed: &HashSet<String>,
) -> Result<()> {
    for moved in moves {
        let Some(branch) = moved.name.strip_prefix("refs/heads/") else { continue };
        if moved.after.is_some() && !proposed.contains(branch) {
            continue;
        }
        let step = BranchMove { project, branch, to: moved.after.as_deref() };
        if branch_update::note(tx, step, user)? {
            let (before, after) = (moved.before.clone(), moved.after.clone());
            let branch = branch.to_owned();
            let rested = tx.now.plus(REST);
            tx.enqueue_at(&CheckBranchMergeability { project, branch: branch.clone() }, rested)?;
            tx.enqueue(&FollowPush { project, branch, before, after, user })?;
        }
    }
    Ok(())
}

/// What is done before the pusher is answered, should that not have happened, and what can wait: other versions of as
/// many merge requests into the branch as there are.
pub async fn follow_push(forge: Forge, job: FollowPush) -> Result<()> {
    match forge.storage.exists(job.project) {
        true => follow_branch(&forge, &job, i64::MAX).await,
        false => Ok(()),
    }
}

/// Whoever reads one of the others has git asked about it.
pub async fn check_after_push(forge: Forge, job: CheckBranchMergeability) -> Result<()> {
    let CheckBranchMergeability { project, branch } = job;
    if !forge.storage.exists(project) {
        return Ok(());
    }
    let into = forge.db.read(move |tx| tx.unlooked_into(project, &branch, MOST_LOOKED_AT)).await?;
    let mut done = Ok(());
    for id in into {
        done = done.and(unless_gone(check_mergeability(&forge, id).await.map(drop)));
    }
    done
}

/// What fails for one merge request keeps nothing from the others.
async fn follow_branch(forge: &Forge, moved: &FollowPush, most: i64) -> Result<()> {
    if moved.after.is_none() {
        return Ok(());
    }
    let mut done = resync_source(forge, moved).await;
    match brought(forge, moved).await {
        Ok(Some(push)) => {
            done = done.and(merge_arrived(forge, moved, &push).await);
            done.and(resync_target(forge, moved, &push, most).await)
        }
        Ok(None) => done,
        Err(failure) => done.and(Err(failure)),
    }
}

/// What came to the branch; nothing where nobody proposes to change it.
async fn brought(forge: &Forge, moved: &FollowPush) -> Result<Option<BranchCommits>> {
    let (Some(before), Some(after)) = (&moved.before, &moved.after) else { return Ok(None) };
    let (before, after): (Oid, Oid) = (before.parse()?, after.parse()?);
    let (project, branch) = (moved.project, moved.branch.clone());
    if !forge.db.read(move |tx| tx.is_target(project, &branch)).await? {
        return Ok(None);
    }
    Ok(Some(forge.git_read(project, move |reader| Ok(reader.brought(before, after)?)).await?))
}

/// What is gone by now has nothing to be done for it.
fn unless_gone(done: Result<()>) -> Result<()> {
    match done {
        Err(gone) if gone.is_gone() => Ok(()),
        done => done,
    }
}

/// Merge requests that come from the branch.
async fn resync_source(forge: &Forge, moved: &FollowPush) -> Result<()> {
    let (project, branch) = (moved.project, moved.branch.clone());
    let from = forge.db.read(move |tx| tx.open_merge_requests_from(project, &branch)).await?;
    let mut done = Ok(());
    for row in from {
        done = done.and(unless_gone(resync_and_check(forge, row, moved.user).await));
    }
    done
}

async fn resync_and_check(forge: &Forge, row: MergeRequest, user: Option<UserId>) -> Result<()> {
    let id = row.id;
    sync_version(forge, row, user).await?;
    check_mergeability(forge, id).await?;
    resume(forge, id).await
}

/// Merge requests that hold something else than before now that their target has some of it, or was moved elsewhere. So
/// many of them get another version.
async fn resync_target(
    forge: &Forge,
    moved: &FollowPush,
    push: &BranchCommits,
    most: i64,
) -> Result<()> {
    let (project, branch) = (moved.project, moved.branch.clone());
    let Some(at) = moved.after.clone() else { return Ok(()) };
    let (forward, commits) = (push.forward, names_of(push));
    let into = forge.db.read(move |tx| {
        if !forward {
            return tx.left_behind_into(project, &branch, &at, most);
        }
        if commits.len() <= MOST_ASKED_FOR {
            let commits: Vec<String> = commits.into_iter().collect();
            return tx.left_behind_with(project, &branch, &at, &commits, most);
        }
        let mut into = tx.left_behind_into(project, &branch, &at, i64::MAX)?;
        let among: Vec<MergeRequestId> = into.iter().map(|row| row.id).collect();
        let held = tx.holding_any(&among, &commits)?;
        into.retain(|row| held.contains(&row.id));
        into.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Ok(into)
    });
    let mut done = Ok(());
    for row in into.await? {
        done = done.and(unless_gone(resync_and_resume(forge, row, moved.user).await));
    }
    done
}

/// The commits that came.
fn names_of(push: &BranchCommits) -> HashSet<String> {
    push.commits.keys().map(ToString::to_string).collect()
}

async fn resync_and_resume(forge: &Forge, row: MergeRequest, user: Option<UserId>) -> Result<()> {
    let id = row.id;
    sync_version(forge, row, user).await?;
    resume(forge, id).await
}

/// Merge requests whose commits were pushed to where they lead are merged.
async fn merge_arrived(forge: &Forge, moved: &FollowPush, push: &BranchCommits) -> Result<()> {
    let (project, branch) = (moved.project, moved.branch.clone());
    let heads = names_of(push);
    let arrived = forge.db.read(move |tx| {
        if heads.len() <= MOST_ASKED_FOR {
            let heads: Vec<String> = heads.into_iter().collect();
            return tx.open_into_with_heads(project, &branch, &heads);
        }
        let mut into = tx.open_merge_requests_into(project, &branch)?;
        into.retain(|row| row.head_sha.as_ref().is_some_and(|head| heads.contains(head)));
        Ok(into)
    });
    let mut done = Ok(());
    for row in arrived.await? {
        let head = row.head_sha.as_deref().and_then(|sha| sha.parse::<Oid>().ok());
        let Some((head, by)) = head.and_then(|head| push.commits.get_key_value(&head)) else {
            continue;
        };
        let (own, by, user, id) = (head.to_string(), by.to_string(), moved.user, row.id);
        let arrived = forge.db.write(move |tx| run::arrive(tx, id, &own, user, &by));
        done = done.and(match arrived.await {
            Ok(()) => resume(forge, id).await,
            // Somebody merged, closed or removed it in this moment.
            Err(late) if matches!(late.kind, Kind::Conflict | Kind::NotFound) => Ok(()),
            Err(failure) => Err(failure),
        });
    }
    done
}
