//! All that is asked of one commit at one time.

pub mod actions;
mod figures;
mod model;
mod store;

pub use model::{Pipeline, Place, Source};
pub use store::{Newest, PipelineFilter, PipelineOrder, PipelineStore};
