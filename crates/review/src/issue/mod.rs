//! Issues.

pub mod actions;
mod change;
mod changes;
pub mod duplicate;
pub mod follow_up;
pub mod import;
pub mod link;
pub mod list;
pub mod lists;
pub mod merge_requests;
mod model;
pub mod open_count;
pub mod order;
pub mod origin;
pub mod relocation;
mod state;
mod steps;
mod store;

pub use model::{HealthStatus, Issue, IssueState, IssueType, Severity};
pub use state::IssueStep;
pub(crate) use store::APART;
pub use store::IssueStore;
pub(crate) use store::delete;
