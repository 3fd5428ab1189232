//! Releases: what a tag brought, in words.

pub mod actions;
pub mod archive;
mod event;
pub mod link;
mod milestones;
mod model;
mod store;

pub use event::{Event, ReleaseAction};
pub use milestones::{MilestoneSwap, ReleaseMilestoneStore};
pub use model::{NewRelease, Release, ReleaseChange, ReleaseContents, ReleaseKey, ReleaseOrder};
pub use store::ReleaseStore;
