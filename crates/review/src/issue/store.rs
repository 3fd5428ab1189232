//! Issues in the database.

use std::collections::HashMap;

use db::{OneOf as _, Tx, each_backend, error, schema::issues};
use diesel::prelude::*;
use kernel::{
    Actor, Result, Ts,
    ids::{IssueId, MilestoneId, ProjectId, UserId},
};

use super::{HealthStatus, Issue, IssueState, IssueType, Severity, open_count};
use crate::{
    Home,
    item::{
        details::{self, ItemDetails},
        edit::LastEdit,
        removal,
    },
    sequence,
};

/// The row of a new issue.
#[derive(Clone, Debug)]
pub(super) struct IssueRow {
    pub(super) project: ProjectId,
    pub(super) iid: i64,
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) issue_type: IssueType,
    pub(super) severity: Severity,
    pub(super) author: UserId,
    pub(super) confidential: bool,
    pub(super) discussion_locked: Option<bool>,
    pub(super) milestone: Option<MilestoneId>,
    pub(super) epic: Option<i64>,
    pub(super) epic_position: Option<i64>,
    pub(super) iteration: Option<i64>,
    pub(super) weight: Option<i64>,
    pub(super) health_status: Option<HealthStatus>,
    pub(super) due_date: Option<Ts>,
    pub(super) created_at: Ts,
}

/// How far apart issues are put in the order that people give them, so that others fit between.
pub(crate) const APART: i64 = 1 << 20;

pub trait IssueStore {
    fn find_issue(&mut self, project: ProjectId, iid: i64) -> Result<Option<Issue>>;
    /// The same with what is kept beside it, by one statement.
    fn find_issue_with(
        &mut self,
        project: ProjectId,
        iid: i64,
        reader: Actor,
    ) -> Result<Option<(Issue, ItemDetails)>>;
    fn find_issue_by_id(&mut self, id: IssueId) -> Result<Option<Issue>>;
    fn newest_issue(&mut self, project: ProjectId) -> Result<Option<Issue>>;
    /// Rows in the order of their ids here; what is gone is left out.
    fn issues_in_order(&mut self, ids: &[i64]) -> Result<Vec<Issue>>;
}

