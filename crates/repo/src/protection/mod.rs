//! Which branches and tags are protected, and whom that keeps out.

pub mod actions;
mod branch_store;
mod guard;
pub mod model;
mod pattern;
pub mod rules;
mod tag_store;

pub use branch_store::BranchRuleStore;
pub use guard::{
    BranchProtection, Protection, TagProtection, lent, protected_among, rules_matching,
};
pub use model::{Access, AccessKind, BranchRule, Holder, TagRule};
pub use tag_store::TagRuleStore;
