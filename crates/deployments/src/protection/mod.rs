//! Who may deploy to an environment, and who has to approve that.

pub mod actions;
pub mod archive;
pub mod departure;
pub mod guard;
mod model;
mod store;

pub use actions::{AccessChange, NewProtection, ProtectionChange};
pub use model::{
    AccessRule, Holder, NewAccess, ProtectedEnvironment, Protection, ProtectionHome, RuleKind,
};
pub use store::ProtectionStore;
