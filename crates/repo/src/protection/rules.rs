//! The protection rules for a ref: every refusal, in the order in which they are checked.

use db::Tx;
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Error, Result, Standing,
    access::ProjectFacts,
};

use super::guard::{BranchProtection, Protection, TagProtection};
use crate::{
    git::{
        RefKind,
        branch_name::{LOOKS_LIKE_ID, looks_like_id},
    },
    ports::ForkPushBranches,
    push::{PushSource, RefChange},
};

const NO_PUSH: &str = "You are not allowed to push code to this project.";
const DEFAULT_STAYS: &str = "The default branch of a project cannot be deleted.";
const NO_FORCE: &str =
    "You are not allowed to force push code to a protected branch on this project.";
const NO_PROTECTED: &str = "You are not allowed to create protected branches on this project.";
const NO_BASIS: &str =
    "You can only use an existing protected branch ref as the basis of a new protected branch.";
const CREATE_ELSEWHERE: &str =
    "You can only create protected branches using the web interface and API.";
const NO_DELETE: &str = "You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.";
const DELETE_ELSEWHERE: &str = "You can only delete protected branches using the web interface.";
const NO_MERGE: &str = "You are not allowed to merge code into protected branches on this project.";
const NO_PROTECTED_PUSH: &str =
    "You are not allowed to push code to protected branches on this project.";
const NO_TAG: &str = "You are not allowed to create this tag as it is protected.";
const TAG_STAYS: &str = "Protected tags cannot be updated.";
const NO_TAG_DELETE: &str = "You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.";
const TAG_DELETE_ELSEWHERE: &str = "You can only delete protected tags using the web interface.";
const NO_TAG_CHANGE: &str = "You are not allowed to change existing tags on this project.";

/// Refuses a change that the caller may not make, in the words that the caller reads.
pub fn check_change(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: &ProjectFacts,
    change: &RefChange,
    via: PushSource,
    fork_push_access: Option<&dyn ForkPushBranches>,
) -> Result<()> {
    check_changes(tx, who, project, std::slice::from_ref(change), via, fork_push_access)
}

/// As [`check_change`], for everything that moves at once: the rules are loaded once.
pub fn check_changes(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: &ProjectFacts,
    changes: &[RefChange],
    via: PushSource,
    fork_push_access: Option<&dyn ForkPushBranches>,
) -> Result<()> {
    match first_refusal(tx, who, project, changes, via, fork_push_access)? {
        Some((_, text)) => Err(Error::bad_request().whole(text)),
        None => Ok(()),
    }
}

/// The place of the first change that is refused, with the sentence that says why.
pub fn first_refusal(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: &ProjectFacts,
    changes: &[RefChange],
    via: PushSource,
    fork_push_access: Option<&dyn ForkPushBranches>,
) -> Result<Option<(usize, String)>> {
    let protection = load(tx, who, project, fork_push_access)?;
    let check = |change| refusal(&protection, who, project, change, via);
    let mut changes = changes.iter().enumerate();
    Ok(changes.find_map(|(place, change)| Some((place, check(change)?))))
}

/// Of each change the sentence that says why it is refused, where it is.
pub fn refusals(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: &ProjectFacts,
    changes: &[RefChange],
    via: PushSource,
    fork_push_access: Option<&dyn ForkPushBranches>,
) -> Result<Vec<Option<String>>> {
    let protection = load(tx, who, project, fork_push_access)?;
    let check = |change| refusal(&protection, who, project, change, via);
    Ok(changes.iter().map(check).collect())
}

fn load(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: &ProjectFacts,
    fork_push_access: Option<&dyn ForkPushBranches>,
) -> Result<Protection> {
    match fork_push_access {
        Some(fork_push_access) => Protection::load_with(tx, fork_push_access, who, project.id),
        None => Protection::load(tx, who, project.id),
    }
}

