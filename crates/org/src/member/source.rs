//! The project or group that a membership is in.

use kernel::ids::{NamespaceId, ProjectId};

/// A project or a group, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    Project(ProjectId),
    Group(NamespaceId),
}

impl Source {
    /// Of the columns of a row that names either.
    pub fn of(project: Option<ProjectId>, group: Option<NamespaceId>) -> Self {
        match project {
            Some(project) => Self::Project(project),
            None => Self::Group(group.unwrap_or(NamespaceId(0))),
        }
    }

    pub(crate) fn columns(self) -> (Option<ProjectId>, Option<NamespaceId>) {
        match self {
            Self::Project(id) => (Some(id), None),
            Self::Group(id) => (None, Some(id)),
        }
    }

    /// `project` or `group`, as sentences name it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Project(_) => "project",
            Self::Group(_) => "group",
        }
    }
}
