//! Who wants to hear of whom.

pub mod actions;

pub use actions::{Follows, counts};
