//! Source branches that authors of merge requests let others push to.

use db::{Tx, each_backend, error, schema::merge_requests};
use diesel::prelude::*;
use kernel::{
    AccessLevel::Developer,
    Result,
    ids::{ProjectId, UserId},
};

use super::{MergeRequest, MergeRequestState};
use crate::ports::People;

/// An open merge request whose author lets those who may merge it push to its source.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = merge_requests, check_for_backend(diesel::sqlite::Sqlite, diesel::pg::Pg))]
pub struct Offer {
    #[diesel(column_name = project_id)]
    pub target: ProjectId,
    pub target_branch: String,
    pub source_branch: String,
    #[diesel(column_name = author_id)]
    pub author: UserId,
}

pub trait LendingStore {
    /// What is offered from a project to others.
    fn offers_from(&mut self, source: ProjectId) -> Result<Vec<Offer>>;
}

impl LendingStore for Tx<'_> {
    fn offers_from(&mut self, source: ProjectId) -> Result<Vec<Offer>> {
        each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::source_project_id.eq(source))
            .filter(merge_requests::project_id.ne(source))
            .filter(merge_requests::state.eq(MergeRequestState::Opened))
            .filter(merge_requests::allow_collaboration.eq(true))
            .order(merge_requests::id)
            .select(Offer::as_select())
            .load(conn)
            .map_err(error("Merge request")))
    }
}

/// Whether somebody may say that others push to the source: nobody gives away what they may not push to themselves.
pub(super) fn may_lend(
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
