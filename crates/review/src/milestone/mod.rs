//! Milestones of projects and groups: what is to be done until when.

pub mod actions;
pub mod counts;
pub mod event;
pub mod import;
mod model;
pub mod replacement;
mod store;

pub use model::{Milestone, MilestoneFilter, MilestoneOrder, MilestoneState, StateEvent};
pub use store::MilestoneStore;
