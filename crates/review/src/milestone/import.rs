//! Milestones that come from another installation, with their numbers, a page at a time.

use std::collections::{HashMap, HashSet};

use db::{OneOf as _, Tx, each_backend, error, schema::milestones};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{MilestoneId, ProjectId},
};

use super::MilestoneState;
use crate::{Home, sequence};

/// A milestone as another installation has it.
#[derive(Clone, Debug)]
pub struct ImportedMilestone {
    pub iid: i64,
    pub title: String,
    pub description: Option<String>,
    pub state: MilestoneState,
    pub due_date: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// Writes the milestones that a project lacks; returns how many these were. A title that another one has gets its
/// number behind it.
pub fn insert_milestones(
    tx: &mut Tx<'_>,
    project: ProjectId,
    new: &[ImportedMilestone],
) -> Result<usize> {
    let titles: Vec<&String> = new.iter().map(|one| &one.title).collect();
    let iids: Vec<i64> = new.iter().map(|one| one.iid).collect();
    let known = milestones::table
        .filter(milestones::project_id.eq(project))
        .filter(milestones::iid.one_of(&iids).or(milestones::title.eq_any(titles)))
        .select((milestones::iid, milestones::title));
    let known: Vec<(i64, String)> =
        each_backend!(tx, |conn| known.load(conn).map_err(error("Milestone")))?;
    let (mut iids, mut titles): (HashSet<i64>, HashSet<String>) = known.into_iter().unzip();
    let rows: Vec<_> = new
        .iter()
        .filter(|one| iids.insert(one.iid))
        .map(|one| {
            let title = match titles.insert(one.title.clone()) {
                true => one.title.clone(),
                false => format!("{} ({})", one.title, one.iid),
            };
            (
                milestones::iid.eq(one.iid),
                milestones::project_id.eq(project),
                milestones::title.eq(title),
                milestones::description.eq(&one.description),
                milestones::state.eq(one.state),
                milestones::due_date.eq(one.due_date),
                milestones::created_at.eq(one.created_at),
                milestones::updated_at.eq(one.updated_at),
            )
        })
        .collect();
    if rows.is_empty() {
        return Ok(0);
    }
    let count = each_backend!(tx, |conn| diesel::insert_into(milestones::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("Milestone")))?;
    let last = new.iter().map(|one| one.iid).max().unwrap_or_default();
    sequence::reach(tx, Home::Project(project), "milestone", last)?;
    Ok(count)
}

/// Milestones of a project by their numbers.
pub(crate) fn by_iid(
    tx: &mut Tx<'_>,
    project: ProjectId,
    iids: &[i64],
) -> Result<HashMap<i64, MilestoneId>> {
    if iids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = milestones::table
        .filter(milestones::project_id.eq(project).and(milestones::iid.one_of(iids)))
        .select((milestones::iid, milestones::id));
    let found: Vec<(i64, MilestoneId)> =
        each_backend!(tx, |conn| found.load(conn).map_err(error("Milestone")))?;
    Ok(found.into_iter().collect())
}
