//! The rules of environments and deployments, against a database. Other domains are fakes.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test as the tests themselves do"
)]

mod approvals;
mod cleanup;
mod deployments;
mod environments;
mod jobs;
mod plans;
mod protections;
mod world;
