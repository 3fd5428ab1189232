//! The interfaces that runners need from other domains.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId},
};
use time::Duration;

use crate::runner::RunnerType;

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

/// The lifetime of runner tokens.
pub trait TokenLifetimes {
    /// How long a token is valid that a runner gets now, by its type and, of a project runner, its projects; `None` where it does
    /// not expire.
    fn of_runner(
        &self,
        tx: &mut Tx<'_>,
        runner_type: RunnerType,
        projects: &[ProjectId],
    ) -> Result<Option<Duration>>;
}

/// Tokens that do not expire.
#[derive(Clone, Copy, Debug)]
pub struct Endless;

impl TokenLifetimes for Endless {
    fn of_runner(
        &self,
        _: &mut Tx<'_>,
        _: RunnerType,
        _: &[ProjectId],
    ) -> Result<Option<Duration>> {
        Ok(None)
    }
}
