//! What a push does to merge requests: a part in its transaction, the rest before the pusher is answered.

use std::{collections::HashSet, sync::Weak};

use db::Tx;
use futures_util::future::BoxFuture;
use kernel::{
    Error, Result,
    ids::{MergeRequestId, ProjectId, UserId},
};
use repo::{
    event::Moved,
    git::{Brought, Oid},
    ports::Aftermath,
    push::{Push, RefChange},
};
use review::{
    item::hold_merge_requests_of,
    merge_request::{
        MergeRequest, MergeRequestCommitStore as _, MergeRequestState, MergeRequestStore as _,
        merge::{
            LookStore as _,
            pushed::{self, BranchMove},
            run,
        },
    },
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::{look::look, named::close_promised, renew::renew, settle::go_on};
use crate::app::{App, State};

/// So many merge requests into a branch are looked at in one go.
const AT_ONCE: i64 = 100;
/// So many merge requests into a branch are looked at before its pusher is answered.
const BEFORE_THE_ANSWER: usize = 10;

/// Looks after merge requests when somebody pushed.
pub struct Follower(pub Weak<State>);

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

impl Aftermath for Follower {
    fn follow<'a>(&'a self, push: &'a Push) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let Some(app) = self.0.upgrade() else { return Ok(()) };
            let mut done = Ok(());
            for change in push.changes.iter().filter(|change| change.name.is_branch()) {
                // What fails for one branch keeps nothing from the others.
                done = done.and(follow_change(&app, push, change).await);
            }
            done.and(close_promised(&app, push).await)
        })
    }
}

async fn follow_change(app: &App, push: &Push, change: &RefChange) -> Result<()> {
    let moved = FollowPush {
        project: push.project.id,
        branch: change.name.short().into_owned(),
        before: change.old.map(|id| id.to_string()),
        after: change.new.map(|id| id.to_string()),
        user: push.who.actor.id,
    };
    let (project, branch) = (moved.project, moved.branch.clone());
    match app.db.peek(move |tx| tx.is_touched(project, &branch)).await? {
        true => follow_branch(app, &moved, BEFORE_THE_ANSWER).await,
        false => Ok(()),
    }
}

/// In the transaction of the push, before any of them is changed: of two pushes neither waits for the other half-way. A
/// merge changes its own one before this, and holds all that its target touches in the same order before that.
pub fn hold_touched(tx: &mut Tx<'_>, project: ProjectId, moves: &[Moved]) -> Result<()> {
    let branches = moves.iter().filter_map(|moved| moved.name.strip_prefix("refs/heads/"));
    hold_merge_requests_of(tx, project, &branches.collect::<Vec<_>>())
}

/// In the transaction of the push.
pub fn note_push(
    tx: &mut Tx<'_>,
    project: ProjectId,
    user: Option<UserId>,
    moves: &[Moved],
) -> Result<()> {
    for moved in moves {
        let Some(branch) = moved.name.strip_prefix("refs/heads/") else { continue };
        let step = BranchMove { project, branch, to: moved.after.as_deref() };
        if pushed::note(tx, step, user)? {
            let (before, after) = (moved.before.clone(), moved.after.clone());
            let branch = branch.to_owned();
            tx.enqueue(&FollowPush { project, branch, before, after, user })?;
        }
    }
    Ok(())
}

/// What is done before the pusher is answered, should that not have happened, and then what can wait: the merge
/// requests into the branch.
pub async fn follow_push(app: App, job: FollowPush) -> Result<()> {
    if !app.storage.exists(job.project) {
        return Ok(());
    }
    let mut done = follow_branch(&app, &job, usize::MAX).await;
    let mut last = MergeRequestId(0);
    loop {
        let (project, branch) = (job.project, job.branch.clone());
        let some = app.db.read(move |tx| tx.unlooked_into(project, &branch, last, AT_ONCE)).await?;
        let Some(end) = some.last().copied() else { return done };
        for id in some {
            done = done.and(unless_gone(look(&app, id).await.map(drop)));
        }
        last = end;
    }
}

/// What fails for one merge request keeps nothing from the others.
async fn follow_branch(app: &App, moved: &FollowPush, most: usize) -> Result<()> {
    if moved.after.is_none() {
        return Ok(());
    }
    let mut done = renew_from(app, moved).await;
    match brought(app, moved).await {
        Ok(Some((into, push))) => {
            done = done.and(merge_arrived(app, moved, into, &push).await);
            done = done.and(renew_into(app, moved, push, most).await);
        }
        Ok(None) => {}
        Err(failure) => done = done.and(Err(failure)),
    }
    done.and(look_into(app, moved).await)
}

