//! The kind of a repository: code or wiki.

use kernel::ids::ProjectId;
use repo::git::{RepoPath, Storage, Wiki};

/// The kind and owner of a repository.
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
