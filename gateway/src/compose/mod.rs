//! What one domain needs from another, answered here.

pub mod jobs;
pub mod repo;
pub mod projects;
pub mod subscribers;
