//! Commits, files, refs and wikis.

pub mod blame;
pub mod branch;
pub mod changelog;
pub mod commit;
pub mod commit_comment;
pub mod commit_discussion;
pub mod diff;
pub mod file;
pub mod protection;
pub mod push_rule;
pub mod release;
pub mod release_link;
pub mod release_records;
pub mod signature;
pub mod tag;
pub mod tree;
pub mod wiki;
