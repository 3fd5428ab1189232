//! Merge requests.

pub mod closing;
pub mod mergeability;
mod model;
pub mod template;

pub use model::{MergeRequest, MergeRequestState, MergeStatus};
