//! Recovery of merge requests that a failed or interrupted merge left locked.

use db::Tx;
use kernel::{Result, ids::MergeRequestId};
use review::merge_request::merge::run;
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::{Job, Queue as _};

use super::{after_merge::run_now, mergeability::check_mergeability, resync::resync_with_git};
use crate::Forge;

/// No merge takes so long: whoever locked it is gone.
const LONGEST: Duration = Duration::minutes(15);

/// Makes up for what happened to the branches of a merge request while it was locked.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecoverAfterMerge {
    pub(super) merge_request: MergeRequestId,
}

impl Job for RecoverAfterMerge {
    const KIND: &'static str = "merge_request.look_after";

    fn unique_key(&self) -> Option<String> {
        Some(self.merge_request.to_string())
    }
}

/// Nothing for what is gone by now.
pub async fn recover(forge: Forge, job: RecoverAfterMerge) -> Result<()> {
    let id = job.merge_request;
    let done = async {
        resync_with_git(&forge, id).await?;
        check_mergeability(&forge, id).await.map(drop)
    };
    match done.await {
        Err(gone) if gone.is_gone() => Ok(()),
        done => done,
    }
}

/// Does so now. What fails is tried again later.
pub(super) async fn recover_now(forge: &Forge, id: MergeRequestId) {
    if let Err(failure) = run_now(forge, RecoverAfterMerge::KIND, id).await {
        tracing::warn!(merge_request = %id, %failure, "what happened during a merge is made up for later");
    }
}

/// At the start, when nothing is under way: opens what a crash left locked. Moves that were decided are finished, and
/// whatever was decided is merged already. What git has to be asked is left to the background, which nobody's start waits
/// for.
pub async fn unlock_stale_merges(forge: &Forge) -> Result<usize> {
    unlock(forge, None).await
}

async fn unlock(forge: &Forge, before: Option<Duration>) -> Result<usize> {
    let unlocked = forge.db.write(move |tx: &mut Tx<'_>| {
        let limit = before.map(|age| tx.now.plus(-age));
        let unlocked = run::unlock_stale_merges(tx, limit)?;
        for id in &unlocked {
            tx.enqueue(&RecoverAfterMerge { merge_request: *id })?;
        }
        Ok(unlocked.len())
    });
    unlocked.await
}

/// Opens merge requests whose merge ended without an answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct UnlockMerges {}

impl Job for UnlockMerges {
    const KIND: &'static str = "merge_request.unlock";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

pub async fn unlock_merges(forge: Forge, _: UnlockMerges) -> Result<()> {
    match unlock(&forge, Some(LONGEST)).await? {
        0 => {}
        count => tracing::warn!(count, "merge requests were left behind locked"),
    }
    Ok(())
}
