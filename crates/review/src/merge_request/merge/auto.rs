//! Merging when the pipeline succeeds: how it is set, and what ends it.

use db::{Tx, each_backend, error, schema::merge_requests};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{MergeRequestId, ProjectId, UserId},
};
use serde::{Deserialize, Serialize};

use crate::{
    merge_request::{Columns, MergeRequest, MergeRequestState, MergeRequestStore as _},
    note::write_system_note,
};

/// The options of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AutoMerge {
    pub merge_commit_message: Option<String>,
    pub squash_commit_message: Option<String>,
    pub should_remove_source_branch: Option<bool>,
    pub squash: bool,
    /// The newest commit of the source that is meant.
    pub sha: Option<String>,
}

impl AutoMerge {
    /// What waits with a merge request.
    pub fn of(row: &MergeRequest) -> Option<Self> {
        // What cannot be read any more is merged in the usual words.
        row.auto_merge.as_ref().map(|text| serde_json::from_str(text).unwrap_or_default())
    }
}

/// Lets a merge request wait for its pipeline. What waited before is replaced.
pub fn set(
    tx: &mut Tx<'_>,
    id: MergeRequestId,
    by: UserId,
    wish: &AutoMerge,
) -> Result<MergeRequest> {
    let row = tx.merge_request(id)?;
    if row.state != MergeRequestState::Opened {
        return Err(Error::conflict().whole("409 Conflict: Resource lock"));
    }
    let text = serde_json::to_string(wish).map_err(Error::internal)?;
    let columns = Columns {
        auto_merge: Some(Some(text)),
        merge_user_id: Some(Some(by)),
        should_remove_source_branch: Some(wish.should_remove_source_branch),
        squash: wish.squash.then_some(true),
        merge_error: Some(None),
        updated_at: Some(tx.now),
        ..Columns::default()
    };
    // Whoever closes it meanwhile is not overruled.
    let kept = tx.step_merge_request(&row, MergeRequestState::Opened, &columns)?;
    if row.auto_merge.is_none() {
        let sha = kept.head_sha.as_deref().unwrap_or_default();
        let text = format!("enabled an automatic merge when the pipeline for {sha} succeeds");
        write_system_note(tx, &kept.item(), by, &text)?;
    }
    Ok(kept)
}

/// Reasons for which an auto-merge is aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Asked,
    SourceMoved,
    TargetMoved,
    Retargeted,
    Closed,
}

/// Waits no more. The row is as it was read in this transaction; nothing where it did not wait.
pub fn end(
    tx: &mut Tx<'_>,
    row: &MergeRequest,
    by: UserId,
    reason: Reason,
) -> Result<MergeRequest> {
    if row.auto_merge.is_none() {
        return Ok(row.clone());
    }
    let columns = Columns {
        auto_merge: Some(None),
        merge_user_id: Some(None),
        should_remove_source_branch: Some(None),
        updated_at: Some(tx.now),
        ..Columns::default()
    };
    let kept = tx.change_merge_request(row.id, &columns)?;
    let text = match reason {
        Reason::Asked => "canceled the automatic merge",
        Reason::SourceMoved => "aborted the automatic merge because source branch was updated",
        Reason::TargetMoved => "aborted the automatic merge because target branch was updated",
        Reason::Retargeted => "aborted the automatic merge because target branch was changed",
        Reason::Closed => "aborted the automatic merge because merge request was closed",
    };
    write_system_note(tx, &kept.item(), by, text)?;
    Ok(kept)
}

/// The open merge requests into a branch that wait for a pipeline.
pub fn waiting_into(
    tx: &mut Tx<'_>,
    project: ProjectId,
    branch: &str,
) -> Result<Vec<MergeRequest>> {
    let waiting = merge_requests::table
        .filter(merge_requests::project_id.eq(project))
        .filter(merge_requests::target_branch.eq(branch))
        .filter(merge_requests::state.eq(MergeRequestState::Opened))
        .filter(merge_requests::auto_merge.is_not_null())
        .order(merge_requests::id);
    each_backend!(tx, |conn| waiting
        .select(MergeRequest::as_select())
        .load(conn)
        .map_err(error("Merge request")))
}

/// The merge requests that wait for a pipeline of this commit of a source project.
pub fn waiting_for(tx: &mut Tx<'_>, source: ProjectId, sha: &str) -> Result<Vec<MergeRequestId>> {
    let waiting = merge_requests::table
        .filter(merge_requests::source_project_id.eq(source))
        .filter(merge_requests::head_sha.eq(sha))
        .filter(merge_requests::state.eq(MergeRequestState::Opened))
        .filter(merge_requests::auto_merge.is_not_null())
        .order(merge_requests::id)
        .select(merge_requests::id);
    each_backend!(tx, |conn| waiting.load(conn).map_err(error("Merge request")))
}
