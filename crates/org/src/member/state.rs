//! The life of a membership, from the first word about it.

kernel::text_enum! { pub enum State {
    /// An address was invited; nobody is known by it yet.
    Invited = "invited",
    /// Somebody asked to be let in.
    Requested = "requested",
    /// Given, and without effect until it is approved.
    Awaiting = "awaiting",
    Active = "active",
} }

kernel::text_enum! { pub enum Step {
    /// The address belongs to somebody, or somebody followed the link.
    Accept = "accept",
    Approve = "approve",
    /// Who manages members adds the person without being asked.
    Add = "add",
    Suspend = "suspend",
} }

impl State {
    /// Where a step leads; `None` where it cannot be taken. Whatever ends a membership takes its row away.
    pub fn after(self, step: Step) -> Option<Self> {
        match (self, step) {
            (Self::Invited, Step::Accept | Step::Add)
            | (Self::Requested, Step::Approve | Step::Add)
            | (Self::Awaiting, Step::Approve) => Some(Self::Active),
            (Self::Active, Step::Suspend) => Some(Self::Awaiting),
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
                    table += &format!("{from:9} {step:7} -> {to}\n");
                }
            }
        }
        insta::assert_snapshot!(table, @r"
        invited   accept  -> active
        invited   add     -> active
        requested approve -> active
        requested add     -> active
        awaiting  approve -> active
        active    suspend -> awaiting
        ");
    }
}
