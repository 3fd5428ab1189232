//! Accepting a merge request: everything that may keep it from being merged, in the contract's order.

use kernel::{Error, Grant, Result, ids::MergeRequestId};
use org::user::User;
use review::{
    merge_request::{MergeRequest, actions, merge::AutoMerge, mergeability::HeadPipeline},
    policy::ReadMergeRequests,
};
use worker::Job as _;

use super::{
    auto_merge::{RunAutoMerge, wait_for_pipeline},
    may_merge,
    mergeability::{check_mergeability, check_now, facts},
    pending_work::{run_now, settle},
    permission::Merger,
    row, run,
};
use crate::Forge;

/// How somebody wants it merged, and when.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    pub how: AutoMerge,
    /// Not before its pipeline has succeeded.
    pub when_pipeline_succeeds: bool,
}

/// What the state of a merge request allows.
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
    let Some(sides) = check_now(forge, id).await? else { return Err(cannot_be_merged()) };
    if !run::can_move(forge, &row, &sides).await? {
        return Err(cannot_be_merged());
    }
    let head = sides.head.to_string();
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
    row::current(forge, id).await
}

/// Does what follows. The merge is done, whatever comes of this: a caller that goes away does not stop it half-way, and
/// what fails is left to the queue.
async fn finish(forge: &Forge, id: MergeRequestId) {
    let forge = Forge::clone(forge);
    let done = db::spawn(async move { settle(&forge, id).await });
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
