//! The reviewers of a merge request.

use std::collections::HashMap;

use db::{OneOf as _, Tx, each_backend, error, schema::merge_request_reviewers as reviewers};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{MergeRequestId, UserId},
};

kernel::text_enum! {
    pub enum ReviewState { Unreviewed = "unreviewed", Reviewed = "reviewed" }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = reviewers, check_for_backend(db::AnyBackend))]
pub struct Reviewer {
    pub merge_request_id: MergeRequestId,
    pub user_id: UserId,
    pub state: ReviewState,
    pub created_at: Ts,
}

pub trait ReviewerStore {
    /// Who is asked, by merge request, in the order of their ids.
    fn reviewers_of(
        &mut self,
        ids: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, Vec<Reviewer>>>;
    /// Asks exactly these people; those who are asked already keep what they said.
    fn save_reviewers(&mut self, of: MergeRequestId, people: &[UserId]) -> Result<()>;
    /// Somebody looked at it, or is asked to look again. Nothing for those who are not asked.
    fn save_review_state(
        &mut self,
        of: MergeRequestId,
        user: UserId,
        state: ReviewState,
    ) -> Result<()>;
}

impl ReviewerStore for Tx<'_> {
    fn reviewers_of(
        &mut self,
        ids: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, Vec<Reviewer>>> {
        let rows: Vec<Reviewer> = each_backend!(self, |conn| reviewers::table
            .filter(reviewers::merge_request_id.one_of(ids))
            .order((reviewers::merge_request_id, reviewers::user_id))
            .select(Reviewer::as_select())
            .load(conn)
            .map_err(error("User")))?;
        let mut all: HashMap<MergeRequestId, Vec<Reviewer>> = HashMap::new();
        for row in rows {
            all.entry(row.merge_request_id).or_default().push(row);
        }
        Ok(all)
    }

    fn save_reviewers(&mut self, of: MergeRequestId, people: &[UserId]) -> Result<()> {
        let old = reviewers::table
            .filter(reviewers::merge_request_id.eq(of))
            .filter(reviewers::user_id.ne_all(people));
        each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error("User")))?;
        for person in people {
            let row = (
                reviewers::merge_request_id.eq(of),
                reviewers::user_id.eq(*person),
                reviewers::state.eq(ReviewState::Unreviewed),
                reviewers::created_at.eq(self.now),
            );
            each_backend!(self, |conn| diesel::insert_into(reviewers::table)
                .values(row)
                .on_conflict_do_nothing()
                .execute(conn)
                .map_err(error("User")))?;
        }
        Ok(())
    }

    fn save_review_state(
        &mut self,
        of: MergeRequestId,
        user: UserId,
        state: ReviewState,
    ) -> Result<()> {
        let row = diesel::update(reviewers::table.find((of, user))).set(reviewers::state.eq(state));
        each_backend!(self, |conn| row.execute(conn).map_err(error("User")))?;
        Ok(())
    }
}
