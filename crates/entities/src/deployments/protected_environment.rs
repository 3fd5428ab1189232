//! Protected environments.

use db::Tx;
use deployments::protection::{Protection, RuleKind};
use kernel::Result;
use serde::Serialize;
use utoipa::ToSchema;

use super::access_rule::{ApprovalRuleEntity, DeployAccessEntity, HolderNames};

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProtectedEnvironmentEntity {
    /// Name of the environment, or deployment tier if a group protects it.
    pub name: String,
    pub deploy_access_levels: Vec<DeployAccessEntity>,
    /// Number of approvals required if there are no approval rules.
    pub required_approval_count: i64,
    pub approval_rules: Vec<ApprovalRuleEntity>,
}

impl ProtectedEnvironmentEntity {
    /// Names are looked up once for all of them.
    pub fn all(tx: &mut Tx<'_>, protections: Vec<Protection>) -> Result<Vec<Self>> {
        let names = HolderNames::of(tx, protections.iter().flat_map(|one| &one.rules))?;
        let entity = |one: Protection| Self {
            deploy_access_levels: one
                .of(RuleKind::Deploy)
                .map(|rule| DeployAccessEntity::new(rule, &names))
                .collect(),
            approval_rules: one
                .of(RuleKind::Approve)
                .map(|rule| ApprovalRuleEntity::new(rule, &names))
                .collect(),
            required_approval_count: one.environment.required_approval_count,
            name: one.environment.name,
        };
        Ok(protections.into_iter().map(entity).collect())
    }

    pub fn one(tx: &mut Tx<'_>, protection: Protection) -> Result<Self> {
        Self::all(tx, vec![protection])?.pop().ok_or_else(kernel::Error::missing)
    }
}
