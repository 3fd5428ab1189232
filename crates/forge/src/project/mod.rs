//! Projects: what takes a row and its repository together.

pub mod create;
pub mod default_branch;
pub mod downloads;
pub mod fork;
pub mod maintenance;
pub mod push_to_create;
pub mod remove;
pub mod repository;
pub mod statistics;
pub mod update;
