//! Groups and personal namespaces: the folders that projects live in.

pub mod actions;
pub mod chain;
pub mod default_branch;
pub mod event;
pub mod list;
pub mod model;
pub mod rules;
pub mod sharing;
pub mod store;

pub use model::{GroupDetails, GroupFilter, GroupSettings, Kind, Namespace};
