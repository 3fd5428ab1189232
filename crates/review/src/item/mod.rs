//! What issues, merge requests and epics have in common, so that notes, labels, subscriptions and the rest are
//! written once.

pub mod assignees;
pub mod details;
pub mod edit;
pub mod import;
pub mod import_text;
pub mod labels;
pub mod list;
pub mod milestones;
pub mod on_member_removed;
pub mod purge;
pub mod reading;
pub mod removal;
mod row_lock;
mod store;
pub mod subscriptions;
mod tasks;
pub mod time;
mod visible;

use kernel::{
    Ts,
    ids::{IssueId, MergeRequestId, ProjectId, UserId},
};
pub use reading::{ManageItemsGrant, ParticipationGrant, ReadItemsGrant};
pub use row_lock::{held_merge_request, hold_merge_requests_of};
pub(crate) use row_lock::{hold, hold_merge_requests_in};
pub use store::ItemStore;
pub use tasks::{Tasks, tasks_in};
pub use visible::{ensure_readable, is_readable_by};

use crate::Home;

kernel::text_enum! {
    /// In which table an item is, as stored beside everything that belongs to items.
    pub enum ItemKind { Issue = "Issue", MergeRequest = "MergeRequest", Epic = "Epic" }
}

impl ItemKind {
    /// What stands before the numbers of such items in texts.
    pub fn sign(self) -> char {
        match self {
            Self::Issue => '#',
            Self::MergeRequest => '!',
            Self::Epic => '&',
        }
    }
}

/// The number of an item within its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId {
    pub kind: ItemKind,
    pub id: i64,
}

impl From<IssueId> for ItemId {
    fn from(id: IssueId) -> Self {
        Self { kind: ItemKind::Issue, id: id.0 }
    }
}

impl From<MergeRequestId> for ItemId {
    fn from(id: MergeRequestId) -> Self {
        Self { kind: ItemKind::MergeRequest, id: id.0 }
    }
}

/// An item as notes, to-dos and references see it.
#[derive(Clone, Debug)]
pub struct Item {
    pub id: ItemId,
    pub home: Home,
    pub iid: i64,
    pub author: UserId,
    pub title: String,
    pub description: Option<String>,
    /// `opened`, `closed`, `merged`, `locked`
    pub state: String,
    /// For members from Reporter on, its author and its assignees.
    pub confidential: bool,
    /// Only members may comment.
    pub locked: bool,
    pub updated_at: Ts,
}

impl Item {
    /// Epics are in none.
    pub fn project(&self) -> Option<ProjectId> {
        self.home.project()
    }
}
