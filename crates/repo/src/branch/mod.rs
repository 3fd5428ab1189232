//! Branches: what is there, and how they come and go.

pub mod actions;
pub mod read;

pub use read::{Branch, BranchOrder, BranchPage};
