//! Groups and personal namespaces: the folders that projects live in.

pub mod actions;
pub mod chain;
pub mod default_branch;
pub mod event;
pub mod list;
pub mod model;
pub mod places;
pub mod rules;
mod search;
pub(crate) mod seen;
pub mod sharing;
pub mod statistics;
pub mod store;

pub use model::{GroupDetails, GroupFilter, GroupSettings, Kind, Namespace};
