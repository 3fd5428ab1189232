//! Merge requests in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{merge_request_commits as held, merge_requests},
};
use diesel::prelude::*;
use kernel::{
    Actor, Error, Result, Ts,
    ids::{MergeRequestId, MilestoneId, ProjectId, UserId},
};

use super::{BranchPair, MergeRequest, MergeRequestState, MergeStatus, NewRow};
use crate::{
    Home,
    item::details::{self, ItemDetails},
    sequence,
};

/// So many commits are asked for in one question.
const AT_ONCE: usize = 500;

/// The columns that change; `None` keeps.
#[derive(Clone, Debug, Default, AsChangeset)]
#[diesel(table_name = merge_requests)]
pub struct Columns {
    pub target_branch: Option<String>,
    pub title: Option<String>,
    pub description: Option<Option<String>>,
    pub state: Option<MergeRequestState>,
    pub draft: Option<bool>,
    pub milestone_id: Option<Option<MilestoneId>>,
    pub merge_status: Option<MergeStatus>,
    pub merge_error: Option<Option<String>>,
    pub head_sha: Option<Option<String>>,
    pub base_sha: Option<Option<String>>,
    pub start_sha: Option<Option<String>>,
    pub changes_count: Option<Option<i64>>,
    pub merge_commit_sha: Option<Option<String>>,
    pub squash_commit_sha: Option<Option<String>>,
    pub merge_user_id: Option<Option<UserId>>,
    pub merged_at: Option<Option<Ts>>,
    pub closed_by_id: Option<Option<UserId>>,
    pub closed_at: Option<Option<Ts>>,
    pub discussion_locked: Option<Option<bool>>,
    pub squash: Option<bool>,
    pub allow_collaboration: Option<bool>,
    pub should_remove_source_branch: Option<Option<bool>>,
    pub force_remove_source_branch: Option<Option<bool>>,
    pub auto_merge: Option<Option<String>>,
    pub approvals_before_merge: Option<Option<i64>>,
    pub task_count: Option<i64>,
    pub task_completed_count: Option<i64>,
    pub updated_at: Option<Ts>,
}

/// Open, or locked for a moment and then open again or merged.
const NOT_OVER: [MergeRequestState; 2] = [MergeRequestState::Opened, MergeRequestState::Locked];

