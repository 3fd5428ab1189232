//! The life of an account.

kernel::text_enum! { pub enum State {
    Active = "active", Blocked = "blocked", LdapBlocked = "ldap_blocked", Deactivated = "deactivated",
    Banned = "banned", PendingApproval = "blocked_pending_approval",
} }

kernel::text_enum! { pub enum Step {
    Block = "block", Unblock = "unblock", Deactivate = "deactivate", Activate = "activate",
    Ban = "ban", Unban = "unban", Approve = "approve", Reject = "reject",
} }

/// Transitions of an account's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateTransition {
    State(State),
    /// The account goes.
    Gone,
}

impl State {
    /// Where a step leads; `None` where it cannot be taken.
    pub fn after(self, step: Step) -> Option<StateTransition> {
        use State::{Active, Banned, Blocked, Deactivated, PendingApproval};
        let to = match (self, step) {
            (Active | Deactivated | PendingApproval, Step::Block) => Blocked,
            (Active, Step::Deactivate) => Deactivated,
            (Active, Step::Ban) => Banned,
            (Blocked, Step::Unblock)
            | (Deactivated, Step::Activate)
            | (Banned, Step::Unban)
            | (PendingApproval, Step::Approve) => Active,
            (PendingApproval, Step::Reject) => return Some(StateTransition::Gone),
            _ => return None,
        };
        Some(StateTransition::State(to))
    }

    /// Whether somebody keeps this person out, for whatever reason.
    pub fn is_blocked(self) -> bool {
        matches!(self, Self::Blocked | Self::LdapBlocked | Self::Banned | Self::PendingApproval)
    }
}

#[cfg(test)]
mod tests {
    use kernel::TextEnum;

    use super::{State, StateTransition, Step};

    #[test]
    fn the_table_of_steps() {
        let mut table = String::new();
        for from in State::ALL {
            for step in Step::ALL {
                let to = match from.after(*step) {
                    Some(StateTransition::State(to)) => to.to_string(),
                    Some(StateTransition::Gone) => "(gone)".to_owned(),
                    None => continue,
                };
                table += &format!("{from:24} {step:10} -> {to}\n");
            }
        }
        insta::assert_snapshot!(table, @r"
        active                   block      -> blocked
        active                   deactivate -> deactivated
        active                   ban        -> banned
        blocked                  unblock    -> active
        deactivated              block      -> blocked
        deactivated              activate   -> active
        banned                   unban      -> active
        blocked_pending_approval block      -> blocked
        blocked_pending_approval approve    -> active
        blocked_pending_approval reject     -> (gone)
        ");
    }
}
