//! Closes merge requests whose source has left the fork network of the target.

use db::{Tx, each_backend, error, schema::merge_requests};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{MergeRequestId, ProjectId, UserId},
};

use super::{MergeRequestState, change};
use crate::item::held_merge_request;

/// Closes what is open and leads from a project to others.
pub fn close_from(tx: &mut Tx<'_>, project: ProjectId, by: Option<UserId>) -> Result<()> {
    let leading = merge_requests::table
        .filter(merge_requests::source_project_id.eq(project))
        .filter(merge_requests::project_id.ne(project))
        .filter(merge_requests::state.eq(MergeRequestState::Opened))
        .order(merge_requests::id)
        .select(merge_requests::id);
    let leading: Vec<MergeRequestId> =
        each_backend!(tx, |conn| leading.load(conn).map_err(error("Merge request")))?;
    for id in leading {
        let row = held_merge_request(tx, id)?;
        let by = by.unwrap_or(row.author_id);
        change::close(tx, row, by)?;
    }
    Ok(())
}
