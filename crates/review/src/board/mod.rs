//! Boards: issues of a project or group, or epics of a group, in lists.

mod access;
pub mod actions;
pub mod condition;
pub mod lists;
mod model;
pub mod moves;
mod store;
pub mod visits;

pub use access::{BoardItems, Boards, EpicBoards};
pub use model::{Board, BoardList, LimitMetric, ListKind, ListLimits};
pub use store::BoardStore;
