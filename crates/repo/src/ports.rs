//! What repositories need to know from others.

use db::Tx;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId, UserId},
};

/// Who has to do with a project.
pub trait Membership {
    /// Whether the person has a role in the project, own, inherited or by invitation.
    fn is_member(&self, tx: &mut Tx<'_>, project: ProjectId, user: UserId) -> Result<bool>;
    /// Whether the project is shared with the group.
    fn is_invited(&self, tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<bool>;
}
