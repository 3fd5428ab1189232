//! Labels of groups in projects that leave these groups: what has them goes on with others.

use std::collections::{BTreeSet, HashMap};

use db::Tx;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};
use org::hierarchy::{self, groups_left};
use review::label::replacement;

/// Projects that one statement names.
const AT_ONCE: usize = 500;

/// Gives a project that moved labels of its new home in place of those of groups that it is no longer in.
///
/// # Errors
/// When the database failed.
pub(crate) fn project_moved(tx: &mut Tx<'_>, project: ProjectId, old_path: &str) -> Result<()> {
    let above = hierarchy::above_project(tx, project)?;
    let left = groups_left(tx, &above, old_path)?;
    let uses = replacement::uses_of(tx, &left, Some(project))?;
    replacement::replace_foreign(tx, &HashMap::from([(project, above)]), &uses)
}

/// Gives the projects of a group that moved labels of their new home in place of those of groups that they are no longer
/// in.
///
/// # Errors
/// When the database failed.
pub(crate) fn group_moved(tx: &mut Tx<'_>, group: NamespaceId, old_full_path: &str) -> Result<()> {
    let above = hierarchy::group_chain(tx, group)?;
    let left = groups_left(tx, &above, old_full_path)?;
    let uses = replacement::uses_of(tx, &left, None)?;
    let projects: BTreeSet<ProjectId> = uses.iter().map(|one| one.project).collect();
    let mut groups: HashMap<ProjectId, Vec<NamespaceId>> = HashMap::new();
    for some in Vec::from_iter(projects).chunks(AT_ONCE) {
        let moved = hierarchy::projects_below(tx, group, some)?;
        groups.extend(hierarchy::above_projects(tx, &moved)?);
    }
    replacement::replace_foreign(tx, &groups, &uses)
}
