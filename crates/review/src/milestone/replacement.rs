//! Milestones that take the place of others: of those that are promoted with them, and of a group's in a project that left
//! the group.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{issues, merge_requests},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{MilestoneId, ProjectId},
    page::PageRequest,
};

use super::{
    model::{Milestone, MilestoneFilter},
    store::{MilestoneDetails, MilestoneStore as _},
};
use crate::{Home, ports::GroupHierarchy};

const NOUN: &str = "Milestone";

/// Gives a project that moved milestones of its new home in place of those of groups that it is no longer in: one of the same
/// title where there is one, a copy otherwise. Its issues and merge requests follow. `others` are milestones that the project
/// uses elsewhere; the answer tells by what each was replaced.
///
/// # Errors
/// When the database failed.
pub fn project_moved(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    project: ProjectId,
    others: &[MilestoneId],
) -> Result<HashMap<MilestoneId, MilestoneId>> {
    let home = Home::Project(project);
    let groups = places.above(tx, home)?;
    let mut used: HashSet<MilestoneId> = others.iter().copied().collect();
    used.extend(used_in(tx, project)?);
    let rows = tx.milestones_by_id(&Vec::from_iter(used))?.into_iter();
    let foreign = rows.filter(|row| row.namespace_id.is_some_and(|group| !groups.contains(&group)));
    let mut replaced = HashMap::new();
    for old in foreign {
        let id = old.id;
        let new = counterpart(tx, home, &groups, old)?;
        move_items(tx, &[project], &[id], new)?;
        replaced.insert(id, new);
    }
    Ok(replaced)
}

/// The milestone of a title that a project may use; a copy where there is none.
fn counterpart(
    tx: &mut Tx<'_>,
    home: Home,
    groups: &[kernel::ids::NamespaceId],
    old: Milestone,
) -> Result<MilestoneId> {
    let mut filter = MilestoneFilter::of(home);
    filter.groups.extend(groups);
    filter.title = Some(old.title.clone());
    let page = PageRequest { page: 1, per_page: 1 };
    if let Some(known) = tx.milestones(&filter, page)?.items.pop() {
        return Ok(known.id);
    }
    let details = MilestoneDetails {
        title: old.title,
        description: old.description,
        state: old.state,
        start_date: old.start_date,
        due_date: old.due_date,
    };
    Ok(tx.insert_milestone(home, &details)?.id)
}

/// The milestones of the issues and merge requests of a project.
fn used_in(tx: &mut Tx<'_>, project: ProjectId) -> Result<Vec<MilestoneId>> {
    let of_issues = issues::table
        .filter(issues::project_id.eq(project).and(issues::milestone_id.is_not_null()))
        .select(issues::milestone_id)
        .distinct();
    let of_merge_requests = merge_requests::table
        .filter(
            merge_requests::project_id.eq(project).and(merge_requests::milestone_id.is_not_null()),
        )
        .select(merge_requests::milestone_id)
        .distinct();
    let mut found: Vec<Option<MilestoneId>> =
        each_backend!(tx, |conn| of_issues.load(conn).map_err(error(NOUN)))?;
    let others: Vec<Option<MilestoneId>> =
        each_backend!(tx, |conn| of_merge_requests.load(conn).map_err(error(NOUN)))?;
    found.extend(others);
    Ok(found.into_iter().flatten().collect())
}

/// Puts the issues and merge requests of some projects into a milestone that were in others.
///
/// # Errors
/// When the database cannot be written.
pub(super) fn move_items(
    tx: &mut Tx<'_>,
    projects: &[ProjectId],
    from: &[MilestoneId],
    to: MilestoneId,
) -> Result<()> {
    if from.is_empty() {
        return Ok(());
    }
    let of_issues = issues::project_id.one_of(projects).and(issues::milestone_id.one_of(from));
    let of_merge_requests =
        merge_requests::project_id.one_of(projects).and(merge_requests::milestone_id.one_of(from));
    each_backend!(tx, |conn| {
        let rows = diesel::update(issues::table.filter(of_issues));
        rows.set(issues::milestone_id.eq(to)).execute(conn).map_err(error(NOUN))?;
        let rows = diesel::update(merge_requests::table.filter(of_merge_requests));
        rows.set(merge_requests::milestone_id.eq(to)).execute(conn).map_err(error(NOUN))
    })?;
    Ok(())
}
