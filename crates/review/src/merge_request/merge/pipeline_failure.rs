//! Pipelines that fail: those who look after a merge request are asked to look.

use db::{Tx, each_backend, error, schema::merge_requests};
use diesel::prelude::*;
use kernel::{Result, ids::ProjectId};

use crate::{
    merge_request::{MergeRequest, MergeRequestState},
    todo::{TodoAction, TodoStore as _},
};

/// In the transaction in which a pipeline of a commit failed: asks the authors of the merge requests that hold it as
/// their newest one, and those who want them merged when it succeeds.
pub fn tell(tx: &mut Tx<'_>, source: ProjectId, sha: &str) -> Result<()> {
    let open = merge_requests::table
        .filter(merge_requests::source_project_id.eq(source))
        .filter(merge_requests::head_sha.eq(sha))
        .filter(merge_requests::state.eq(MergeRequestState::Opened))
        .order(merge_requests::id);
    let open: Vec<MergeRequest> = each_backend!(tx, |conn| open
        .select(MergeRequest::as_select())
        .load(conn)
        .map_err(error("Merge request")))?;
    for row in open {
        let waiting = row.merge_user_id.filter(|user| *user != row.author_id);
        for person in [Some(row.author_id), waiting].into_iter().flatten() {
            tx.raise_todo(&row.item(), person, row.author_id, TodoAction::BuildFailed, None)?;
        }
    }
    Ok(())
}
