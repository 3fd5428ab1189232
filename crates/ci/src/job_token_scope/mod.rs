//! The allowlist of projects and groups whose job tokens can access a project.

pub mod actions;
mod store;

pub use store::JobTokenScopeStore;
