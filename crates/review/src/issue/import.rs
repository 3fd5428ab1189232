//! Issues that come from another installation, with their numbers, authors and times, a page at a time. Nobody is told
//! of them, and no to-dos are raised.

use std::collections::HashSet;

use db::{Tx, each_backend, error, schema::issues};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{ProjectId, UserId},
};

use super::{APART, IssueState, IssueType, Severity, open_count};
use crate::{
    Home,
    item::{
        ItemKind,
        import::{ItemAttachments, attach, ids_by_iid},
        tasks_in,
    },
    milestone::import::by_iid,
    sequence,
};

/// An issue as another installation has it.
#[derive(Clone, Debug)]
pub struct ImportedIssue {
    pub iid: i64,
    pub title: String,
    pub description: Option<String>,
    pub state: IssueState,
    pub author: UserId,
    pub assignees: Vec<UserId>,
    pub labels: Vec<String>,
    /// The number of its milestone.
    pub milestone: Option<i64>,
    pub discussion_locked: bool,
    pub closed_at: Option<Ts>,
    pub closed_by: Option<UserId>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// Writes the issues whose numbers a project lacks; returns how many these were.
pub fn insert_issues(tx: &mut Tx<'_>, project: ProjectId, new: &[ImportedIssue]) -> Result<usize> {
    let iids: Vec<i64> = new.iter().map(|one| one.iid).collect();
    let known = ids_by_iid(tx, project, ItemKind::Issue, &iids)?;
    let mut seen: HashSet<i64> = known.into_keys().collect();
    let new: Vec<&ImportedIssue> = new.iter().filter(|one| seen.insert(one.iid)).collect();
    if new.is_empty() {
        return Ok(0);
    }
    let wanted: Vec<i64> = new.iter().filter_map(|one| one.milestone).collect();
    let milestones = by_iid(tx, project, &wanted)?;
    let rows: Vec<_> = new
        .iter()
        .map(|one| {
            let tasks = tasks_in(one.description.as_deref().unwrap_or_default());
            let milestone = one.milestone.and_then(|iid| milestones.get(&iid).copied());
            let locked = one.discussion_locked.then_some(true);
            (
                issues::project_id.eq(project),
                issues::iid.eq(one.iid),
                issues::title.eq(&one.title),
                issues::description.eq(&one.description),
                issues::state.eq(one.state),
                issues::issue_type.eq(IssueType::Issue),
                issues::severity.eq(Severity::Unknown),
                issues::author_id.eq(one.author),
                issues::confidential.eq(false),
                (
                    issues::discussion_locked.eq(locked),
                    issues::milestone_id.eq(milestone),
                    issues::relative_position.eq(one.iid.saturating_mul(APART)),
                    issues::task_count.eq(tasks.count),
                    issues::task_completed_count.eq(tasks.completed),
                    issues::closed_at.eq(one.closed_at),
                    issues::closed_by_id.eq(one.closed_by),
                    issues::created_at.eq(one.created_at),
                    issues::updated_at.eq(one.updated_at),
                ),
            )
        })
        .collect();
    let count = each_backend!(tx, |conn| diesel::insert_into(issues::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("Issue")))?;
    let iids: Vec<i64> = new.iter().map(|one| one.iid).collect();
    let ids = ids_by_iid(tx, project, ItemKind::Issue, &iids)?;
    let attached: Vec<ItemAttachments<'_>> = new
        .iter()
        .filter_map(|one| {
            let id = *ids.get(&one.iid)?;
            Some(ItemAttachments { id, labels: &one.labels, assignees: &one.assignees })
        })
        .collect();
    attach(tx, project, ItemKind::Issue, &attached)?;
    let last = iids.into_iter().max().unwrap_or_default();
    sequence::reach(tx, Home::Project(project), "issue", last)?;
    let opened = new.iter().map(|one| open_count::weight(one.state, false).0).sum();
    open_count::note(tx, project, (0, 0), (opened, 0))?;
    Ok(count)
}
