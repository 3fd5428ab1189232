//! The default branch of a project.

use db::Tx;
use kernel::{Result, ids::ProjectId};
use org::{namespace::default_branch, project::store::ProjectStore};
use repo::protection::{self, branch_presets::DefaultProtection};

/// The first branch of a repository is protected as its group or the installation wants it.
pub fn protect_default_branch(tx: &mut Tx<'_>, project: ProjectId, branch: &str) -> Result<()> {
    let namespace = tx.project(project)?.namespace_id;
    let level = DefaultProtection::of_number(default_branch::protection(tx, namespace)?);
    protection::branch_presets::protect_default_branch(tx, project, branch, level)
}
