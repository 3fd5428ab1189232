//! Milestones of projects and groups: what is to be done until when.

pub mod actions;
pub mod event;
mod model;
mod store;

pub use model::{Milestone, MilestoneFilter, MilestoneState, StateEvent};
pub use store::MilestoneStore;
