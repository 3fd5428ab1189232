//! The stored mergeability of merge requests. A check takes a while, so a result for a state that changed meanwhile is dropped.
//!
//! What many merge requests lead to moves often, and git is asked about few of them before it moves again. So a move
//! gives the branch another stamp, and touches those rows alone that said something else than that git is to be asked.

use std::{collections::HashSet, fmt::Write as _};

use db::{
    Conn, OneOf as _, Tx, each_backend, error,
    listing::{Bind, rows},
    schema::merge_requests,
    stamp,
};
use diesel::{dsl::sql, prelude::*, sql_types::Text};
use kernel::{
    Error, Result, TextEnum as _,
    ids::{MergeRequestId, ProjectId},
};

use crate::{
    item::hold,
    merge_request::{MergeRequest, MergeRequestState, MergeStatus, mergeability::CheckStep},
    todo::{TodoAction, TodoStore as _},
};

/// How often git has looked at a merge request of an archive, in SQL: fewer times than never, so that what it says first is
/// told to nobody. It was so in the source.
pub(crate) const LOOKS_OF_COPY: &str = "-1";

/// A merge request as it was when git was asked.
#[derive(Clone, Debug)]
pub struct MergeabilitySnapshot {
    pub row: MergeRequest,
    looks: i64,
    /// The stamp of the target.
    target: Option<i64>,
}

#[derive(QueryableByName)]
struct Branch {
    #[diesel(sql_type = Text)]
    name: String,
}

/// What every answer about a merge request into a branch follows from.
fn target(project: ProjectId, branch: &str) -> String {
    format!("{}{branch}", targets(project))
}

fn targets(project: ProjectId) -> String {
    format!("merge_target:{project}:")
}

/// The branches of a project go with it.
pub(crate) fn forget_targets(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    stamp::remove_all(tx, &targets(project))
}

pub trait MergeabilityStore {
    fn seen(&mut self, id: MergeRequestId) -> Result<MergeabilitySnapshot>;
    /// Keeps what git said of a merge request. Nothing where something changed or was said since.
    fn save_mergeability(
        &mut self,
        of: &MergeabilitySnapshot,
        look: CheckStep,
    ) -> Result<Option<MergeRequest>>;
    /// Something changed: what git said does not count any more.
    fn forget_look(&mut self, of: &MergeRequest) -> Result<()>;
    /// As [`forget_look`](Self::forget_look), for every open merge request into a branch, however many there are.
    fn forget_looks_into(&mut self, project: ProjectId, branch: &str) -> Result<()>;
    /// The open merge requests into a branch that git has yet to look at, the newest first, so many at most.
    fn unlooked_into(
        &mut self,
        project: ProjectId,
        branch: &str,
        most: i64,
    ) -> Result<Vec<MergeRequestId>>;
    /// A branch that nobody proposes to change any more is gone.
    fn forget_target(&mut self, project: ProjectId, branch: &str) -> Result<()>;
    /// Whether an open merge request leads to the branch.
    fn is_target(&mut self, project: ProjectId, branch: &str) -> Result<bool>;
    /// Those of these branches from which a merge request comes that may still go on, or to which an open one leads: one
    /// statement, however many branches there are.
    fn proposed_branches(
        &mut self,
        project: ProjectId,
        branches: &[&str],
    ) -> Result<HashSet<String>>;
}

