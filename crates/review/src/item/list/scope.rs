//! Where lists of items look.

use kernel::ids::{NamespaceId, ProjectId};

use crate::ports::ReadableProjects;

/// The projects or groups whose items a list covers.
#[derive(Clone, Debug)]
pub enum ListScope {
    Project(ProjectId),
    Projects(ReadableProjects),
    /// For items that belong to groups, such as epics.
    Groups(Vec<NamespaceId>),
}
