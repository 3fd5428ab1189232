//! The life of an account.

kernel::text_enum! { pub enum State {
    Active = "active", Blocked = "blocked", LdapBlocked = "ldap_blocked", Deactivated = "deactivated",
    Banned = "banned", PendingApproval = "blocked_pending_approval",
} }

kernel::text_enum! { pub enum Step {
    Block = "block", Unblock = "unblock", Deactivate = "deactivate", Activate = "activate",
} }

impl State {
    /// Where a step leads; `None` where it cannot be taken.
    pub fn after(self, step: Step) -> Option<Self> {
        match (self, step) {
            (Self::Active | Self::Deactivated | Self::PendingApproval, Step::Block) => {
                Some(Self::Blocked)
            }
            (Self::Active, Step::Deactivate) => Some(Self::Deactivated),
            (Self::Blocked, Step::Unblock) | (Self::Deactivated, Step::Activate) => {
                Some(Self::Active)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::TextEnum;

    use super::{State, Step};

    #[test]
    fn the_table_of_steps() {
        let mut table = String::new();
        for from in State::ALL {
            for step in Step::ALL {
                if let Some(to) = from.after(*step) {
                    table += &format!("{from:24} {step:10} -> {to}\n");
                }
            }
        }
        insta::assert_snapshot!(table, @r"
        active                   block      -> blocked
        active                   deactivate -> deactivated
        blocked                  unblock    -> active
        deactivated              block      -> blocked
        deactivated              activate   -> active
        blocked_pending_approval block      -> blocked
        ");
    }
}
