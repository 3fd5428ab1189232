//! Jobs of a project of which only one runs at a time.

pub mod actions;
pub(crate) mod hand_over;
mod model;
pub(crate) mod next_job;
mod store;

pub use model::{ProcessMode, ResourceGroup};
pub use store::ResourceGroupStore;