/// What is proposed to the branch, with what came to it; nothing where nobody has to know.
async fn brought(app: &App, moved: &FollowPush) -> Result<Option<(Vec<MergeRequest>, Brought)>> {
    let (Some(before), Some(after)) = (&moved.before, &moved.after) else { return Ok(None) };
    let (before, after): (Oid, Oid) = (before.parse()?, after.parse()?);
    let (project, branch) = (moved.project, moved.branch.clone());
    let into = app.db.read(move |tx| tx.open_merge_requests_into(project, &branch)).await?;
    if into.is_empty() {
        return Ok(None);
    }
    let push = app.git_read(project, move |reader| Ok(reader.brought(before, after)?)).await?;
    Ok(Some((into, push)))
}

/// What is gone by now has nothing to be done for it.
fn unless_gone(done: Result<()>) -> Result<()> {
    match done {
        Err(Error::NotFound(_)) => Ok(()),
        done => done,
    }
}

/// Merge requests that come from the branch.
async fn renew_from(app: &App, moved: &FollowPush) -> Result<()> {
    let (project, branch) = (moved.project, moved.branch.clone());
    let from = app.db.read(move |tx| tx.open_merge_requests_from(project, &branch)).await?;
    let mut done = Ok(());
    for row in from {
        done = done.and(unless_gone(renew_and_look(app, row, moved.user).await));
    }
    done
}

async fn renew_and_look(app: &App, row: MergeRequest, user: Option<UserId>) -> Result<()> {
    let id = row.id;
    renew(app, row, user).await?;
    look(app, id).await?;
    go_on(app, id).await
}

/// What is into a branch that many propose to change waits for the job; the pusher does not.
async fn look_into(app: &App, moved: &FollowPush) -> Result<()> {
    let (project, branch) = (moved.project, moved.branch.clone());
    let first = MergeRequestId(0);
    let into = app.db.read(move |tx| tx.unlooked_into(project, &branch, first, AT_ONCE)).await?;
    let mut done = Ok(());
    for id in into.into_iter().take(BEFORE_THE_ANSWER) {
        done = done.and(unless_gone(look(app, id).await.map(drop)));
    }
    done
}

/// Merge requests that hold something else than before now that their target has some of it, or was moved elsewhere. So
/// many of them get another version.
async fn renew_into(app: &App, moved: &FollowPush, push: Brought, most: usize) -> Result<()> {
    let (project, branch) = (moved.project, moved.branch.clone());
    let mut into = app.db.read(move |tx| tx.open_merge_requests_into(project, &branch)).await?;
    into.retain(|row| row.state == MergeRequestState::Opened);
    into.retain(|row| row.start_sha.is_some() && row.start_sha != moved.after);
    if push.forward && !into.is_empty() {
        let among: Vec<MergeRequestId> = into.iter().map(|row| row.id).collect();
        let pushed: HashSet<String> = push.commits.keys().map(ToString::to_string).collect();
        let held = app.db.read(move |tx| tx.holding_any(&among, &pushed)).await?;
        into.retain(|row| held.contains(&row.id));
    }
    let mut done = Ok(());
    for row in into.into_iter().take(most) {
        done = done.and(unless_gone(renew_and_go_on(app, row, moved.user).await));
    }
    done
}

async fn renew_and_go_on(app: &App, row: MergeRequest, user: Option<UserId>) -> Result<()> {
    let id = row.id;
    renew(app, row, user).await?;
    go_on(app, id).await
}

/// Merge requests whose commits were pushed to where they lead are merged.
async fn merge_arrived(
    app: &App,
    moved: &FollowPush,
    into: Vec<MergeRequest>,
    push: &Brought,
) -> Result<()> {
    let mut done = Ok(());
    for row in into {
        let head = row.head_sha.as_deref().and_then(|sha| sha.parse::<Oid>().ok());
        let Some((head, by)) = head.and_then(|head| push.commits.get_key_value(&head)) else {
            continue;
        };
        let (own, by, user, id) = (head.to_string(), by.to_string(), moved.user, row.id);
        let arrived = app.db.write(move |tx| run::arrive(tx, id, &own, user, &by));
        done = done.and(match arrived.await {
            Ok(()) => go_on(app, id).await,
            // Somebody merged, closed or removed it in this moment.
            Err(Error::Conflict(_) | Error::NotFound(_)) => Ok(()),
            Err(failure) => Err(failure),
        });
    }
    done
}
