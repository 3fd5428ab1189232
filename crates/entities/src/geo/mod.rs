//! Nodes of an installation.

pub mod failure;
pub mod node;
pub mod pipeline_refs;
pub mod status;
