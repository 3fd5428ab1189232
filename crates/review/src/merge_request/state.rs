//! The life of a merge request.

use super::MergeRequestState;

kernel::text_enum! {
    /// Steps of a merge request's state machine.
    pub enum Step {
        Close = "close",
        Reopen = "reopen",
        /// Git begins to merge.
        Lock = "lock",
        Unlock = "unlock",
        Merge = "merge",
    }
}

impl MergeRequestState {
    /// Where a step leads; `None` where it cannot be taken, and nothing changes.
    #[must_use]
    pub fn after(self, step: Step) -> Option<Self> {
        use MergeRequestState::{Closed, Locked, Merged, Opened};
        Some(match (self, step) {
            (Opened, Step::Close) => Closed,
            (Closed, Step::Reopen) => Opened,
            (Opened, Step::Lock) => Locked,
            (Locked, Step::Unlock) => Opened,
            // Its commits may also arrive on the target branch by a push.
            (Locked | Opened, Step::Merge) => Merged,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::Step;
    use crate::merge_request::MergeRequestState;

    #[test]
    fn every_state_meets_every_step() {
        let mut table = String::new();
        for state in MergeRequestState::ALL {
            for step in Step::ALL {
                let after = state.after(*step).map_or("-", kernel::TextEnum::as_str);
                let _ = writeln!(table, "{state:<7} {step:<7} -> {after}");
            }
        }
        insta::assert_snapshot!(table, @r"
        opened  close   -> closed
        opened  reopen  -> -
        opened  lock    -> locked
        opened  unlock  -> -
        opened  merge   -> merged
        closed  close   -> -
        closed  reopen  -> opened
        closed  lock    -> -
        closed  unlock  -> -
        closed  merge   -> -
        locked  close   -> -
        locked  reopen  -> -
        locked  lock    -> -
        locked  unlock  -> opened
        locked  merge   -> merged
        merged  close   -> -
        merged  reopen  -> -
        merged  lock    -> -
        merged  unlock  -> -
        merged  merge   -> -
        ");
    }
}
