//! The ports of approvals.

use std::collections::{HashMap, HashSet};

use db::Tx;
use kernel::{
    Actor, Result,
    ids::{NamespaceId, ProjectId, ProtectedBranchId, UserId},
};

use super::model::ApprovalLocks;

/// The branches that a rule applies to.
#[derive(Clone, Debug, Default)]
pub struct BranchScope {
    /// The rules that match it.
    pub protected: Vec<ProtectedBranchId>,
    pub needs_code_owner: bool,
}

/// The settings of the installation.
pub trait Installation {
    fn approval_locks(&self, tx: &mut Tx<'_>) -> Result<ApprovalLocks>;
}

/// Protected branches, and who approves what is to go there.
pub trait Branches: People + Installation {
    fn scopes(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        branches: &HashSet<String>,
    ) -> Result<HashMap<String, BranchScope>>;
    /// Which of these belong to the project.
    fn protected(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        ids: &[ProtectedBranchId],
    ) -> Result<Vec<ProtectedBranchId>>;
}

/// People and groups as approvers.
pub trait People {
    /// Which of these have a role in the project.
    fn members(&self, tx: &mut Tx<'_>, project: ProjectId, users: &[UserId])
    -> Result<Vec<UserId>>;
    /// The ids of these user names.
    fn named(&self, tx: &mut Tx<'_>, usernames: &[String]) -> Result<Vec<UserId>>;
    /// Which of these groups the caller may know of.
    fn visible_groups(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<NamespaceId>>;
}

/// Project settings with the deprecated number of required approvals.
pub trait Projects: Installation {
    fn approvals_before_merge(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<i64>;
    fn save_approvals_before_merge(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        required: i64,
    ) -> Result<()>;
}
