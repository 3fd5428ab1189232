//! Repositories on disk, held against what git itself says about them.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test as the tests themselves do"
)]

mod answers;
mod archive;
mod blame;
mod branch_rules;
mod care;
mod change;
mod change_model;
mod checksums;
mod cli;
mod commit_discussions;
mod large_files;
mod leftover;
mod merge;
mod merge_requests;
mod push_rules;
mod reader;
mod recovery;
mod ref_changes;
mod refs;
mod scratch;
mod tag_rules;
mod tags;
mod transport;
mod world;
