//! One thing that is done for a pipeline, here or elsewhere.

mod model;
mod state;
mod store;

pub use model::{Job, JobKind};
pub use state::Step;
pub use store::{JobStore, NewJob, StatusFilter, StatusOrder};
