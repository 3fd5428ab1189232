//! Whether a repository holds code or a wiki.

use kernel::ids::ProjectId;
use repo::git::{RepoPath, Storage, Wiki};

/// What a repository holds, and whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Code(ProjectId),
    Wiki(Wiki),
}

impl Kind {
    pub(super) fn lies_in(self, storage: &Storage) -> RepoPath {
        match self {
            Self::Code(project) => storage.repository(project),
            Self::Wiki(wiki) => storage.wiki(wiki),
        }
    }

    pub(super) fn project(self) -> Option<ProjectId> {
        match self {
            Self::Code(project) | Self::Wiki(Wiki::Project(project)) => Some(project),
            Self::Wiki(Wiki::Group(_)) => None,
        }
    }
}
