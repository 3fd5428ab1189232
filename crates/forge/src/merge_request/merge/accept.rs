//! Accepting a merge request, at once or when its pipeline succeeds: everything that may keep it from being merged, in the
//! contract's order.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    error::Kind,
    ids::{MergeRequestId, ProjectId, UserId},
};
use org::{access::IdOrPath, user::User};
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
    after_merge::{run_now, run_pending},
    mergeability::{
        Merger, check_mergeability, check_now, current, ensure_may_merge, facts, head_pipeline,
        may_merge,
    },
    run,
};
use crate::{
    Forge,
    user::standing::{PersonInProject, person_in_project},
};

/// The options of a merge, and whether to wait for the pipeline.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    pub how: AutoMerge,
    /// Not before its pipeline has succeeded.
    pub when_pipeline_succeeds: bool,
}

/// Whether a merge request can be merged now or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergeTiming {
    Now,
    /// Waits for its pipeline.
    Later,
}

/// Merges a merge request, or lets it wait for its pipeline. What follows from the merge is done when this returns: issues
/// are closed, and the source branch is gone where that was wanted.
///
/// # Errors
/// The refusals of the contract: 401, 405, 406, 409 and 422, looked for in this order.
pub async fn accept(
    forge: &Forge,
    grant: &Grant<ReadMergeRequests>,
    caller: &User,
    iid: i64,
    wish: MergeOptions,
) -> Result<MergeRequest> {
    let found = {
        let grant = grant.clone();
        forge.db.read(move |tx| {
            let row = actions::find(tx, &grant, iid)?;
            if may_merge(tx, grant.who(), &row)? { Ok(row) } else { Err(Error::unauthenticated()) }
        })
    };
    let id = found.await?.id;
    let row = check_mergeability(forge, id).await?;
    let way = timing(forge, row.clone(), wish.when_pipeline_succeeds).await?;
    let Some(inputs) = check_now(forge, id).await? else { return Err(cannot_be_merged()) };
    if !run::can_move(forge, &row, &inputs).await? {
        return Err(cannot_be_merged());
    }
    let head = inputs.head.to_string();
    if wish.how.sha.as_ref().is_some_and(|seen| *seen != head) {
        let text = format!("SHA does not match HEAD of source branch: {head}");
        return Err(Error::conflict().whole(text));
    }
    match way {
        MergeTiming::Later => {
            let how = AutoMerge { sha: Some(head), ..wish.how };
            let by = caller.id;
            let waits = forge.db.write(move |tx| wait_for_pipeline(tx, id, by, &how));
            if waits.await?.1 {
                run_now(forge, RunAutoMerge::KIND, id).await?;
            }
        }
        MergeTiming::Now => {
            let by =
                Merger { facts: grant.facts().clone(), who: *grant.who(), user: caller.clone() };
            if let Err(_reason) = run::merge(forge, row, by, wish.how).await? {
                return Err(Error::unprocessable().whole("Branch cannot be merged"));
            }
        }
    }
    finish(forge, id).await;
    current(forge, id).await
}

/// Does what follows. The merge is done, whatever comes of this: a caller that goes away does not stop it half-way, and
/// what fails is left to the queue.
async fn finish(forge: &Forge, id: MergeRequestId) {
    let forge = Forge::clone(forge);
    let done = db::spawn(async move { run_pending(&forge, id).await });
    if let Err(failure) = done.await.map_err(Error::internal).flatten() {
        tracing::error!(merge_request = %id, error = %failure, "what follows a merge is left to the queue");
    }
}

/// Git cannot merge it as its project wants it.
fn cannot_be_merged() -> Error {
    Error::not_acceptable().whole("Branch cannot be merged")
}

async fn timing(
    forge: &Forge,
    row: MergeRequest,
    when_pipeline_succeeds: bool,
) -> Result<MergeTiming> {
    let facts = forge.db.read(move |tx| facts(tx, &row)).await?;
    let not_allowed = Error::not_allowed;
    match (when_pipeline_succeeds, facts.pipeline) {
        (false, _) if facts.is_mergeable() => Ok(MergeTiming::Now),
        (true, HeadPipeline::Active) if facts.is_mergeable_but_for_pipeline() => {
            Ok(MergeTiming::Later)
        }
        (true, HeadPipeline::Succeeded) if facts.is_mergeable() => Ok(MergeTiming::Now),
        // The pipeline would do, and something else does not.
        (true, HeadPipeline::Succeeded) => Err(cannot_be_merged()),
        _ => Err(not_allowed()),
    }
}

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
        run_pending(forge, merge_request).await?;
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
    let Some(inputs) = check_now(&forge, id).await? else { return Ok(()) };
    if !run::can_move(&forge, &row, &inputs).await? {
        return Ok(());
    }
    match run::merge(&forge, row, by, how).await {
        Ok(Ok(_merged)) => Ok(()),
        Ok(Err(reason)) => {
            tracing::info!(merge_request = %id, reason, "a merge request waits on");
            Ok(())
        }
        // Somebody merges it in this moment.
        Err(late) if late.kind == Kind::NotAllowed => Ok(()),
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
