//! Groups and personal namespaces: the folders that projects live in.

pub mod actions;
pub mod addresses;
pub mod archive;
pub mod banned_members;
pub mod by_ids;
pub mod default_branch;
pub mod detail;
pub mod downloads;
pub mod event;
pub(crate) mod full_path;
pub mod list;
pub mod list_all;
pub mod locations;
pub mod model;
pub(crate) mod networks;
pub mod of_people;
pub mod owners;
pub mod removal;
pub mod rules;
pub mod runners;
mod search;
pub mod sharing;
pub mod statistics;
pub mod store;
pub mod transfer;
pub(crate) mod visible_groups;

pub use model::{GroupDetails, GroupFilter, GroupSettings, Kind, Namespace};
pub use networks::Networks;
