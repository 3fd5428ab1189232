//! People, groups and projects: who they are, where they live, and how each caller stands there.

pub mod access;
pub mod application;
mod audited;
pub mod callout;
pub mod custom_attribute;
pub mod email;
mod expiry;
pub mod faults;
pub mod follow;
pub mod hierarchy;
pub mod jobs;
pub mod key;
pub mod linked_group;
pub mod mail;
pub mod member;
pub mod namespace;
pub mod openid;
pub mod policy;
pub mod preference;
pub mod project;
pub mod runner_places;
pub mod sealed;
pub mod search;
pub mod settings;
pub mod statistics;
pub mod status;
pub mod token;
pub mod topic;
pub mod user;
pub mod user_activity;

pub(crate) use db::listing;
