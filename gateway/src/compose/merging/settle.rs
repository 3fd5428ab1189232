//! What follows from a change to a merge request is there when the change is answered.

use kernel::{Result, ids::MergeRequestId};
use worker::Job;

use super::{FinishMerge, LookAt, RefreshCloses};
use crate::{
    app::App,
    compose::{
        code_owners::LookAtCommits, diff_notes::FollowLines, jobs::worker, merge_requests::KeepHead,
    },
};

/// Does now what waits to be done for a merge request: the commits that it holds are kept, git and the code owners are
/// asked, remarks on lines follow them, and issues know what closes them; after the merge those are closed, and the
/// source branch is gone where that was wanted. What a worker has begun of it is waited for.
pub async fn settle(app: &App, id: MergeRequestId) -> Result<()> {
    worker(app.clone()).hurry_and_wait(keys(id)).await
}

/// As [`settle`], for work, which waits for no other.
pub(super) async fn go_on(app: &App, id: MergeRequestId) -> Result<()> {
    worker(app.clone()).hurry(keys(id)).await
}

/// As [`go_on`], for one kind of work.
pub(super) async fn hurry(app: &App, kind: &str, id: MergeRequestId) -> Result<()> {
    worker(app.clone()).hurry(vec![format!("{kind}:{id}")]).await
}

fn keys(id: MergeRequestId) -> Vec<String> {
    let kinds = [
        KeepHead::KIND,
        LookAt::KIND,
        LookAtCommits::KIND,
        FollowLines::KIND,
        RefreshCloses::KIND,
        FinishMerge::KIND,
    ];
    kinds.into_iter().map(|kind| format!("{kind}:{id}")).collect()
}
