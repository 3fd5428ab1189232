//! Who may merge into a branch.

use db::Tx;
use kernel::{Error, Result, Standing};
use repo::protection::Protection;
use review::merge_request::MergeRequest;

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
