//! How far checks of a commit are that others run.

pub mod actions;
mod faults;

pub use actions::{ExternalState, Report};
