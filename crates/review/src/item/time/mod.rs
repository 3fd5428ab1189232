//! Time estimates and time spent.

pub mod actions;
mod duration;
pub mod event;
mod store;
pub mod timelog;

pub use duration::{human, parse};
pub(crate) use store::MOST_SPENT;
pub use store::{SpentTime, TimeStats, TimeStore};
