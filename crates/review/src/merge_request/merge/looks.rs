//! What git last said of merge requests. Answers take a while: one about something that changed meanwhile is dropped.

use db::{Tx, each_backend, error, schema::merge_requests};
use diesel::{dsl::sql, prelude::*, sql_types::Text};
use kernel::{
    Result, TextEnum as _,
    ids::{MergeRequestId, ProjectId},
};

use crate::{
    merge_request::{MergeRequest, MergeRequestState, MergeStatus, mergeability::Look},
    todo::{TodoAction, TodoStore as _},
};

/// A merge request as it was when git was asked.
#[derive(Clone, Debug)]
pub struct Seen {
    pub row: MergeRequest,
    looks: i64,
}

pub trait LookStore {
    fn seen(&mut self, id: MergeRequestId) -> Result<Seen>;
    /// Keeps what git said of a merge request. Nothing where something changed or was said since.
    fn keep_look(&mut self, of: &Seen, look: Look) -> Result<Option<MergeRequest>>;
    /// Something changed: what git said does not count any more.
    fn forget_look(&mut self, of: &MergeRequest) -> Result<()>;
    /// As [`forget_look`](Self::forget_look), for every open merge request into a branch.
    fn forget_looks_into(&mut self, project: ProjectId, branch: &str) -> Result<()>;
    /// Some of the open merge requests into a branch that git has yet to look at.
    fn unlooked_into(
        &mut self,
        project: ProjectId,
        branch: &str,
        after: MergeRequestId,
        most: i64,
    ) -> Result<Vec<MergeRequestId>>;
    /// Whether an open merge request comes from the branch or leads to it.
    fn is_touched(&mut self, project: ProjectId, branch: &str) -> Result<bool>;
}

impl LookStore for Tx<'_> {
    fn seen(&mut self, id: MergeRequestId) -> Result<Seen> {
        let (row, looks) = each_backend!(self, |conn| merge_requests::table
            .find(id)
            .select((MergeRequest::as_select(), merge_requests::looks))
            .first(conn)
            .map_err(error("Merge request")))?;
        Ok(Seen { row, looks })
    }

    fn keep_look(&mut self, of: &Seen, look: Look) -> Result<Option<MergeRequest>> {
        let status = of.row.merge_status.after(look);
        let set = (merge_requests::merge_status.eq(status), merge_requests::looks.eq(of.looks + 1));
        let head = || sql::<Text>("coalesce(head_sha, '')");
        let kept: Option<MergeRequest> = each_backend!(self, |conn| diesel::update(
            merge_requests::table
                .filter(merge_requests::id.eq(of.row.id).and(merge_requests::looks.eq(of.looks)))
                .filter(merge_requests::target_branch.eq(&of.row.target_branch))
                .filter(head().eq(of.row.head_sha.as_deref().unwrap_or_default()))
        )
        .set(set)
        .returning(MergeRequest::as_returning())
        .get_result(conn)
        .optional()
        .map_err(error("Merge request")))?;
        if let Some(row) = &kept
            && status == MergeStatus::CannotBeMerged
            && of.row.merge_status != status
            && row.state == MergeRequestState::Opened
            && row.head_sha.is_some()
        {
            self.raise_todo(
                &row.item(),
                row.author_id,
                row.author_id,
                TodoAction::Unmergeable,
                None,
            )?;
        }
        Ok(kept)
    }

    fn forget_look(&mut self, of: &MergeRequest) -> Result<()> {
        let set = (
            merge_requests::merge_status.eq(of.merge_status.after(Look::Changed)),
            merge_requests::looks.eq(merge_requests::looks + 1),
        );
        let row = diesel::update(merge_requests::table.find(of.id)).set(set);
        each_backend!(self, |conn| row.execute(conn).map_err(error("Merge request")))?;
        Ok(())
    }

    fn forget_looks_into(&mut self, project: ProjectId, branch: &str) -> Result<()> {
        // What follows from one status is never changed once more: those are left out that stay what they are.
        let statuses = MergeStatus::ALL.iter().copied();
        let (staying, changing): (Vec<MergeStatus>, Vec<MergeStatus>) =
            statuses.partition(|status| status.after(Look::Changed) == *status);
        for status in staying.into_iter().chain(changing) {
            let those = merge_requests::table
                .filter(merge_requests::project_id.eq(project))
                .filter(merge_requests::target_branch.eq(branch))
                .filter(merge_requests::state.eq(MergeRequestState::Opened))
                .filter(merge_requests::merge_status.eq(status));
            let set = (
                merge_requests::merge_status.eq(status.after(Look::Changed)),
                merge_requests::looks.eq(merge_requests::looks + 1),
            );
            let rows = diesel::update(those).set(set);
            each_backend!(self, |conn| rows.execute(conn).map_err(error("Merge request")))?;
        }
        Ok(())
    }

    fn unlooked_into(
        &mut self,
        project: ProjectId,
        branch: &str,
        after: MergeRequestId,
        most: i64,
    ) -> Result<Vec<MergeRequestId>> {
        let open: Vec<MergeStatus> =
            MergeStatus::ALL.iter().copied().filter(|status| status.is_open()).collect();
        each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .filter(merge_requests::target_branch.eq(branch))
            .filter(merge_requests::state.eq(MergeRequestState::Opened))
            .filter(merge_requests::merge_status.eq_any(&open))
            .filter(merge_requests::id.gt(after))
            .order(merge_requests::id)
            .limit(most)
            .select(merge_requests::id)
            .load(conn)
            .map_err(error("Merge request")))
    }

    fn is_touched(&mut self, project: ProjectId, branch: &str) -> Result<bool> {
        let open = merge_requests::table
            .filter(
                merge_requests::state
                    .eq_any([MergeRequestState::Opened, MergeRequestState::Locked]),
            )
            .select(merge_requests::id);
        let into = open
            .clone()
            .filter(merge_requests::project_id.eq(project))
            .filter(merge_requests::target_branch.eq(branch));
        let from = open
            .filter(merge_requests::source_project_id.eq(project))
            .filter(merge_requests::source_branch.eq(branch));
        let found: Option<MergeRequestId> = each_backend!(self, |conn| {
            let into = into.first(conn).optional().map_err(error("Merge request"))?;
            match into {
                Some(id) => Some(id),
                None => from.first(conn).optional().map_err(error("Merge request"))?,
            }
        });
        Ok(found.is_some())
    }
}
