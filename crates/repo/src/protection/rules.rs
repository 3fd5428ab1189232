//! Whether a ref may move.

use db::Tx;
use kernel::{AccessLevel, Error, Result, Standing, access::ProjectFacts};

use crate::push::{RefChange, Via};

/// Refuses a change that the caller may not make, in the words that the caller reads.
pub fn check_change(
    _tx: &mut Tx<'_>,
    who: &Standing,
    project: &ProjectFacts,
    change: &RefChange,
    _via: Via,
) -> Result<()> {
    if !who.writes(AccessLevel::Developer) {
        return Err(Error::Rejected("You are not allowed to push into this branch".to_owned()));
    }
    let deletes_default = change.new.is_none()
        && change.name.is_branch()
        && project.default_branch.as_deref() == Some(&*change.name.short());
    if deletes_default {
        return Err(Error::Rejected(
            "The default branch of a project cannot be deleted.".to_owned(),
        ));
    }
    Ok(())
}
