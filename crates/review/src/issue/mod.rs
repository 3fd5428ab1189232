//! Issues.

pub mod actions;
mod changes;
pub mod list;
mod model;
mod state;
mod store;

pub use model::{HealthStatus, Issue, IssueState, IssueType, Severity};
pub use state::IssueStep;
pub use store::IssueStore;
