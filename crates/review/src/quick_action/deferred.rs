//! Quick actions that ask git or decide by rules of their own: they are done once what holds them was written.

use super::table::Effect;

/// Something that is still to be done, by the rules of the call that does the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeferredAction {
    Merge,
    Rebase,
    Approve,
    Unapprove,
    Reopen,
    TargetBranch(String),
    /// A branch for an issue, of this name or a usual one, and a merge request of it.
    CreateMergeRequest(Option<String>),
}

impl DeferredAction {
    pub(super) fn of(effect: Effect, argument: &str) -> Option<Self> {
        let named = || Some(argument.to_owned()).filter(|name| !name.is_empty());
        Some(match effect {
            Effect::Merge => Self::Merge,
            Effect::Rebase => Self::Rebase,
            Effect::Approve => Self::Approve,
            Effect::Unapprove => Self::Unapprove,
            Effect::TargetBranch => Self::TargetBranch(named()?),
            Effect::CreateMergeRequest => Self::CreateMergeRequest(named()),
            _ => return None,
        })
    }
}
