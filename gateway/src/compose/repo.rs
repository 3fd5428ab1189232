//! What repositories ask of others.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId, UserId},
};
use repo::ports::Membership;

/// Who has to do with a project, as `org` knows it.
#[derive(Clone, Copy, Debug)]
pub struct Members;

impl Membership for Members {
    fn is_member(&self, tx: &mut Tx<'_>, project: ProjectId, user: UserId) -> Result<bool> {
        let actor = Actor { id: Some(user), ..Actor::ANONYMOUS };
        Ok(org::access::level_in_project(tx, actor, project)? > AccessLevel::NoAccess)
    }

    fn is_invited(&self, tx: &mut Tx<'_>, project: ProjectId, group: NamespaceId) -> Result<bool> {
        org::access::is_shared_with(tx, project, group)
    }
}
