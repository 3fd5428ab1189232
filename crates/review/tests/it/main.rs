//! The rules of issues, merge requests and what belongs to them, against a database. Other domains are fakes.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test as the tests themselves do"
)]

mod boards;
mod issues;
mod label_replacement;
mod labels;
mod links;
mod merge_requests;
mod milestones;
mod notes;
mod reactions;
mod relocation;
mod time;
mod todos;
mod world;
