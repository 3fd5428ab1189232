//! Issues, epics, merge requests, and what is said about them.

pub mod approval;
pub mod approval_rule;
pub mod award_emoji;
pub mod board;
pub mod epic;
pub mod issue;
pub mod issue_context;
pub mod issue_link;
pub mod issue_statistics;
pub mod item;
pub mod iteration;
pub mod label;
pub mod merge_request;
pub mod merge_request_context;
pub mod merge_request_detail;
pub mod merge_request_records;
pub mod merge_request_version;
pub mod milestone;
pub mod milestone_with_statistics;
pub mod note;
pub mod resource_event;
pub mod reviewer;
pub mod todo;
