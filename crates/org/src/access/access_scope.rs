//! The groups, projects and users whose roles a change affects.

use kernel::ids::{NamespaceId, ProjectId, UserId};

/// The groups and projects whose roles are recomputed.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub enum AccessScope {
    /// A group whose members changed: with all below it, and whatever any of these was invited to.
    Group(NamespaceId),
    /// A group whose shares changed: with all below it.
    Tree(NamespaceId),
    Project(ProjectId),
}

/// The users whose roles may have changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AffectedUsers {
    Everybody,
    One(UserId),
    /// Whoever was made a member of a group itself.
    MembersOf(NamespaceId),
    /// Whoever has a role in a group, wherever it comes from. Only for projects: it is read from the rows of groups.
    PeopleIn(NamespaceId),
}
