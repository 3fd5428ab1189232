//! Merge requests.

mod model;

pub use model::{MergeRequest, MergeRequestState, MergeStatus};
