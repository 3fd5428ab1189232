//! Files that jobs leave behind.

mod filename;
mod kind;
mod latest_artifacts;
mod metadata;
mod model;
mod store;
pub mod zip;

pub use filename::plain_filename;
pub use kind::{ArtifactFormat, ArtifactKind};
pub use latest_artifacts::keep_newest;
pub use metadata::write_metadata;
pub use model::{Access, Artifact, Lifetime, NewArtifact, access, expiry};
pub use store::ArtifactStore;
