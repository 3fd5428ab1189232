//! The interfaces that deployments need from other domains.

use db::Tx;
use kernel::{
    Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};

/// Evaluation of cron expressions.
pub trait Calendar {
    fn is_cron(&self, cron: &str) -> bool;
    fn is_zone(&self, zone: &str) -> bool;
    /// The first moment after this one; `None` where it never is, and for what is no cron expression.
    fn next(&self, cron: &str, zone: &str, after: Ts) -> Option<Ts>;
}

/// Membership of users in projects and groups.
pub trait Members {
    /// The groups above a project, nearest first.
    fn groups_above(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<Vec<NamespaceId>>;
    /// Whether somebody has a role in a group; `with_inherited` where one in a group above it counts, too.
    fn is_in_group(
        &self,
        tx: &mut Tx<'_>,
        user: UserId,
        group: NamespaceId,
        with_inherited: bool,
    ) -> Result<bool>;
    /// Whether somebody has a role in a project.
    fn is_in_project(&self, tx: &mut Tx<'_>, user: UserId, project: ProjectId) -> Result<bool>;
    /// Whether a project is in a group or shared with it.
    fn is_group_of(&self, tx: &mut Tx<'_>, group: NamespaceId, project: ProjectId) -> Result<bool>;
    /// Whether a group is the same as another one or below it.
    fn is_group_below(
        &self,
        tx: &mut Tx<'_>,
        group: NamespaceId,
        above: NamespaceId,
    ) -> Result<bool>;
}
