//! The life of an issue.

use super::IssueState;

kernel::text_enum! {
    /// Steps of an issue's state machine.
    pub enum IssueStep { Close = "close", Reopen = "reopen" }
}

impl IssueState {
    /// Where a step leads; the same one twice changes nothing.
    pub fn after(self, step: IssueStep) -> Self {
        match (self, step) {
            (_, IssueStep::Close) => Self::Closed,
            (_, IssueStep::Reopen) => Self::Opened,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{IssueState, IssueStep};

    #[test]
    fn every_state_meets_every_step() {
        let mut table = String::new();
        for state in IssueState::ALL {
            for step in IssueStep::ALL {
                let _ = writeln!(table, "{state} {step:<6} -> {}", state.after(*step));
            }
        }
        insta::assert_snapshot!(table, @r"
        opened close  -> closed
        opened reopen -> opened
        closed close  -> closed
        closed reopen -> opened
        ");
    }
}
