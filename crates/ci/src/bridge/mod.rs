//! Jobs that make another pipeline, and what they take from how that one ends.

mod follow;
mod followers;
mod mirror;
mod state;

pub(crate) use follow::follow_downstream;
pub use follow::{downstream_made, follow_again};
pub use followers::end_followers_elsewhere;
pub(crate) use followers::{end_followers, followers};
pub(crate) use mirror::follow_upstream;
pub use mirror::mirror;
pub use state::{Strategy, step_of};
