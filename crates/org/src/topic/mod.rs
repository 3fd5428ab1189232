//! Topics of projects, as things of their own.

pub mod actions;
mod model;
mod store;

pub use model::{Topic, TopicFilter};
pub use store::TopicRecordStore;
