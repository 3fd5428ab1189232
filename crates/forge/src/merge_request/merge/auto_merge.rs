//! Merge requests that wait for their pipeline.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    error::Kind,
    ids::{MergeRequestId, ProjectId, UserId},
};
use org::access::IdOrPath;
use review::{
    merge_request::{
        MergeRequest, MergeRequestState, MergeRequestStore as _, actions,
        merge::{
            AutoMerge,
            auto::{self, Reason},
        },
        mergeability::HeadPipeline,
    },
    policy::ReadMergeRequests,
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::{
    mergeability::{check_mergeability, check_now, facts, head_pipeline},
    pending_work::settle,
    permission::{Merger, ensure_may_merge, may_merge},
    run,
};
use crate::{
    Forge,
    user::standing::{PersonInProject, person_in_project},
};

/// Merges what waits, now that its pipeline has succeeded.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunAutoMerge {
    merge_request: MergeRequestId,
}

impl Job for RunAutoMerge {
    const KIND: &'static str = "merge_request.merge_waiting";

    fn unique_key(&self) -> Option<String> {
        Some(self.merge_request.to_string())
    }
}

/// In the transaction in which a pipeline of a commit succeeded.
pub fn wake(tx: &mut Tx<'_>, project: ProjectId, sha: &str) -> Result<()> {
    for merge_request in auto::waiting_for(tx, project, sha)? {
        tx.enqueue(&RunAutoMerge { merge_request })?;
    }
    Ok(())
}

/// What waits for a commit's pipeline, before whoever reported that it succeeded is answered. Should that fail, the job
/// does it.
pub async fn merge_waiting_for(forge: &Forge, project: ProjectId, sha: String) -> Result<()> {
    let waiting = forge.db.read(move |tx| auto::waiting_for(tx, project, &sha)).await?;
    for merge_request in waiting {
        if let Err(failure) = merge_waiting(forge.clone(), RunAutoMerge { merge_request }).await {
            tracing::warn!(%merge_request, %failure, "a merge is left to the job");
        }
        settle(forge, merge_request).await?;
    }
    Ok(())
}

/// Merges as whoever asked for it, where everything is as it should be; otherwise it waits on.
pub async fn merge_waiting(forge: Forge, job: RunAutoMerge) -> Result<()> {
    let id = job.merge_request;
    let row = match check_mergeability(&forge, id).await {
        Err(gone) if gone.is_gone() => return Ok(()),
        looked => looked?,
    };
    let (Some(how), Some(user)) = (AutoMerge::of(&row), row.merge_user_id) else { return Ok(()) };
    if row.state != MergeRequestState::Opened {
        return Ok(());
    }
    let seen = row.clone();
    let Some(by) = forge.db.read(move |tx| merger(tx, &seen, user)).await? else { return Ok(()) };
    let Some(sides) = check_now(&forge, id).await? else { return Ok(()) };
    if !run::can_move(&forge, &row, &sides).await? {
        return Ok(());
    }
    match run::merge(&forge, row, by, how).await {
        Ok(Ok(_merged)) => Ok(()),
        Ok(Err(reason)) => {
            tracing::info!(merge_request = %id, reason, "a merge request waits on");
            Ok(())
        }
        // Somebody merges it in this moment.
        Err(Error { kind: Kind::NotAllowed, .. }) => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Who merges, where they still may and everything stored allows it.
fn merger(tx: &mut Tx<'_>, row: &MergeRequest, user: UserId) -> Result<Option<Merger>> {
    let known = facts(tx, row)?;
    // By now another pipeline may be under way, also where nobody wants one to succeed.
    if known.pipeline != HeadPipeline::Succeeded || !known.is_mergeable() {
        return Ok(None);
    }
    let project = IdOrPath::Id(row.project_id.0);
    let Some(person) = person_in_project(tx, user, &project)? else { return Ok(None) };
    let PersonInProject { user, facts, who } = person;
    let may = may_merge(tx, &who, row)?;
    Ok(may.then_some(Merger { facts, who, user }))
}

/// Lets a merge request wait for its pipeline. Where that has succeeded since it was looked at, nothing else would wake
/// the merge: it is queued at once, and the answer says so.
pub fn wait_for_pipeline(
    tx: &mut Tx<'_>,
    id: MergeRequestId,
    by: UserId,
    how: &AutoMerge,
) -> Result<(MergeRequest, bool)> {
    let row = auto::set(tx, id, by, how)?;
    let has_succeeded = head_pipeline(tx, &row)? == HeadPipeline::Succeeded;
    if has_succeeded {
        tx.enqueue(&RunAutoMerge { merge_request: id })?;
    }
    Ok((row, has_succeeded))
}

/// Lets a merge request wait no more. Tells whether it did.
///
/// # Errors
/// `Unauthenticated` for those who neither may merge it nor wrote it.
pub fn cancel(tx: &mut Tx<'_>, grant: &Grant<ReadMergeRequests>, iid: i64) -> Result<bool> {
    let row = actions::find(tx, grant, iid)?;
    let by = grant.user()?;
    if row.author_id != by || grant.who().archived {
        ensure_may_merge(tx, grant.who(), &row)?;
    }
    if row.auto_merge.is_none() || row.state != MergeRequestState::Opened {
        return Ok(false);
    }
    let row = tx.merge_request(row.id)?;
    auto::end(tx, &row, by, Reason::Asked).map(|_| true)
}
