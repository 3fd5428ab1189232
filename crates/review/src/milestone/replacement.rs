//! Milestones that take the place of others: of those that are promoted with them, and of a group's in projects that left
//! the group.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{issues, merge_requests, milestones},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{MilestoneId, NamespaceId, ProjectId},
};

use super::{model::Milestone, store::MilestoneStore as _};
use crate::sequence;

const NOUN: &str = "Milestone";

/// Milestones that one statement names.
const AT_ONCE: usize = 500;

/// A milestone that a project uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MilestoneUse {
    pub project: ProjectId,
    pub milestone: MilestoneId,
}

/// A milestone that takes the place of another in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub project: ProjectId,
    pub old: MilestoneId,
    pub new: MilestoneId,
}

/// The milestones of the issues and merge requests of a project.
///
/// # Errors
/// When the database cannot be read.
pub fn used_in(tx: &mut Tx<'_>, project: ProjectId) -> Result<Vec<MilestoneUse>> {
    let of_issues = issues::table
        .filter(issues::project_id.eq(project).and(issues::milestone_id.is_not_null()))
        .select(issues::milestone_id.assume_not_null())
        .distinct();
    let of_merge_requests = merge_requests::table
        .filter(
            merge_requests::project_id.eq(project).and(merge_requests::milestone_id.is_not_null()),
        )
        .select(merge_requests::milestone_id.assume_not_null())
        .distinct();
    let mut found: Vec<MilestoneId> =
        each_backend!(tx, |conn| of_issues.load(conn).map_err(error(NOUN)))?;
    let others: Vec<MilestoneId> =
        each_backend!(tx, |conn| of_merge_requests.load(conn).map_err(error(NOUN)))?;
    found.extend(others);
    Ok(found.into_iter().map(|milestone| MilestoneUse { project, milestone }).collect())
}

/// The milestones that groups have of their own.
///
/// # Errors
/// When the database cannot be read.
pub fn of_groups(tx: &mut Tx<'_>, groups: &[NamespaceId]) -> Result<Vec<MilestoneId>> {
    let rows =
        milestones::table.filter(milestones::namespace_id.one_of(groups)).select(milestones::id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error(NOUN)))
}

/// The projects with issues or merge requests in some milestones.
///
/// # Errors
/// When the database cannot be read.
pub fn uses_of(tx: &mut Tx<'_>, ids: &[MilestoneId]) -> Result<Vec<MilestoneUse>> {
    let mut found = Vec::new();
    for some in ids.chunks(AT_ONCE) {
        let of_issues = issues::table
            .filter(issues::milestone_id.one_of(some))
            .select((issues::project_id, issues::milestone_id.assume_not_null()))
            .distinct();
        let of_merge_requests = merge_requests::table
            .filter(merge_requests::milestone_id.one_of(some))
            .select((merge_requests::project_id, merge_requests::milestone_id.assume_not_null()))
            .distinct();
        let pairs: Vec<(ProjectId, MilestoneId)> =
            each_backend!(tx, |conn| of_issues.load(conn).map_err(error(NOUN)))?;
        found.extend(pairs);
        let pairs: Vec<(ProjectId, MilestoneId)> =
            each_backend!(tx, |conn| of_merge_requests.load(conn).map_err(error(NOUN)))?;
        found.extend(pairs);
    }
    let all = found.into_iter().map(|(project, milestone)| MilestoneUse { project, milestone });
    Ok(all.collect())
}

/// Gives projects that moved milestones of their new home in place of those of groups that they are no longer in: one of
/// the same title where there is one, a copy otherwise. Their issues and merge requests follow. `groups` has the groups
/// above each project that moved; uses in other projects stay. The answer tells by what each milestone was replaced.
///
/// # Errors
/// When the database failed.
pub fn replace_foreign(
    tx: &mut Tx<'_>,
    groups: &HashMap<ProjectId, Vec<NamespaceId>>,
    uses: &[MilestoneUse],
) -> Result<Vec<Replacement>> {
    let uses: BTreeSet<MilestoneUse> = uses.iter().copied().collect();
    let uses: Vec<MilestoneUse> = uses.into_iter().collect();
    let mut all = Vec::new();
    for some in uses.chunks(AT_ONCE) {
        all.extend(replacements(tx, groups, some)?);
    }
    move_items(tx, &all)?;
    Ok(all)
}

/// By what some milestones are to be replaced; what is missing is copied.
fn replacements(
    tx: &mut Tx<'_>,
    groups: &HashMap<ProjectId, Vec<NamespaceId>>,
    uses: &[MilestoneUse],
) -> Result<Vec<Replacement>> {
    let ids: HashSet<MilestoneId> = uses.iter().map(|one| one.milestone).collect();
    let rows = tx.milestones_by_id(&Vec::from_iter(ids))?;
    let rows: HashMap<MilestoneId, &Milestone> = rows.iter().map(|row| (row.id, row)).collect();
    let foreign = uses.iter().filter_map(|one| {
        let (above, old) = (groups.get(&one.project)?, *rows.get(&one.milestone)?);
        let is_foreign = old.namespace_id.is_some_and(|group| !above.contains(&group));
        is_foreign.then_some((one.project, old))
    });
    let foreign: Vec<(ProjectId, &Milestone)> = foreign.collect();
    let known = counterparts(tx, groups, &foreign)?;
    if known.len() == foreign.len() {
        return Ok(known);
    }
    let missing = foreign.iter().copied().filter(|(project, old)| {
        !known.iter().any(|one| (one.project, one.old) == (*project, old.id))
    });
    insert_copies(tx, &Vec::from_iter(missing))?;
    counterparts(tx, groups, &foreign)
}

