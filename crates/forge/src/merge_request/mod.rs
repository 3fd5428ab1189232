//! Merge requests: what several domains do for them, and git.

pub mod approvals;
pub mod code_owners;
pub mod contents;
pub mod create;
pub mod diff_notes;
pub mod head_refs;
pub mod heads;
pub mod merge;
pub mod push_options;
pub mod update;
