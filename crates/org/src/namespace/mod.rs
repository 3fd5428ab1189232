//! Groups and personal namespaces: the folders that projects live in.

pub mod default_branch;
pub mod model;
pub mod store;

pub use model::{Kind, Namespace};
