//! The interfaces that runners need from other domains.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId},
};

/// Roles of users in projects and groups.
pub trait Roles {
    fn in_project(&self, tx: &mut Tx<'_>, actor: Actor, project: ProjectId) -> Result<AccessLevel>;
    /// The highest role that somebody has in any of these projects, asked at once.
    fn highest_in_projects(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<AccessLevel>;
    fn in_group(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<AccessLevel>;
    /// The projects in which somebody has at least this role.
    fn projects(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        at_least: AccessLevel,
    ) -> Result<Vec<ProjectId>>;
    /// The groups in which somebody has at least this role.
    fn groups(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        at_least: AccessLevel,
    ) -> Result<Vec<NamespaceId>>;
}
