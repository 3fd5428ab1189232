//! Links of releases: files that lie elsewhere.

pub mod actions;
mod model;
mod store;

pub use model::{LinkChange, LinkType, NewLink, ReleaseLink, is_link_path, is_link_url};
pub use store::ReleaseLinkStore;
