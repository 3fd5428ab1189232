//! People, groups, projects, members and tokens.

pub mod access_request;
pub mod activity;
pub mod ban;
pub mod brief_user;
pub mod custom_attribute;
pub mod email;
pub mod group;
pub mod group_statistics;
pub mod invitation;
pub mod key;
pub mod linked_group;
pub mod member;
pub mod namespace;
pub mod namespace_detail;
pub mod oauth;
pub mod person;
pub mod project;
pub mod project_settings;
pub mod project_sharing;
pub mod repository_storage;
pub mod seat;
pub mod starrer;
pub mod token;
pub mod topic;
pub mod upload;
pub mod user;
