//! Whose jobs reach a project with their tokens: those of the projects and groups that it lists.

pub mod actions;
mod store;

pub use store::JobTokenScopeStore;
