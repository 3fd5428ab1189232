//! Branches as the API shows them.

use repo::{branch::Branch, protection::Protection};
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::CommitEntity;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BranchEntity {
    pub name: String,
    pub commit: CommitEntity,
    pub merged: bool,
    pub protected: bool,
    pub developers_can_push: bool,
    pub developers_can_merge: bool,
    /// Whether the caller may push to the branch.
    pub can_push: bool,
    pub default: bool,
    pub web_url: String,
}

impl BranchEntity {
    /// `project_url` is the address of the project's page.
    pub fn new(branch: Branch, protection: &Protection, project_url: &str) -> Self {
        let rules = protection.branch(&branch.name);
        Self {
            commit: CommitEntity::new(&branch.commit, project_url),
            merged: branch.merged,
            protected: rules.is_protected(),
            developers_can_push: rules.developers_can_push(),
            developers_can_merge: rules.developers_can_merge(),
            can_push: rules.may_push(),
            default: branch.is_default,
            web_url: format!("{project_url}/-/tree/{}", branch.name),
            name: branch.name,
        }
    }
}
