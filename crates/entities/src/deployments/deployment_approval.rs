//! Approvals of a deployment, and the number still needed.

use std::collections::{BTreeSet, HashMap};

use db::Tx;
use deployments::approval::{Approval, ApprovalState, ApprovalStatus};
use forge::urls::Urls;
use kernel::{Error, Result, Ts, ids::UserId};
use org::user::{User, store::UserStore as _};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    access_rule::{ApprovalRuleEntity, HolderNames},
    deployment::DeploymentEntity,
};
use crate::org::brief_user::BriefUser;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DeploymentApprovalEntity {
    /// Null if the user has been deleted.
    pub user: Option<BriefUser>,
    #[schema(value_type = String)]
    pub status: ApprovalStatus,
    #[schema(value_type = String)]
    pub created_at: Ts,
    pub comment: Option<String>,
}

/// A rule with the approvals given under it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ApprovalRuleStateEntity {
    #[serde(flatten)]
    pub rule: ApprovalRuleEntity,
    pub deployment_approvals: Vec<DeploymentApprovalEntity>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ApprovalSummaryEntity {
    pub rules: Vec<ApprovalRuleStateEntity>,
}

/// Approvals of a deployment.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DeploymentApprovalsEntity {
    /// How many approvals are missing.
    pub pending_approval_count: i64,
    pub approvals: Vec<DeploymentApprovalEntity>,
    pub approval_summary: ApprovalSummaryEntity,
}

/// One deployment, with its approvals.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeploymentDetailEntity {
    #[serde(flatten)]
    pub basic: DeploymentEntity,
    #[serde(flatten)]
    pub approval: DeploymentApprovalsEntity,
}

/// Those who said something, looked up once.
struct People<'a> {
    urls: &'a Urls,
    users: HashMap<UserId, User>,
}

impl<'a> People<'a> {
    fn of(tx: &mut Tx<'_>, urls: &'a Urls, approvals: &[Approval]) -> Result<Self> {
        let ids: BTreeSet<UserId> = approvals.iter().map(|approval| approval.user_id).collect();
        Ok(Self { urls, users: tx.users_by_id(&Vec::from_iter(ids))? })
    }

    fn entity(&self, approval: &Approval) -> DeploymentApprovalEntity {
        let user = self.users.get(&approval.user_id);
        DeploymentApprovalEntity {
            user: user.map(|user| BriefUser::new(self.urls, user)),
            status: approval.status,
            created_at: approval.created_at,
            comment: approval.comment.clone(),
        }
    }

    fn entities(&self, approvals: &[Approval]) -> Vec<DeploymentApprovalEntity> {
        approvals.iter().map(|approval| self.entity(approval)).collect()
    }
}

impl DeploymentApprovalEntity {
    pub fn new(tx: &mut Tx<'_>, urls: &Urls, approval: &Approval) -> Result<Self> {
        let people = People::of(tx, urls, std::slice::from_ref(approval))?;
        people.entities(std::slice::from_ref(approval)).pop().ok_or_else(Error::missing)
    }
}

impl DeploymentApprovalsEntity {
    pub fn new(tx: &mut Tx<'_>, urls: &Urls, state: &ApprovalState) -> Result<Self> {
        let people = People::of(tx, urls, &state.approvals)?;
        let names = HolderNames::of(tx, state.rules.iter().map(|one| &one.rule))?;
        let rules = state.rules.iter().map(|one| ApprovalRuleStateEntity {
            rule: ApprovalRuleEntity::new(&one.rule, &names),
            deployment_approvals: people.entities(&one.approvals),
        });
        Ok(Self {
            pending_approval_count: state.pending(),
            approvals: people.entities(&state.approvals),
            approval_summary: ApprovalSummaryEntity { rules: rules.collect() },
        })
    }
}
