//! People, groups and projects against their store.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test as the tests themselves do"
)]

mod access;
mod applications;
mod emails;
mod follows;
mod groups;
mod invitations;
mod members;
mod projects;
mod remembered;
mod sharing;
mod sign_up;
mod tokens;
mod users;
mod world;
