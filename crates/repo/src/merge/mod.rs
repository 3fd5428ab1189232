//! What becomes of a branch that is merged: whether git can, the commits that do it, and how a branch is moved onto
//! another one. Nothing here moves a ref that people see.

mod build;
mod check;
mod merge_ref;

pub use build::{MergeError, MergeResult, Method, Plan, Squash, build};
pub use check::Checks;
pub use merge_ref::merge_ref;

pub use crate::git::rebase::{RebaseResult, rebase};
