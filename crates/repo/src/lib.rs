//! Git repositories: what is in them, how they change, and who may change what.

pub mod git;
