//! What follows from a change to a merge request is there when the change is answered.

use kernel::{Result, ids::MergeRequestId};
use worker::Job;

use super::{FinishMerge, LookAt, RefreshCloses};
use crate::{
    Forge,
    merge_request::{code_owners::UpdateCodeOwners, diff_notes::FollowLines, head_refs::KeepHead},
    pipeline::MakeForMergeRequest,
};

/// Does now what waits to be done for a merge request: the commits that it holds are kept, git and the code owners are
/// asked, remarks on lines follow them, and issues know what closes them; after the merge those are closed, and the
/// source branch is gone where that was wanted. What a worker has begun of it is waited for.
pub async fn settle(forge: &Forge, id: MergeRequestId) -> Result<()> {
    forge.worker().run_now_and_wait(keys(id)).await
}

/// As [`settle`], for work, which waits for no other.
pub(super) async fn resume(forge: &Forge, id: MergeRequestId) -> Result<()> {
    forge.worker().run_now(keys(id)).await
}

/// As [`resume`], for one kind of work.
pub(super) async fn run_now(forge: &Forge, kind: &str, id: MergeRequestId) -> Result<()> {
    forge.worker().run_now(vec![format!("{kind}:{id}")]).await
}

fn keys(id: MergeRequestId) -> Vec<String> {
    let kinds = [
        KeepHead::KIND,
        LookAt::KIND,
        UpdateCodeOwners::KIND,
        FollowLines::KIND,
        RefreshCloses::KIND,
        FinishMerge::KIND,
        MakeForMergeRequest::KIND,
    ];
    kinds.into_iter().map(|kind| format!("{kind}:{id}")).collect()
}
