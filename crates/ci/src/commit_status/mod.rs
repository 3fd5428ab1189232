//! Statuses of commits that external services report.

pub mod actions;
mod faults;

pub use actions::{ExternalState, Report};
