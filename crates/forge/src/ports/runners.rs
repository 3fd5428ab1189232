//! The ports of `runners`.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId},
};
use org::{access, runner_places};
use runners::ports;

/// The roles of people, as `org` knows them.
#[derive(Clone, Copy, Debug)]
pub struct Roles;

impl ports::Roles for Roles {
    fn in_project(&self, tx: &mut Tx<'_>, actor: Actor, project: ProjectId) -> Result<AccessLevel> {
        access::level_in_project(tx, actor, project)
    }

    fn highest_in_projects(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<AccessLevel> {
        let found = access::locate_projects(tx, actor, projects)?;
        let highest = found.into_iter().map(|(_, who)| who.level).max();
        Ok(highest.unwrap_or(AccessLevel::NoAccess))
    }

    fn in_group(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<AccessLevel> {
        access::level_in_namespace(tx, actor, group)
    }

    fn projects(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        at_least: AccessLevel,
    ) -> Result<Vec<ProjectId>> {
        runner_places::projects_with_role(tx, actor, at_least)
    }

    fn groups(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        at_least: AccessLevel,
    ) -> Result<Vec<NamespaceId>> {
        runner_places::groups_with_role(tx, actor, at_least)
    }
}
