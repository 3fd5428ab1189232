//! What labels and milestones need to know from others.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId},
};

use crate::Home;

/// How projects and groups lie in one another.
pub trait Places {
    /// The groups above a project or group, nearest first. Personal namespaces are none.
    fn above(&self, tx: &mut Tx<'_>, home: Home) -> Result<Vec<NamespaceId>>;
    /// The groups below a group that the caller may know of, itself not among them.
    fn below(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<Vec<NamespaceId>>;
    /// The projects right inside these groups that the caller may know of.
    fn projects_in(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<ProjectId>>;
    /// What the caller may in a group.
    fn level_in(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<AccessLevel>;
}