pub trait MergeRequestStore {
    /// By the number it has in the project it leads to.
    fn find_merge_request(&mut self, project: ProjectId, iid: i64) -> Result<Option<MergeRequest>>;
    /// The same with what is kept beside it, by one statement.
    fn find_merge_request_with(
        &mut self,
        project: ProjectId,
        iid: i64,
        reader: Actor,
    ) -> Result<Option<(MergeRequest, ItemDetails)>>;
    fn merge_request(&mut self, id: MergeRequestId) -> Result<MergeRequest>;
    fn newest_merge_request(&mut self, project: ProjectId) -> Result<Option<MergeRequest>>;
    /// Rows in the order of their ids here; what is gone is left out.
    fn merge_requests_in_order(&mut self, ids: &[i64]) -> Result<Vec<MergeRequest>>;
    /// The number of a merge request between these branches that is not over, other than `except`.
    fn find_open_between(
        &mut self,
        ends: &BranchPair,
        except: Option<MergeRequestId>,
    ) -> Result<Option<i64>>;
    /// Every merge request of a source branch that is open, also while git merges it.
    fn open_merge_requests_from(
        &mut self,
        project: ProjectId,
        branch: &str,
    ) -> Result<Vec<MergeRequest>>;
    /// As [`open_merge_requests_from`](Self::open_merge_requests_from), of those that lead to a branch.
    fn open_merge_requests_into(
        &mut self,
        project: ProjectId,
        branch: &str,
    ) -> Result<Vec<MergeRequest>>;
    /// Those of [`open_merge_requests_into`](Self::open_merge_requests_into) whose newest commit is one of these.
    fn open_into_with_heads(
        &mut self,
        project: ProjectId,
        branch: &str,
        heads: &[String],
    ) -> Result<Vec<MergeRequest>>;
    /// The open merge requests into a branch that were looked up where it was elsewhere, so many at most.
    fn left_behind_into(
        &mut self,
        project: ProjectId,
        branch: &str,
        at: &str,
        most: i64,
    ) -> Result<Vec<MergeRequest>>;
    /// Those of [`left_behind_into`](Self::left_behind_into) that have one of these commits.
    fn left_behind_with(
        &mut self,
        project: ProjectId,
        branch: &str,
        at: &str,
        commits: &[String],
        most: i64,
    ) -> Result<Vec<MergeRequest>>;
    /// Whether something of somebody's was ever merged into a project.
    fn has_merged_into(&mut self, project: ProjectId, author: UserId) -> Result<bool>;
    fn insert_merge_request(&mut self, new: &NewRow<'_>) -> Result<MergeRequest>;
    fn change_merge_request(
        &mut self,
        id: MergeRequestId,
        columns: &Columns,
    ) -> Result<MergeRequest>;
    /// As [`change_merge_request`](Self::change_merge_request), where it still is in the state in which it was seen. Locking
    /// is no update: `updated_at` stays, and tells when the merge has ended what was so before.
    ///
    /// # Errors
    /// `Conflict` where somebody was faster.
    fn step_merge_request(
        &mut self,
        seen: &MergeRequest,
        to: MergeRequestState,
        columns: &Columns,
    ) -> Result<MergeRequest>;
    /// Whether it was still there.
    fn delete_merge_request(&mut self, id: MergeRequestId) -> Result<bool>;
}

impl MergeRequestStore for Tx<'_> {
    fn find_merge_request(&mut self, project: ProjectId, iid: i64) -> Result<Option<MergeRequest>> {
        each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::project_id.eq(project).and(merge_requests::iid.eq(iid)))
            .select(MergeRequest::as_select())
            .first(conn)
            .optional()
            .map_err(error("Merge request")))
    }

    fn find_merge_request_with(
        &mut self,
        project: ProjectId,
        iid: i64,
        reader: Actor,
    ) -> Result<Option<(MergeRequest, ItemDetails)>> {
        let of_it = merge_requests::project_id.eq(project).and(merge_requests::iid.eq(iid));
        let found: Option<(MergeRequest, details::Row)> =
            each_backend!(self, |conn| merge_requests::table
                .filter(of_it)
                .select((MergeRequest::as_select(), details::of_merge_requests::columns(reader)))
                .first(conn)
                .optional()
                .map_err(error("Merge request")))?;
        Ok(found.map(|(row, kept)| {
            let beside = ItemDetails::new(kept, row.author_id, reader);
            (row, beside)
        }))
    }

    fn newest_merge_request(&mut self, project: ProjectId) -> Result<Option<MergeRequest>> {
        let newest = merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .order(merge_requests::iid.desc());
        each_backend!(self, |conn| newest
            .limit(1)
            .select(MergeRequest::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Merge Request")))
    }

    fn merge_request(&mut self, id: MergeRequestId) -> Result<MergeRequest> {
        each_backend!(self, |conn| merge_requests::table
            .find(id)
            .select(MergeRequest::as_select())
            .first(conn)
            .map_err(error("Merge request")))
    }

    fn merge_requests_in_order(&mut self, ids: &[i64]) -> Result<Vec<MergeRequest>> {
        let wanted: Vec<MergeRequestId> = ids.iter().copied().map(MergeRequestId).collect();
        let rows: Vec<MergeRequest> = each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::id.one_of(&wanted))
            .select(MergeRequest::as_select())
            .load(conn)
            .map_err(error("Merge request")))?;
        let mut rows: HashMap<MergeRequestId, MergeRequest> =
            rows.into_iter().map(|row| (row.id, row)).collect();
        Ok(wanted.iter().filter_map(|id| rows.remove(id)).collect())
    }

    fn find_open_between(
        &mut self,
        ends: &BranchPair,
        except: Option<MergeRequestId>,
    ) -> Result<Option<i64>> {
        let query = merge_requests::table
            .filter(merge_requests::source_project_id.eq(ends.source))
            .filter(merge_requests::source_branch.eq(&ends.source_branch))
            .filter(merge_requests::project_id.eq(ends.target))
            .filter(merge_requests::target_branch.eq(&ends.target_branch))
            .filter(merge_requests::state.eq_any(NOT_OVER))
            .filter(merge_requests::id.ne(except.unwrap_or(MergeRequestId(0))))
            .order(merge_requests::id)
            .select(merge_requests::iid);
        each_backend!(self, |conn| query.first(conn).optional().map_err(error("Merge request")))
    }

    fn open_merge_requests_from(
        &mut self,
        project: ProjectId,
        branch: &str,
    ) -> Result<Vec<MergeRequest>> {
        each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::source_project_id.eq(project))
            .filter(merge_requests::source_branch.eq(branch))
            .filter(merge_requests::state.eq_any(NOT_OVER))
            .order(merge_requests::id)
            .select(MergeRequest::as_select())
            .load(conn)
            .map_err(error("Merge request")))
    }

    fn open_into_with_heads(
        &mut self,
        project: ProjectId,
        branch: &str,
        heads: &[String],
    ) -> Result<Vec<MergeRequest>> {
        let mut found: Vec<MergeRequest> = Vec::new();
        for heads in heads.chunks(AT_ONCE) {
            let some: Vec<MergeRequest> = each_backend!(self, |conn| merge_requests::table
                .filter(merge_requests::project_id.eq(project))
                .filter(merge_requests::target_branch.eq(branch))
                .filter(merge_requests::state.eq_any(NOT_OVER))
                .filter(merge_requests::head_sha.one_of(heads))
                .select(MergeRequest::as_select())
                .load(conn)
                .map_err(error("Merge request")))?;
            found.extend(some);
        }
        found.sort_unstable_by_key(|row| row.id);
        Ok(found)
    }

    fn left_behind_into(
        &mut self,
        project: ProjectId,
        branch: &str,
        at: &str,
        most: i64,
    ) -> Result<Vec<MergeRequest>> {
        each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .filter(merge_requests::target_branch.eq(branch))
            .filter(merge_requests::state.eq(MergeRequestState::Opened))
            .filter(merge_requests::start_sha.ne(at))
            .order(merge_requests::id)
            .limit(most)
            .select(MergeRequest::as_select())
            .load(conn)
            .map_err(error("Merge request")))
    }

    fn left_behind_with(
        &mut self,
        project: ProjectId,
        branch: &str,
        at: &str,
        commits: &[String],
        most: i64,
    ) -> Result<Vec<MergeRequest>> {
        let mut found: Vec<MergeRequest> = Vec::new();
        for some in commits.chunks(AT_ONCE) {
            let having = held::table.filter(held::sha.eq_any(some)).select(held::merge_request_id);
            let some: Vec<MergeRequest> = each_backend!(self, |conn| merge_requests::table
                .filter(merge_requests::project_id.eq(project))
                .filter(merge_requests::target_branch.eq(branch))
                .filter(merge_requests::state.eq(MergeRequestState::Opened))
                .filter(merge_requests::start_sha.ne(at))
                .filter(merge_requests::id.eq_any(having))
                .order(merge_requests::id)
                .limit(most)
                .select(MergeRequest::as_select())
                .load(conn)
                .map_err(error("Merge request")))?;
            found.extend(some);
        }
        found.sort_unstable_by_key(|row| row.id);
        found.dedup_by_key(|row| row.id);
        found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Ok(found)
    }

    fn open_merge_requests_into(
        &mut self,
        project: ProjectId,
        branch: &str,
    ) -> Result<Vec<MergeRequest>> {
        each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .filter(merge_requests::target_branch.eq(branch))
            .filter(merge_requests::state.eq_any(NOT_OVER))
            .order(merge_requests::id)
            .select(MergeRequest::as_select())
            .load(conn)
            .map_err(error("Merge request")))
    }

    fn has_merged_into(&mut self, project: ProjectId, author: UserId) -> Result<bool> {
        let merged = merge_requests::table
            .filter(
                merge_requests::author_id.eq(author).and(merge_requests::project_id.eq(project)),
            )
            .filter(merge_requests::state.eq(MergeRequestState::Merged));
        each_backend!(self, |conn| diesel::select(diesel::dsl::exists(merged))
            .get_result(conn)
            .map_err(error("Merge request")))
    }

    fn insert_merge_request(&mut self, new: &NewRow<'_>) -> Result<MergeRequest> {
        let ends = new.ends;
        let iid = sequence::next(self, Home::Project(ends.target), "merge_request")?;
        let row = (
            merge_requests::project_id.eq(ends.target),
            merge_requests::iid.eq(iid),
            merge_requests::source_project_id.eq(ends.source),
            merge_requests::source_branch.eq(&ends.source_branch),
            merge_requests::target_branch.eq(&ends.target_branch),
            merge_requests::title.eq(new.title),
            merge_requests::description.eq(new.description),
            merge_requests::state.eq(MergeRequestState::Opened),
            merge_requests::draft.eq(new.draft),
            merge_requests::author_id.eq(new.author),
            merge_requests::merge_status.eq(MergeStatus::Unchecked),
            merge_requests::squash.eq(false),
            merge_requests::allow_collaboration.eq(false),
            merge_requests::created_at.eq(self.now),
            merge_requests::updated_at.eq(self.now),
        );
        each_backend!(self, |conn| diesel::insert_into(merge_requests::table)
            .values(row)
            .returning(MergeRequest::as_returning())
            .get_result(conn)
            .map_err(error("Merge request")))
    }

    fn change_merge_request(
        &mut self,
        id: MergeRequestId,
        columns: &Columns,
    ) -> Result<MergeRequest> {
        each_backend!(self, |conn| diesel::update(merge_requests::table.find(id))
            .set(columns)
            .returning(MergeRequest::as_returning())
            .get_result(conn)
            .map_err(error("Merge request")))
    }

    fn step_merge_request(
        &mut self,
        seen: &MergeRequest,
        to: MergeRequestState,
        columns: &Columns,
    ) -> Result<MergeRequest> {
        let updated_at = (to != MergeRequestState::Locked).then_some(self.now);
        let columns = Columns { state: Some(to), updated_at, ..columns.clone() };
        let row = merge_requests::table
            .filter(merge_requests::id.eq(seen.id).and(merge_requests::state.eq(seen.state)));
        let moved: Option<MergeRequest> = each_backend!(self, |conn| diesel::update(row)
            .set(&columns)
            .returning(MergeRequest::as_returning())
            .get_result(conn)
            .optional()
            .map_err(error("Merge request")))?;
        moved.ok_or_else(|| Error::conflict().whole("409 Conflict: Resource lock"))
    }

    fn delete_merge_request(&mut self, id: MergeRequestId) -> Result<bool> {
        let row = diesel::delete(merge_requests::table.find(id));
        let gone = each_backend!(self, |conn| row.execute(conn).map_err(error("Merge request")))?;
        Ok(gone > 0)
    }
}
