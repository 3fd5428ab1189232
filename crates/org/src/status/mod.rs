//! User status messages.

pub mod actions;
pub mod emoji;
pub mod model;

pub use model::{Availability, ClearAfter, Status};
