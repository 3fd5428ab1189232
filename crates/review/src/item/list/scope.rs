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

/// Whether the item of a row `i` is in a project right inside a group, as SQL.
pub(crate) fn own_projects(group: NamespaceId) -> String {
    format!("i.project_id IN (SELECT o.id FROM projects o WHERE o.namespace_id = {})", group.0)
}
