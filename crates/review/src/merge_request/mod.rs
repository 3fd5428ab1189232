//! Merge requests: what a branch holds, proposed to another one.

pub mod actions;
pub mod change;
pub(crate) mod change_notes;
pub mod closing;
mod commits;
pub mod context;
pub mod draft;
mod event;
pub mod fork_push_access;
pub mod forks;
pub mod import;
pub mod list;
pub mod merge;
mod merge_commits;
pub mod mergeability;
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
pub use merge_commits::MergedStore;
pub use model::{BranchPair, MergeRequest, MergeRequestState, MergeStatus, NewRow};
pub use reviewers::{ReviewState, Reviewer, ReviewerStore};
pub use rules::ForkRelation;
pub use store::{Columns, MergeRequestStore};
pub use version::{Heads, Version, VersionStore};
