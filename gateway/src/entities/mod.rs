//! The JSON shapes of the API.

pub mod blame;
pub mod branch;
pub mod brief_user;
pub mod changelog;
pub mod commit;
pub mod commit_comment;
pub mod diff;
pub mod file;
pub mod group;
pub mod licenses;
pub mod member;
pub mod namespace;
pub mod oauth;
pub mod project;
pub mod project_sharing;
pub mod protection;
pub mod repository_storage;
pub mod settings;
pub mod signature;
pub mod starrer;
pub mod tag;
pub mod token;
pub mod tree;
pub mod upload;
pub mod user;