/// The milestones of the same titles that projects may use. What has none is left out.
fn counterparts(
    tx: &mut Tx<'_>,
    groups: &HashMap<ProjectId, Vec<NamespaceId>>,
    foreign: &[(ProjectId, &Milestone)],
) -> Result<Vec<Replacement>> {
    if foreign.is_empty() {
        return Ok(Vec::new());
    }
    let titles: BTreeSet<String> = foreign.iter().map(|(_, old)| old.title.clone()).collect();
    let projects: BTreeSet<ProjectId> = foreign.iter().map(|(project, _)| *project).collect();
    let around = projects.iter().filter_map(|project| groups.get(project)).flatten();
    let around: BTreeSet<NamespaceId> = around.copied().collect();
    let (titles, projects) = (Vec::from_iter(titles), Vec::from_iter(projects));
    let around = Vec::from_iter(around);
    let usable =
        milestones::project_id.one_of(&projects).or(milestones::namespace_id.one_of(&around));
    let rows = milestones::table.filter(milestones::title.one_of(&titles)).filter(usable);
    let rows: Vec<Milestone> = each_backend!(tx, |conn| rows
        .order(milestones::id.desc())
        .select(Milestone::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    let found = foreign.iter().filter_map(|(project, old)| {
        let above = groups.get(project)?;
        let new = rows.iter().find(|row| {
            let is_usable = row.project_id == Some(*project)
                || row.namespace_id.is_some_and(|group| above.contains(&group));
            is_usable && row.title == old.title
        })?;
        Some(Replacement { project: *project, old: old.id, new: new.id })
    });
    Ok(found.collect())
}

/// Copies milestones into projects, each title once.
fn insert_copies(tx: &mut Tx<'_>, missing: &[(ProjectId, &Milestone)]) -> Result<()> {
    let mut copies: BTreeMap<ProjectId, Vec<&Milestone>> = BTreeMap::new();
    for (project, old) in missing {
        let own = copies.entry(*project).or_default();
        if own.iter().all(|other| other.title != old.title) {
            own.push(old);
        }
    }
    let counts: Vec<(ProjectId, i64)> = copies
        .iter()
        .map(|(project, own)| (*project, i64::try_from(own.len()).unwrap_or(i64::MAX)))
        .collect();
    let lasts = sequence::take_in_projects(tx, "milestone", &counts)?;
    let (now, none) = (tx.now, 0);
    let rows = copies.iter().flat_map(|(project, own)| {
        let last = *lasts.get(project).unwrap_or(&none);
        own.iter().rev().zip(0_i64..).map(move |(old, before_last)| {
            (
                milestones::iid.eq(last - before_last),
                milestones::project_id.eq(*project),
                milestones::title.eq(&old.title),
                milestones::description.eq(&old.description),
                milestones::state.eq(old.state),
                milestones::start_date.eq(old.start_date),
                milestones::due_date.eq(old.due_date),
                milestones::created_at.eq(now),
                milestones::updated_at.eq(now),
            )
        })
    });
    let rows: Vec<_> = rows.collect();
    each_backend!(tx, |conn| diesel::insert_into(milestones::table)
        .values(&rows)
        .execute(conn)
        .map_err(error(NOUN)))?;
    Ok(())
}

/// Puts the issues and merge requests of projects into milestones that take the place of others.
///
/// # Errors
/// When the database cannot be written.
pub(super) fn move_items(tx: &mut Tx<'_>, all: &[Replacement]) -> Result<()> {
    for some in all.chunks(AT_ONCE) {
        let values = Replacement::values(some);
        for table in ["issues", "merge_requests"] {
            let text = format!(
                "UPDATE {table} SET milestone_id = r.column3 FROM ({values}) AS r \
                 WHERE {table}.milestone_id = r.column2 AND {table}.project_id = r.column1"
            );
            each_backend!(tx, |conn| diesel::sql_query(&text).execute(conn).map_err(error(NOUN)))?;
        }
    }
    Ok(())
}

impl Replacement {
    /// Some replacements as a table in SQL: `column1` is the project, `column2` the old milestone, `column3` the new one.
    pub fn values(some: &[Self]) -> String {
        let row = |one: &Self| format!("({}, {}, {})", one.project.0, one.old.0, one.new.0);
        let rows: Vec<String> = some.iter().map(row).collect();
        format!("VALUES {}", rows.join(", "))
    }
}