impl MergeabilityStore for Tx<'_> {
    fn seen(&mut self, id: MergeRequestId) -> Result<MergeabilitySnapshot> {
        let (row, looks) = each_backend!(self, |conn| merge_requests::table
            .find(id)
            .select((MergeRequest::as_select(), merge_requests::looks))
            .first(conn)
            .map_err(error("Merge request")))?;
        let row: MergeRequest = row;
        let target = stamp::of(self, &target(row.project_id, &row.target_branch))?;
        Ok(MergeabilitySnapshot { row, looks, target })
    }

    fn save_mergeability(
        &mut self,
        of: &MergeabilitySnapshot,
        look: CheckStep,
    ) -> Result<Option<MergeRequest>> {
        hold(self, of.row.id.into())?;
        let branch = target(of.row.project_id, &of.row.target_branch);
        if !stamp::hold(self, &branch, of.target)? {
            return Ok(None);
        }
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
            && of.looks >= 0
            && !of.row.merge_status.is_unmergeable()
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
            merge_requests::merge_status.eq(of.merge_status.after(CheckStep::Changed)),
            merge_requests::looks.eq(merge_requests::looks + 1),
        );
        let row = diesel::update(merge_requests::table.find(of.id)).set(set);
        each_backend!(self, |conn| row.execute(conn).map_err(error("Merge request")))?;
        Ok(())
    }

    fn forget_looks_into(&mut self, project: ProjectId, branch: &str) -> Result<()> {
        stamp::renew_stamp(self, &[target(project, branch)])?;
        let mut after = "CASE merge_status".to_owned();
        let mut changing = Vec::new();
        for status in MergeStatus::ALL.iter().copied() {
            let other = status.after(CheckStep::Changed);
            if other != status {
                changing.push(status);
                // Writing to a String cannot fail.
                let _ = write!(after, " WHEN '{status}' THEN '{other}'");
            }
        }
        let those = merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .filter(merge_requests::target_branch.eq(branch))
            .filter(merge_requests::state.eq(MergeRequestState::Opened))
            .filter(merge_requests::merge_status.eq_any(changing));
        let set = (
            merge_requests::merge_status.eq(sql::<Text>(&format!("{after} END"))),
            merge_requests::looks.eq(merge_requests::looks + 1),
        );
        let rows = diesel::update(those).set(set);
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Merge request")))?;
        Ok(())
    }

    fn forget_target(&mut self, project: ProjectId, branch: &str) -> Result<()> {
        stamp::remove(self, &target(project, branch))
    }

    fn unlooked_into(
        &mut self,
        project: ProjectId,
        branch: &str,
        most: i64,
    ) -> Result<Vec<MergeRequestId>> {
        let open: Vec<MergeStatus> =
            MergeStatus::ALL.iter().copied().filter(|status| status.is_open()).collect();
        each_backend!(self, |conn| merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .filter(merge_requests::target_branch.eq(branch))
            .filter(merge_requests::state.eq(MergeRequestState::Opened))
            .filter(merge_requests::merge_status.one_of(&open))
            .order(merge_requests::id.desc())
            .limit(most)
            .select(merge_requests::id)
            .load(conn)
            .map_err(error("Merge request")))
    }

    fn is_target(&mut self, project: ProjectId, branch: &str) -> Result<bool> {
        let into = merge_requests::table
            .filter(merge_requests::project_id.eq(project))
            .filter(merge_requests::target_branch.eq(branch))
            .filter(
                merge_requests::state
                    .eq_any([MergeRequestState::Opened, MergeRequestState::Locked]),
            )
            .select(merge_requests::id);
        let found: Option<MergeRequestId> = each_backend!(self, |conn| into
            .first(conn)
            .optional()
            .map_err(error("Merge request")))?;
        Ok(found.is_some())
    }

    fn proposed_branches(
        &mut self,
        project: ProjectId,
        branches: &[&str],
    ) -> Result<HashSet<String>> {
        let each = match &self.conn {
            Conn::Sqlite(_) => "json_each($1) AS branch",
            Conn::Postgres(_) => "jsonb_array_elements_text($1::jsonb) AS branch (value)",
        };
        let sql = format!(
            "SELECT branch.value AS name FROM {each} \
             WHERE EXISTS (SELECT 1 FROM merge_requests WHERE source_project_id = $2 AND source_branch = branch.value \
             AND state IN ('opened', 'locked', 'closed')) \
             OR EXISTS (SELECT 1 FROM merge_requests WHERE project_id = $2 AND target_branch = branch.value \
             AND state IN ('opened', 'locked'))"
        );
        let listed = serde_json::to_string(branches).map_err(Error::internal)?;
        let found: Vec<Branch> = rows(self, &sql, &[Bind::Word(listed), Bind::Number(project.0)])?;
        Ok(found.into_iter().map(|branch| branch.name).collect())
    }
}
