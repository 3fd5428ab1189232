//! Releases: what a tag brought, in words.

pub mod actions;
pub mod archive;
mod event;
mod model;
mod store;

pub use event::{Event, ReleaseAction};
pub use model::{NewRelease, Release, ReleaseChange, ReleaseKey, ReleaseOrder};
pub use store::ReleaseStore;
