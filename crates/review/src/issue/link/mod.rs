//! Issues that have to do with each other.

pub mod actions;
pub mod event;
mod store;

pub use store::{IssueLink, LinkStore};

use kernel::ids::IssueId;

kernel::text_enum! {
    /// The relation of an issue to another.
    pub enum LinkType {
        RelatesTo = "relates_to",
        /// The other one waits for it.
        Blocks = "blocks",
        /// Never kept: the other one blocks it.
        IsBlockedBy = "is_blocked_by",
    }
}

impl LinkType {
    /// What the other issue is to the first.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::RelatesTo => Self::RelatesTo,
            Self::Blocks => Self::IsBlockedBy,
            Self::IsBlockedBy => Self::Blocks,
        }
    }
}

impl IssueLink {
    /// The issue at the other end, and what `one` is to it.
    pub fn seen_from(&self, one: IssueId) -> (IssueId, LinkType) {
        if self.source_id == one {
            (self.target_id, self.link_type)
        } else {
            (self.source_id, self.link_type.reversed())
        }
    }
}
