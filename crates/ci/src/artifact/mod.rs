//! Files that jobs leave behind.

mod kind;
mod metadata;
mod model;
mod newest;
mod store;
pub mod zip;

pub use kind::{ArtifactFormat, ArtifactKind};
pub use metadata::write_metadata;
pub use model::{Access, Artifact, Lifetime, NewArtifact, access, expiry};
pub use newest::keep_newest;
pub use store::ArtifactStore;
