//! Files that jobs leave behind.

mod kind;
mod metadata;
mod model;
mod store;
pub mod zip;

pub use kind::{ArtifactFormat, ArtifactKind};
pub use metadata::write_metadata;
pub use model::{Access, Artifact, NewArtifact, access, expiry};
pub use store::ArtifactStore;
