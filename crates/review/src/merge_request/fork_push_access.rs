//! Push access to the source branches of merge requests from forks (`allow_collaboration`).

use db::{Tx, each_backend, error, schema::merge_requests};
use diesel::prelude::*;
use kernel::{
    AccessLevel::Developer,
    Result,
    ids::{ProjectId, UserId},
};

use super::{MergeRequest, MergeRequestState};
use crate::ports::People;

/// An open merge request from a fork that allows members of the target to push to its source branch.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = merge_requests, check_for_backend(db::AnyBackend))]
pub struct OpenForkRequest {
    #[diesel(column_name = project_id)]
    pub target: ProjectId,
    pub target_branch: String,
    pub source_branch: String,
    #[diesel(column_name = author_id)]
    pub author: UserId,
}

pub trait ForkPushAccessStore {
    /// The open merge requests from a fork to other projects that allow collaboration.
    fn open_fork_requests(&mut self, source: ProjectId) -> Result<Vec<OpenForkRequest>>;
}

impl ForkPushAccessStore for Tx<'_> {
    fn open_fork_requests(&mut self, source: ProjectId) -> Result<Vec<OpenForkRequest>> {
        each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::source_project_id.eq(source))
            .filter(merge_requests::project_id.ne(source))
            .filter(merge_requests::state.eq(MergeRequestState::Opened))
            .filter(merge_requests::allow_collaboration.eq(true))
            .order(merge_requests::id)
            .select(OpenForkRequest::as_select())
            .load(conn)
            .map_err(error("Merge request")))
    }
}

/// Whether a user may set `allow_collaboration`: only users who can push to the source project themselves.
pub(super) fn may_allow_collaboration(
    tx: &mut Tx<'_>,
    people: &impl People,
    row: &MergeRequest,
    by: UserId,
) -> Result<bool> {
    let Some(source) = row.source_project_id.filter(|_| row.is_from_fork()) else {
        return Ok(false);
    };
    let standing = people.standings(tx, source, &[by])?.pop();
    Ok(standing.is_some_and(|standing| standing.writes(Developer)))
}
