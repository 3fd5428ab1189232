//! Milestones of groups in projects that leave these groups: what uses them goes on with others.

use std::collections::{HashMap, HashSet};

use db::Tx;
use kernel::{
    Result,
    ids::{MilestoneId, NamespaceId, ProjectId},
};
use org::hierarchy::{self, groups_left};
use repo::release::{MilestoneSwap, ReleaseMilestoneStore as _};
use review::milestone::replacement::{self, MilestoneUse, Replacement};

/// Projects that one statement names.
const AT_ONCE: usize = 500;

/// Gives a project that moved milestones of its new home in place of those of groups that it is no longer in.
///
/// # Errors
/// When the database failed.
pub(crate) fn project_moved(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let mut uses = replacement::used_in(tx, project)?;
    let of_releases = tx.milestones_of_project_releases(project)?;
    let of_releases = of_releases.into_iter().map(|milestone| MilestoneUse { project, milestone });
    uses.extend(of_releases);
    replace(tx, &[project], &uses)
}

/// Gives the projects of a group that moved milestones of their new home in place of those of groups that they are no
/// longer in.
///
/// # Errors
/// When the database failed.
pub(crate) fn group_moved(tx: &mut Tx<'_>, group: NamespaceId, old_full_path: &str) -> Result<()> {
    let above = hierarchy::group_chain(tx, group)?;
    let left = groups_left(tx, &above, old_full_path)?;
    let ids = replacement::of_groups(tx, &left)?;
    let mut uses = replacement::uses_of(tx, &ids)?;
    uses.extend(uses_of_releases(tx, &ids)?);
    let projects: HashSet<ProjectId> = uses.iter().map(|one| one.project).collect();
    let projects: Vec<ProjectId> = projects.into_iter().collect();
    let mut moved = Vec::new();
    for some in projects.chunks(AT_ONCE) {
        moved.extend(hierarchy::projects_below(tx, group, some)?);
    }
    replace(tx, &moved, &uses)
}

fn uses_of_releases(tx: &mut Tx<'_>, ids: &[MilestoneId]) -> Result<Vec<MilestoneUse>> {
    let mut found = Vec::new();
    for some in ids.chunks(AT_ONCE) {
        found.extend(tx.projects_releasing(some)?);
    }
    let all = found.into_iter().map(|(project, milestone)| MilestoneUse { project, milestone });
    Ok(all.collect())
}

/// Replaces what these projects use of groups that they are not in.
fn replace(tx: &mut Tx<'_>, projects: &[ProjectId], uses: &[MilestoneUse]) -> Result<()> {
    let mut groups: HashMap<ProjectId, Vec<NamespaceId>> = HashMap::new();
    for some in projects.chunks(AT_ONCE) {
        groups.extend(hierarchy::above_projects(tx, some)?);
    }
    let replaced = replacement::replace_foreign(tx, &groups, uses)?;
    replace_in_releases(tx, &replaced)
}

/// Puts milestones in the place of others in the releases of projects.
///
/// # Errors
/// When the database cannot be written.
pub(crate) fn replace_in_releases(tx: &mut Tx<'_>, replaced: &[Replacement]) -> Result<()> {
    let swap =
        |one: &Replacement| MilestoneSwap { project: one.project, old: one.old, new: one.new };
    let swaps: Vec<MilestoneSwap> = replaced.iter().map(swap).collect();
    tx.swap_release_milestones(&swaps)
}
