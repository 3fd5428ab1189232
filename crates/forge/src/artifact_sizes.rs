//! The storage that job artifacts take, computed on request.

use std::collections::HashMap;

use ci::artifact::ArtifactStore as _;
use db::Tx;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};
use org::namespace::statistics::GroupStatistics as _;

/// Bytes of the artifacts of some projects; one without artifacts has no entry.
///
/// # Errors
/// When the database cannot be read.
pub fn of_projects(tx: &mut Tx<'_>, projects: &[ProjectId]) -> Result<HashMap<ProjectId, i64>> {
    tx.artifact_sizes(projects)
}

/// Bytes of the artifacts of the projects directly in each of some groups.
///
/// # Errors
/// When the database cannot be read.
pub fn of_groups(tx: &mut Tx<'_>, groups: &[NamespaceId]) -> Result<HashMap<NamespaceId, i64>> {
    sums(tx, groups, false)
}

/// Bytes of the artifacts of all projects inside each of some namespaces, at any depth.
///
/// # Errors
/// When the database cannot be read.
pub fn of_trees(tx: &mut Tx<'_>, namespaces: &[NamespaceId]) -> Result<HashMap<NamespaceId, i64>> {
    sums(tx, namespaces, true)
}

fn sums(
    tx: &mut Tx<'_>,
    namespaces: &[NamespaceId],
    whole_trees: bool,
) -> Result<HashMap<NamespaceId, i64>> {
    let pairs = tx.counted_projects(namespaces, whole_trees)?;
    let mut projects: Vec<ProjectId> = pairs.iter().map(|(_, project)| *project).collect();
    projects.sort_unstable();
    projects.dedup();
    let sizes = tx.artifact_sizes(&projects)?;
    let mut all = HashMap::new();
    for (namespace, project) in pairs {
        *all.entry(namespace).or_default() += sizes.get(&project).copied().unwrap_or_default();
    }
    Ok(all)
}
