//! Webhooks of projects and groups, and system hooks: what they are told, where, and how they fare.

pub mod actions;
mod address;
pub mod archive;
mod branch_filter;
mod health;
mod model;
mod store;

pub(crate) use address::names_user;
pub use address::{fill, illegal_pair, placeholders};
pub use branch_filter::BranchStrategy;
pub use health::{AlertStatus, Health, Outcome};
pub use model::{Hook, HookFilter, HookSecrets, MissingValues};
pub use store::HookStore;
