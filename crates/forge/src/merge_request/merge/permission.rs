//! Who merges, and who may merge into a branch.

use std::sync::Arc;

use db::Tx;
use kernel::{Error, Result, Standing, access::ProjectFacts};
use org::user::User;
use repo::protection::Protection;
use review::merge_request::MergeRequest;

/// A user who merges, and their standing in the project.
#[derive(Clone, Debug)]
pub(super) struct Merger {
    pub(super) facts: Arc<ProjectFacts>,
    pub(super) who: Standing,
    pub(super) user: User,
}

/// Whether somebody may merge into the target, by push or by merge right.
pub fn may_merge(tx: &mut Tx<'_>, who: &Standing, row: &MergeRequest) -> Result<bool> {
    if who.archived || !who.signed_in() {
        return Ok(false);
    }
    let protection = Protection::of_branches(tx, who, row.project_id)?;
    let branch = protection.branch(&row.target_branch);
    Ok(branch.may_push() || branch.may_merge())
}

/// # Errors
/// `Unauthenticated` for those who may not merge into the target.
pub fn ensure_may_merge(tx: &mut Tx<'_>, who: &Standing, row: &MergeRequest) -> Result<()> {
    if may_merge(tx, who, row)? { Ok(()) } else { Err(Error::unauthenticated()) }
}
