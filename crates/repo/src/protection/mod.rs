//! Which branches and tags are protected, and whom that keeps out.

pub mod actions;
pub mod departure;
mod guard;
pub mod model;
mod pattern;
mod rule_store;
pub mod rules;

pub use guard::{
    BranchProtection, Protection, TagProtection, lent, protected_among, rules_matching,
};
pub use model::{Access, AccessKind, BranchRule, Holder, TagRule};
pub use rule_store::{BranchRuleStore, TagRuleStore};
