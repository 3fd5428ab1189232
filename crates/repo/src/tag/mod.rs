//! Tags: what is there, and how they come and go.

pub mod actions;
pub mod read;
mod version;

pub use actions::NewTag;
pub use read::{Tag, TagKey, TagOrder, TagPage};
