//! The life of a to-do.

use super::TodoState;

kernel::text_enum! {
    /// Steps of a to-do's state machine.
    pub enum TodoStep {
        /// The same is asked once more.
        Ask = "ask",
        /// Whoever is asked acted, or says to be done.
        Finish = "finish",
        /// Whoever is done takes that back.
        Restore = "restore",
    }
}

impl TodoState {
    /// Where a step leads; `None` where it changes nothing of this to-do.
    #[must_use]
    pub fn after(self, step: TodoStep) -> Option<Self> {
        match (self, step) {
            (Self::Pending, TodoStep::Finish) => Some(Self::Done),
            (Self::Done, TodoStep::Restore) => Some(Self::Pending),
            // Who is asked again when they are done is asked by another to-do.
            (Self::Pending | Self::Done, TodoStep::Ask)
            | (Self::Done, TodoStep::Finish)
            | (Self::Pending, TodoStep::Restore) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{TodoState, TodoStep};

    #[test]
    fn every_state_meets_every_step() {
        let mut table = String::new();
        for state in TodoState::ALL {
            for step in TodoStep::ALL {
                let after = state.after(*step).map_or("-", kernel::TextEnum::as_str);
                let _ = writeln!(table, "{state:<7} {step:<7} -> {after}");
            }
        }
        insta::assert_snapshot!(table, @r"
        pending ask     -> -
        pending finish  -> done
        pending restore -> -
        done    ask     -> -
        done    finish  -> -
        done    restore -> pending
        ");
    }
}
