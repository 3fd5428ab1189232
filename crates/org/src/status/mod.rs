//! What people say of themselves for a while.

pub mod actions;
pub mod emoji;
pub mod model;

pub use model::{Availability, ClearAfter, Status};
