//! Jobs that make another pipeline, and what they take from how that one ends.

mod follow;
mod mirror;
mod state;

pub(crate) use follow::follow_downstream;
pub use follow::{Strategy, downstream_made};
pub(crate) use mirror::follow_upstream;
pub use mirror::mirror;
pub use state::step_of;
