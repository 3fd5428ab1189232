//! The project or group of a label or milestone.

use kernel::{
    Actor, Grant, Result, Standing,
    ids::{NamespaceId, ProjectId, UserId},
};

use crate::policy::{
    ManageGroupLabels, ManageGroupMilestones, ManageLabels, ManageMilestones, ReadGroupLabels,
    ReadGroupMilestones, ReadLabels, ReadMilestones,
};

/// A project or a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    Project(ProjectId),
    Group(NamespaceId),
}

impl Home {
    pub fn project(self) -> Option<ProjectId> {
        match self {
            Self::Project(id) => Some(id),
            Self::Group(_) => None,
        }
    }

    pub fn group(self) -> Option<NamespaceId> {
        match self {
            Self::Group(id) => Some(id),
            Self::Project(_) => None,
        }
    }

    /// The kind and number under which sequences are kept.
    pub(crate) fn key(self) -> (&'static str, i64) {
        match self {
            Self::Project(id) => ("project", id.0),
            Self::Group(id) => ("group", id.0),
        }
    }
}

/// A caller's standing in a project or group.
pub trait ScopedCaller {
    fn home(&self) -> Home;
    fn actor(&self) -> Actor;
    fn standing(&self) -> Standing;
    fn user(&self) -> Result<UserId> {
        self.actor().user()
    }
}

/// Labels, as something to manage.
#[derive(Clone, Copy, Debug)]
pub struct Labels;

/// Milestones, as something to manage.
#[derive(Clone, Copy, Debug)]
pub struct Milestones;

/// Proof that somebody may read `What` of a project or group.
pub trait ReadGrant<What>: ScopedCaller {}

/// Proof that somebody may change `What` of a project or group.
pub trait ManageGrant<What>: ScopedCaller {}

macro_rules! placed { ($($proof:ident $what:ident: $project:ident, $group:ident);* $(;)?) => { $(
    impl ScopedCaller for Grant<$project> {
        fn home(&self) -> Home {
            Home::Project(self.project())
        }
        fn actor(&self) -> Actor {
            Grant::actor(self)
        }
        fn standing(&self) -> Standing {
            *Grant::who(self)
        }
    }
    impl $proof<$what> for Grant<$project> {}
    impl ScopedCaller for Grant<$group> {
        fn home(&self) -> Home {
            Home::Group(self.group())
        }
        fn actor(&self) -> Actor {
            Grant::actor(self)
        }
        fn standing(&self) -> Standing {
            *Grant::who(self)
        }
    }
    impl $proof<$what> for Grant<$group> {}
)* } }

placed! {
    ReadGrant Labels: ReadLabels, ReadGroupLabels;
    ManageGrant Labels: ManageLabels, ManageGroupLabels;
    ReadGrant Milestones: ReadMilestones, ReadGroupMilestones;
    ManageGrant Milestones: ManageMilestones, ManageGroupMilestones;
}
