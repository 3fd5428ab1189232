//! People, groups and projects: who they are, where they live, and how each caller stands there.

pub mod access;
pub mod member;
pub mod namespace;
pub mod policy;
pub mod project;
pub mod token;
pub mod user;