impl IssueStore for Tx<'_> {
    fn find_issue(&mut self, project: ProjectId, iid: i64) -> Result<Option<Issue>> {
        each_backend!(self, |conn| issues::table
            .filter(issues::project_id.eq(project).and(issues::iid.eq(iid)))
            .select(Issue::as_select())
            .first(conn)
            .optional()
            .map_err(error("Issue")))
    }

    fn find_issue_with(
        &mut self,
        project: ProjectId,
        iid: i64,
        reader: Actor,
    ) -> Result<Option<(Issue, ItemDetails)>> {
        let found: Option<(Issue, details::Row)> = each_backend!(self, |conn| issues::table
            .filter(issues::project_id.eq(project).and(issues::iid.eq(iid)))
            .select((Issue::as_select(), details::of_issues::columns(reader)))
            .first(conn)
            .optional()
            .map_err(error("Issue")))?;
        Ok(found.map(|(issue, row)| {
            let beside = ItemDetails::new(row, issue.author_id, reader);
            (issue, beside)
        }))
    }

    fn newest_issue(&mut self, project: ProjectId) -> Result<Option<Issue>> {
        let newest = issues::table.filter(issues::project_id.eq(project)).order(issues::iid.desc());
        each_backend!(self, |conn| newest
            .limit(1)
            .select(Issue::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Issue")))
    }

    fn find_issue_by_id(&mut self, id: IssueId) -> Result<Option<Issue>> {
        each_backend!(self, |conn| issues::table
            .find(id)
            .select(Issue::as_select())
            .first(conn)
            .optional()
            .map_err(error("Issue")))
    }

    fn issues_in_order(&mut self, ids: &[i64]) -> Result<Vec<Issue>> {
        let rows: Vec<Issue> = each_backend!(self, |conn| issues::table
            .filter(issues::id.one_of(ids))
            .select(Issue::as_select())
            .load(conn)
            .map_err(error("Issue")))?;
        let mut rows: HashMap<i64, Issue> = rows.into_iter().map(|row| (row.id.0, row)).collect();
        Ok(ids.iter().filter_map(|id| rows.remove(id)).collect())
    }
}

/// The next number of an issue in a project; one that was asked for is not given again.
pub(super) fn next_iid(tx: &mut Tx<'_>, project: ProjectId, asked: Option<i64>) -> Result<i64> {
    let home = Home::Project(project);
    match asked {
        None => sequence::next(tx, home, "issue"),
        Some(number) => {
            sequence::reach(tx, home, "issue", number)?;
            Ok(number)
        }
    }
}

pub(super) fn insert(tx: &mut Tx<'_>, new: &IssueRow) -> Result<Issue> {
    let tasks = crate::item::tasks_in(new.description.as_deref().unwrap_or_default());
    let row = (
        issues::project_id.eq(new.project),
        issues::iid.eq(new.iid),
        issues::title.eq(&new.title),
        issues::description.eq(&new.description),
        issues::state.eq(IssueState::Opened),
        issues::issue_type.eq(new.issue_type),
        issues::severity.eq(new.severity),
        issues::author_id.eq(new.author),
        issues::confidential.eq(new.confidential),
        issues::discussion_locked.eq(new.discussion_locked),
        issues::milestone_id.eq(new.milestone),
        issues::epic_id.eq(new.epic),
        issues::epic_position.eq(new.epic_position),
        issues::iteration_id.eq(new.iteration),
        issues::weight.eq(new.weight),
        issues::health_status.eq(new.health_status),
        issues::due_date.eq(new.due_date),
        issues::relative_position.eq(new.iid.saturating_mul(APART)),
        issues::task_count.eq(tasks.count),
        issues::task_completed_count.eq(tasks.completed),
        issues::created_at.eq(new.created_at),
        issues::updated_at.eq(new.created_at),
    );
    let issue: Issue = each_backend!(tx, |conn| diesel::insert_into(issues::table)
        .values(row)
        .returning(Issue::as_returning())
        .get_result(conn)
        .map_err(error("Issue")))?;
    open_count::note(tx, issue.project_id, (0, 0), issue.weight())?;
    Ok(issue)
}

/// An issue is elsewhere from now on; nothing where it was before.
pub(super) fn lead_on(tx: &mut Tx<'_>, issue: &Issue, to: IssueId) -> Result<Option<Issue>> {
    let row = issues::table.find(issue.id).filter(issues::moved_to_id.is_null());
    let set = (issues::moved_to_id.eq(to), issues::updated_at.eq(tx.now));
    each_backend!(tx, |conn| diesel::update(row)
        .set(set)
        .returning(Issue::as_returning())
        .get_result(conn)
        .optional()
        .map_err(error("Issue")))
}

/// Keeps what people change of an issue; its state and what is counted are not among it. The answer has the last changes
/// before this one, too.
pub(super) fn keep(tx: &mut Tx<'_>, issue: &Issue) -> Result<(Issue, LastEdit)> {
    let tasks = crate::item::tasks_in(issue.description.as_deref().unwrap_or_default());
    let row = (
        issues::iid.eq(issue.iid),
        issues::title.eq(&issue.title),
        issues::description.eq(&issue.description),
        issues::issue_type.eq(issue.issue_type),
        issues::severity.eq(issue.severity),
        issues::confidential.eq(issue.confidential),
        issues::discussion_locked.eq(issue.discussion_locked),
        issues::milestone_id.eq(issue.milestone_id),
        issues::epic_id.eq(issue.epic_id),
        issues::epic_position.eq(issue.epic_position),
        issues::iteration_id.eq(issue.iteration_id),
        issues::weight.eq(issue.weight),
        issues::health_status.eq(issue.health_status),
        issues::due_date.eq(issue.due_date),
        issues::relative_position.eq(issue.relative_position),
        issues::task_count.eq(tasks.count),
        issues::task_completed_count.eq(tasks.completed),
        issues::moved_to_id.eq(issue.moved_to_id),
        issues::duplicated_to_id.eq(issue.duplicated_to_id),
        issues::created_at.eq(issue.created_at),
        issues::updated_at.eq(issue.updated_at),
    );
    // Changes nothing, but nobody else changes the row until this is over.
    let edit = (issues::last_edited_at, issues::last_edited_by_id, issues::updated_by_id);
    let before = diesel::update(issues::table.find(issue.id))
        .set(issues::confidential.eq(issues::confidential))
        .returning((issues::state, issues::confidential, edit));
    let (state, confidential, edit): (IssueState, bool, LastEdit) =
        each_backend!(tx, |conn| before.get_result(conn).map_err(error("Issue")))?;
    let kept: Issue = each_backend!(tx, |conn| diesel::update(issues::table.find(issue.id))
        .set(row)
        .returning(Issue::as_returning())
        .get_result(conn)
        .map_err(error("Issue")))?;
    let before = open_count::weight(state, confidential);
    open_count::note(tx, kept.project_id, before, kept.weight())?;
    Ok((kept, edit))
}

/// Moves an issue to another state, unless somebody was faster. One that is open repeats no other.
pub(super) fn move_to(
    tx: &mut Tx<'_>,
    issue: &Issue,
    to: IssueState,
    by: UserId,
) -> Result<Option<Issue>> {
    let closed = match to {
        IssueState::Closed => (Some(tx.now), Some(by)),
        IssueState::Opened => (None, None),
    };
    let original = issue.duplicated_to_id.filter(|_| to == IssueState::Closed);
    let row = (
        issues::state.eq(to),
        issues::closed_at.eq(closed.0),
        issues::closed_by_id.eq(closed.1),
        issues::duplicated_to_id.eq(original),
        issues::updated_at.eq(tx.now),
    );
    let still = issues::table.filter(issues::id.eq(issue.id).and(issues::state.eq(issue.state)));
    let moved: Option<Issue> = each_backend!(tx, |conn| diesel::update(still)
        .set(row)
        .returning(Issue::as_returning())
        .get_result(conn)
        .optional()
        .map_err(error("Issue")))?;
    if let Some(moved) = &moved {
        let before = open_count::weight(issue.state, moved.confidential);
        open_count::note(tx, moved.project_id, before, moved.weight())?;
    }
    Ok(moved)
}

/// Removes an issue with all that hangs on it; whether it was still there.
pub(crate) fn delete(tx: &mut Tx<'_>, id: IssueId) -> Result<bool> {
    removal::forget(tx, id.into())?;
    let row = diesel::delete(issues::table.find(id));
    let gone: Option<Issue> = each_backend!(tx, |conn| row
        .returning(Issue::as_returning())
        .get_result(conn)
        .optional()
        .map_err(error("Issue")))?;
    if let Some(gone) = &gone {
        open_count::note(tx, gone.project_id, gone.weight(), (0, 0))?;
    }
    Ok(gone.is_some())
}
