//! What reviews ask of others.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId},
};
use review::{Home, ports};

/// How projects and groups lie in one another, as `org` knows it.
#[derive(Clone, Copy, Debug)]
pub struct Places;

impl ports::Places for Places {
    fn above(&self, tx: &mut Tx<'_>, home: Home) -> Result<Vec<NamespaceId>> {
        match home {
            Home::Project(project) => org::places::above_project(tx, project),
            Home::Group(group) => org::places::above_group(tx, group),
        }
    }

    fn below(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<Vec<NamespaceId>> {
        org::places::below_group(tx, actor, group)
    }

    fn projects_in(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<ProjectId>> {
        org::places::projects_in(tx, actor, groups)
    }

    fn level_in(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<AccessLevel> {
        org::access::level_in_namespace(tx, actor, group)
    }
}
