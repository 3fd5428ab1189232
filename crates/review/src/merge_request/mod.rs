//! Merge requests: what a branch holds, proposed to another one.

pub mod actions;
pub mod change;
pub(crate) mod change_notes;
pub mod closing;
mod commits;
pub mod context;
pub mod draft;
mod event;
pub mod forks;
pub mod import;
pub mod lending;
pub mod list;
pub mod merge;
pub mod mergeability;
mod merged;
pub mod metadata;
mod model;
mod reviewers;
mod rules;
pub mod state;
mod store;
pub mod template;
pub mod version;

pub use commits::MergeRequestCommitStore;
pub use event::Event;
pub use merged::MergedStore;
pub use model::{BranchPair, MergeRequest, MergeRequestState, MergeStatus, NewRow};
pub use reviewers::{ReviewState, Reviewer, ReviewerStore};
pub use rules::ForkRelation;
pub use store::{Columns, MergeRequestStore};
pub use version::{Heads, Version, VersionStore};
