//! Protected environments: who may deploy, and whose approval is required.

pub mod actions;
pub mod archive;
pub mod guard;
mod model;
pub mod on_access_lost;
mod store;

pub use actions::{AccessChange, NewProtection, ProtectionChange};
pub use model::{
    AccessRule, Holder, NewAccess, ProtectedEnvironment, Protection, ProtectionHome, RuleKind,
};
pub use store::ProtectionStore;
