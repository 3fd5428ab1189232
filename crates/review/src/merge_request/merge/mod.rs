//! Merging: what becomes of the record while git merges, when a branch moves, and when a pipeline ends.

pub mod auto;
pub mod branch_update;
pub mod closes;
pub mod mergeability_store;
pub mod pipeline_failure;
pub mod rebase;
pub mod run;

pub use auto::AutoMerge;
pub use closes::ClosesStore;
pub(crate) use mergeability_store::forget_targets;
pub use mergeability_store::{MergeabilitySnapshot, MergeabilityStore};
