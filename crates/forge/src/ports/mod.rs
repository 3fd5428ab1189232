//! Implementations of the domains' ports.

pub mod approvals;
pub mod ci;
pub mod deployments;
pub mod directory;
pub mod fork_push_access;
pub mod geo;
pub mod repo;
pub mod review;
pub mod runners;
pub mod security;
