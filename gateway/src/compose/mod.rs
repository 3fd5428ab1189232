//! What one domain needs from another, answered here.

pub mod accounts;
pub mod activity;
pub mod approvals;
pub mod avatars;
pub mod beginnings;
pub mod ci;
pub mod code_owners;
pub mod collaboration;
pub mod confirmation;
pub mod diff_notes;
pub mod forge;
pub mod jobs;
pub mod mail;
pub mod merge_request_contents;
pub mod merge_request_records;
pub mod merge_requests;
pub mod merging;
pub mod projects;
pub mod purge;
pub mod repo;
pub mod review;
pub mod signatures;
pub mod subscribers;
pub mod surveys;
pub mod uploads;
pub mod wiki_repositories;
