//! Projects: a repository with a name, a home and its settings.

pub mod actions;
pub mod model;
pub mod push;
pub mod store;

pub use model::Project;
