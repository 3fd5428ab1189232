//! Repositories on disk, held against what git itself says about them.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test as the tests themselves do"
)]

mod answers;
mod archive;
mod blame;
mod care;
mod change;
mod change_model;
mod cli;
mod leftover;
mod merge;
mod merge_requests;
mod reader;
mod recovery;
mod refs;
mod scratch;
mod tags;
mod transport;
