//! Events of SSH keys, for listeners in the same transaction.

use kernel::ids::ProjectId;

use super::SshKey;

/// A key that somebody has now, or no more.
#[derive(Debug)]
pub enum Event {
    Created { key: SshKey, username: String },
    Removed { key: SshKey, username: String },
}

impl kernel::event::Event for Event {
    /// The names under which system hooks tell them.
    fn kind(&self) -> &'static str {
        match self {
            Self::Created { .. } => "key_create",
            Self::Removed { .. } => "key_destroy",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }

    /// Nothing is kept.
    fn payload(&self) -> String {
        String::new()
    }
}
