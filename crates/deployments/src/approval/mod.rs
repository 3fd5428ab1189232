//! Approvals of deployments.

pub mod actions;
mod model;
mod rules;
mod store;

pub use model::{Approval, ApprovalStatus};
pub use rules::{ApprovalState, RuleState};
pub use store::ApprovalStore;
