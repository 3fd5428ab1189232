//! Webhooks of projects and groups, and system hooks: what they are told, where, and how they fare.

pub mod actions;
mod address;
mod branch_filter;
mod health;
mod model;
mod store;

pub use address::{fill, illegal_pair, placeholders};
pub use branch_filter::BranchStrategy;
pub use health::{AlertStatus, Health, Outcome};
pub use model::{Hook, HookFilter, HookSecrets};
pub use store::HookStore;
