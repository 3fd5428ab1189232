//! Use cases over several domains, without HTTP.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test as the tests themselves do"
)]

mod checksums;
mod create_merge_request;
mod create_project;
mod merge;
mod scratch;
