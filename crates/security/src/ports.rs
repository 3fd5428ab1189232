//! The interfaces that this crate needs from other domains.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    Actor, Result, Standing,
    ids::{EnvironmentId, IssueId, NamespaceId, ProjectId, UserId},
};

use crate::alert::Alert;

/// The names of a project and of its group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectNames {
    /// `None` where it belongs to a person.
    pub group: Option<String>,
    pub project: String,
}

/// Projects, groups and people.
pub trait Directory {
    /// How somebody stands in a project; `None` where it is not there, or hidden from them.
    fn in_project(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        project: ProjectId,
    ) -> Result<Option<Standing>>;
    fn in_group(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        group: NamespaceId,
    ) -> Result<Option<Standing>>;
    /// Those of these projects in which somebody is a developer or more.
    fn developed(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<Vec<ProjectId>>;
    /// The projects in a group and in those below it that somebody may know of.
    fn projects_of_group(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        group: NamespaceId,
    ) -> Result<Vec<ProjectId>>;
    /// Somebody as a reader of vulnerabilities: auditors read those of all projects, as administrators do.
    fn reader(&self, tx: &mut Tx<'_>, actor: Actor) -> Result<Actor>;
    /// Whoever this is; `None` for somebody who is gone or may not sign in.
    fn actor(&self, tx: &mut Tx<'_>, user: UserId) -> Result<Option<Actor>>;
    /// What people are called, as in `@ada`.
    fn usernames(&self, tx: &mut Tx<'_>, people: &[UserId]) -> Result<HashMap<UserId, String>>;
    fn names(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<Option<ProjectNames>>;
}

/// The environments of a project.
pub trait Environments {
    /// The environment of this name, if there is one.
    fn named(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        name: &str,
    ) -> Result<Option<EnvironmentId>>;
}

/// An incident that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incident {
    pub id: IssueId,
    /// Its number in the project.
    pub iid: i64,
}

/// Incidents opened for alerts.
pub trait Incidents {
    /// Opens an incident that is as bad as its alert; `None` where the project takes no issues.
    fn open(&self, tx: &mut Tx<'_>, alert: &Alert, description: String)
    -> Result<Option<Incident>>;
    /// Closes an incident, if it is still there.
    fn close(&self, tx: &mut Tx<'_>, issue: IssueId) -> Result<()>;
    /// Writes to those who look after the project.
    fn tell(&self, tx: &mut Tx<'_>, alert: &Alert) -> Result<()>;
}
