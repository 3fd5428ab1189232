//! Pushes past code owners: what they own on a protected branch that wants their approval comes by merge requests alone.

use std::collections::HashSet;

use db::Tx;
use kernel::{Error, Result};

use super::{Incoming, Push, RefChange};
use crate::{code_owners::refusal, protection};

/// The branches of a push on which owners have to approve what changes.
pub(super) fn guarded(tx: &mut Tx<'_>, push: &Push) -> Result<HashSet<String>> {
    if push.by_server {
        return Ok(HashSet::new());
    }
    let moved = push.changes.iter().filter(|change| is_move_of_branch(change));
    let names: Vec<String> = moved.map(|change| change.name.short().into_owned()).collect();
    if names.is_empty() {
        return Ok(HashSet::new());
    }
    let rules = protection::rules_matching(tx, push.project.id, names)?;
    let guarded = rules
        .into_iter()
        .filter(|(_, rules)| rules.iter().any(|rule| rule.code_owner_approval_required));
    Ok(guarded.map(|(name, _)| name).collect())
}

fn is_move_of_branch(change: &RefChange) -> bool {
    change.name.is_branch() && change.old.is_some() && change.new.is_some()
}

/// # Errors
/// `BadRequest` with the patterns of the file of code owners that the push met.
pub(super) async fn ensure_unowned(
    incoming: &Incoming,
    push: &Push,
    guarded: &HashSet<String>,
) -> Result<()> {
    for change in push.changes.iter().filter(|change| is_move_of_branch(change)) {
        let (Some(old), Some(new)) = (change.old, change.new) else { continue };
        if !guarded.contains(&*change.name.short()) {
            continue;
        }
        let owners = incoming.code_owners(old).await?;
        if owners.sections.is_empty() {
            continue;
        }
        if let Some(text) = refusal(&owners, &incoming.changed_paths(old, new).await?) {
            return Err(Error::bad_request().whole(text));
        }
    }
    Ok(())
}
