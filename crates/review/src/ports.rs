//! The ports of this crate: questions about projects, groups, users and branches that others answer.

use std::collections::HashMap;

use db::{Fragment, RowSet, Tx};
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts,
    ids::{DeploymentId, NamespaceId, ProjectId, UserId},
};

use crate::{
    Home,
    item::{ItemKind, list::IndexedFilter},
    milestone::replacement::Replacement,
};

/// The group hierarchy.
pub trait GroupHierarchy {
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
    /// Whether the caller may look around in a group, as SQL about its id.
    fn sees_group(&self, tx: &mut Tx<'_>, actor: Actor, group: &str) -> Result<Fragment>;
    /// Whether the caller has at least this role in a group, as SQL about its id.
    fn has_role_in(&self, now: Ts, actor: Actor, group: &str, role: AccessLevel) -> Fragment;
}

/// Objects with milestones besides issues and merge requests.
pub trait MilestoneUsers {
    /// Puts milestones in the place of others.
    fn replace_milestones(&self, tx: &mut Tx<'_>, replaced: &[Replacement]) -> Result<()>;
}

/// Users and their permissions.
pub trait People {
    /// How each of these people stands in a project, in no order. Whoever is unknown or may not sign in is left out.
    fn standings(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        people: &[UserId],
    ) -> Result<Vec<Standing>>;
    /// As [`standings`](Self::standings), in a project or group.
    fn standings_at(&self, tx: &mut Tx<'_>, home: Home, people: &[UserId])
    -> Result<Vec<Standing>>;
    /// The people of these names, whatever their letter case; unknown ones are left out.
    fn named(&self, tx: &mut Tx<'_>, names: &[String]) -> Result<HashMap<String, UserId>>;
    /// What people are called, as in `@ada`.
    fn names(&self, tx: &mut Tx<'_>, people: &[UserId]) -> Result<HashMap<UserId, String>>;
}

/// Which project a text names by its path.
pub trait NamedProjects {
    /// A path without a slash is that of a neighbour of `from`. What `from` was forked from is left out.
    fn project_named(
        &self,
        tx: &mut Tx<'_>,
        from: ProjectId,
        path: &str,
    ) -> Result<Option<ProjectId>>;
}

/// Projects in which somebody may read items of a kind.
#[derive(Clone, Debug)]
pub struct ReadableProjects {
    pub all: RowSet,
    /// Their ids, where they are few.
    pub few: Option<Vec<i64>>,
}

/// The projects that item lists cover.
pub trait Projects {
    /// Where somebody may read items of a kind: in a group and those inside it, by its full path, or everywhere.
    fn readable(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        kind: ItemKind,
        group: Option<&str>,
        archived: bool,
    ) -> Result<ReadableProjects>;
    /// The projects right inside a group.
    fn own_projects(&self, group: NamespaceId) -> RowSet;
}

/// Validation of branch names.
pub trait Branches {
    fn is_name(&self, name: &str) -> bool;
}

/// Everything around issues and merge requests that their texts may name.
pub trait Forge: GroupHierarchy + People {
    /// How one person stands in these projects; those that are not there, or hidden from them, are left out.
    fn standings_in(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<HashMap<ProjectId, Standing>>;
    /// Those of these groups, all of which somebody sees, whose wikis they may read.
    fn group_wikis(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<NamespaceId>>;
    /// Who is in the groups of these paths that somebody knows of, so many of each at most.
    fn group_members(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        paths: &[String],
        most: i64,
    ) -> Result<HashMap<String, Vec<UserId>>>;
    /// A group that somebody knows of, by its full path.
    fn group_at(&self, tx: &mut Tx<'_>, actor: Actor, path: &str) -> Result<Option<NamespaceId>>;
    /// Who has a role in a project, so many at most.
    fn project_members(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        most: i64,
    ) -> Result<Vec<UserId>>;
    /// As whom somebody acts.
    fn actor(&self, tx: &mut Tx<'_>, user: UserId) -> Result<Option<Actor>>;
    /// A project by its full path, in any letter case; paths that it had before count, too.
    fn project_at(&self, tx: &mut Tx<'_>, path: &str) -> Result<Option<ProjectId>>;
    /// The full paths of projects.
    fn paths(&self, tx: &mut Tx<'_>, projects: &[ProjectId]) -> Result<HashMap<ProjectId, String>>;
    /// The full paths of groups.
    fn group_paths(
        &self,
        tx: &mut Tx<'_>,
        groups: &[NamespaceId],
    ) -> Result<HashMap<NamespaceId, String>>;
    /// Where the addresses of this installation begin, without a slash at the end.
    fn address(&self) -> &str;
}

/// Which deployments are meant.
#[derive(Clone, Debug, Default)]
pub struct DeploymentCondition {
    /// Moments, both included.
    pub after: Option<Ts>,
    pub before: Option<Ts>,
    /// The name of an environment.
    pub environment: Option<String>,
    /// By this deployment.
    pub deployment: Option<DeploymentId>,
    /// Of this project, whose environments alone are meant.
    pub project: Option<ProjectId>,
}

/// Deployments of merge requests.
pub trait Deployments {
    /// The merge requests that were deployed so, and whether the merge request `i` was.
    ///
    /// # Errors
    /// When the database cannot be read.
    fn deployed(&self, tx: &mut Tx<'_>, wanted: &DeploymentCondition) -> Result<IndexedFilter>;
}
