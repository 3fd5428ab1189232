//! What people say about work and how they agree on it: labels and milestones of projects and groups.

mod home;
pub mod label;
pub mod milestone;
pub mod policy;
pub mod ports;
mod sequence;

pub use home::{Home, Labels, Manages, Milestones, Placed, Reads};
