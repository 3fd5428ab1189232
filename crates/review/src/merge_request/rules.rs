//! The conditions for creating a merge request, whoever creates it.

use db::Tx;
use kernel::{Error, Faults, Result, ids::MergeRequestId};

use super::{BranchPair, MergeRequestStore as _};
use crate::ports::Branches;

const LONGEST_TITLE: usize = 255;
const LONGEST_DESCRIPTION: usize = 1_048_576;
const SAME_BRANCH: &str = "You can't use same project/branch for source and target";
const UNRELATED: &str = "Source project is not a fork of the target project";
const SWITCHED_OFF: &str = "Target project has disabled merge requests";

/// The relation of source and target project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkRelation {
    Same,
    /// One is a fork of the other, or both of a third.
    Related,
    Strangers,
}

/// Whether the project it leads to takes any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Open,
    SwitchedOff,
}

/// # Errors
/// `Unprocessable` for branches between which there can be none; `Conflict` where one is open.
pub(super) fn ensure_possible(
    tx: &mut Tx<'_>,
    ends: &BranchPair,
    fork_relation: ForkRelation,
    target: Target,
) -> Result<()> {
    ensure_distinct(ends)?;
    if target == Target::SwitchedOff {
        return Err(Error::unprocessable().sentences(vec![SWITCHED_OFF.to_owned()]));
    }
    if fork_relation == ForkRelation::Strangers {
        return Err(Error::unprocessable().sentences(vec![UNRELATED.to_owned()]));
    }
    ensure_only(tx, ends, None)
}

/// # Errors
/// `Unprocessable` where source and target are one.
pub(super) fn ensure_distinct(ends: &BranchPair) -> Result<()> {
    if ends.source == ends.target && ends.source_branch == ends.target_branch {
        return Err(Error::unprocessable().sentences(vec![SAME_BRANCH.to_owned()]));
    }
    Ok(())
}

/// # Errors
/// `Conflict` where another merge request between the same branches is open.
pub(super) fn ensure_only(
    tx: &mut Tx<'_>,
    ends: &BranchPair,
    except: Option<MergeRequestId>,
) -> Result<()> {
    match tx.find_open_between(ends, except)? {
        None => Ok(()),
        Some(iid) => Err(Error::conflict().sentences(vec![format!(
            "Another open merge request already exists for this source branch: !{iid}"
        )])),
    }
}

/// # Errors
/// `BadRequest` with every fault of the texts.
pub(super) fn ensure_fit(
    branches: &impl Branches,
    ends: &BranchPair,
    title: &str,
    description: Option<&str>,
) -> Result<()> {
    let mut faults = Faults::default();
    for (field, name) in
        [("source_branch", &ends.source_branch), ("target_branch", &ends.target_branch)]
    {
        if name.trim().is_empty() {
            faults.add(field, "can't be blank");
        } else if !branches.is_name(name) {
            faults.add(field, "is invalid");
        }
    }
    if title.is_empty() {
        faults.add("title", "can't be blank");
    }
    faults.at_most("title", Some(title), LONGEST_TITLE);
    faults.at_most("description", description, LONGEST_DESCRIPTION);
    faults.into_result()
}