fn refusal(
    protection: &Protection,
    who: &Standing,
    project: &ProjectFacts,
    change: &RefChange,
    via: PushSource,
) -> Option<String> {
    let name = change.name.short();
    let told = match change.name.kind() {
        _ if !who.writes(Developer) && !is_fork_push_branch(protection, change) => Some(NO_PUSH),
        RefKind::Branch if project.default_branch.is_none() => {
            return first_push_refusal(&protection.branch(&name), who, project, &name);
        }
        RefKind::Branch => branch_refusal(&protection.branch(&name), who, project, change, via),
        RefKind::Tag => tag_refusal(&protection.tag(&name), who, change, via),
        RefKind::Other => None,
    };
    told.map(str::to_owned)
}

/// Whether it moves a branch of a merge request that allows the caller to push. Such a branch is neither created nor
/// deleted.
fn is_fork_push_branch(protection: &Protection, change: &RefChange) -> bool {
    let moves = change.old.is_some() && change.new.is_some();
    moves
        && change.name.is_branch()
        && protection.branch(&change.name.short()).is_fork_push_branch()
}

/// Before anything was pushed, the first branch is as protected as the default branch is going to be.
fn first_push_refusal(
    branch: &BranchProtection<'_>,
    who: &Standing,
    project: &ProjectFacts,
    name: &str,
) -> Option<String> {
    if looks_like_id(name) {
        return Some(LOOKS_LIKE_ID.to_owned());
    }
    let allowed = who.is(Maintainer)
        || (branch.may_push() && (branch.is_protected() || who.is(project.first_push)));
    (!allowed).then(|| {
        let path = &project.full_path;
        format!(
            "A default branch (e.g. main) does not yet exist for {path}\nIt comes with the first push, which a maintainer or owner of the project has to make."
        )
    })
}

fn branch_refusal(
    branch: &BranchProtection<'_>,
    who: &Standing,
    project: &ProjectFacts,
    change: &RefChange,
    via: PushSource,
) -> Option<&'static str> {
    let name = change.name.short();
    let deletes = change.new.is_none();
    if deletes && project.default_branch.as_deref() == Some(&*name) {
        return Some(DEFAULT_STAYS);
    }
    if !deletes && looks_like_id(&name) {
        return Some(LOOKS_LIKE_ID);
    }
    if !branch.is_protected() {
        return None;
    }
    if change.forced && !branch.allows_force_push() {
        return Some(NO_FORCE);
    }
    match (change.old, change.new) {
        (None, Some(_)) => creation_refusal(branch, change, via),
        (_, None) if !who.is(Maintainer) => Some(NO_DELETE),
        (_, None) if via == PushSource::Git => Some(DELETE_ELSEWHERE),
        (Some(_), Some(_)) if via == PushSource::Merge && branch.may_merge() => None,
        (Some(_), Some(_)) if branch.may_push() => None,
        (Some(_), Some(_)) if via == PushSource::Merge => Some(NO_MERGE),
        (Some(_), Some(_)) => Some(NO_PROTECTED_PUSH),
        _ => None,
    }
}

fn creation_refusal(
    branch: &BranchProtection<'_>,
    change: &RefChange,
    via: PushSource,
) -> Option<&'static str> {
    if branch.may_push() {
        return None;
    }
    if !branch.may_merge() {
        return Some(NO_PROTECTED);
    }
    if !change.on_protected {
        return Some(NO_BASIS);
    }
    (via == PushSource::Git).then_some(CREATE_ELSEWHERE)
}

fn tag_refusal(
    tag: &TagProtection<'_>,
    who: &Standing,
    change: &RefChange,
    via: PushSource,
) -> Option<&'static str> {
    let protected = tag.is_protected();
    match (change.old, change.new) {
        (None, Some(_)) if !tag.may_create() => Some(NO_TAG),
        (Some(_), Some(_)) if protected => Some(TAG_STAYS),
        (Some(_), Some(_)) if !who.is(Maintainer) => Some(NO_TAG_CHANGE),
        (_, None) if protected && !who.is(Maintainer) => Some(NO_TAG_DELETE),
        (_, None) if protected && via == PushSource::Git => Some(TAG_DELETE_ELSEWHERE),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
