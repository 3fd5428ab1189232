//! Protected branches and tags.

pub mod actions;
pub mod archive;
pub mod branch_presets;
mod guard;
pub mod model;
pub mod on_member_removed;
mod pattern;
mod rule_store;
pub mod rules;

pub use guard::{
    BranchProtection, Protection, TagProtection, fork_push_branches, protected_among,
    rules_matching,
};
pub use model::{Access, AccessKind, BranchRule, Holder, TagRule};
pub use pattern::Pattern;
pub use rule_store::{BranchRuleStore, TagRuleStore};
