//! Jobs of a project of which only one runs at a time.

pub mod actions;
mod model;
mod store;
pub(crate) mod turn;

pub use model::{ProcessMode, ResourceGroup};
pub use store::ResourceGroupStore;
