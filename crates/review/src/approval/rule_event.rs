//! Events of approval rules and settings.

use kernel::ids::{ApprovalRuleId, MergeRequestId, NamespaceId, ProjectId, UserId};
use serde::Serialize;

use super::model::{ApprovalSettings, Rule, RuleType};

/// A fact about a rule, or about what a project wants in general.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RuleEvent {
    RuleCreated(RuleFact),
    RuleUpdated(RuleFact),
    RuleRemoved(RuleFact),
    Configured { project: ProjectId, settings: ApprovalSettings, required: i64, user: UserId },
}

/// Which rule, as it is afterwards or was before it went, and whose doing it is.
#[derive(Debug, Serialize)]
pub struct RuleFact {
    pub rule: ApprovalRuleId,
    pub project: ProjectId,
    /// `None` for one of the project.
    pub merge_request: Option<MergeRequestId>,
    pub name: String,
    pub rule_type: RuleType,
    pub approvals_required: i64,
    pub users: Vec<UserId>,
    pub groups: Vec<NamespaceId>,
    pub user: UserId,
}

impl RuleFact {
    pub(super) fn new(rule: &Rule, user: UserId) -> Self {
        Self {
            rule: rule.row.id,
            project: rule.row.project_id,
            merge_request: rule.row.merge_request_id,
            name: rule.row.name.clone(),
            rule_type: rule.row.rule_type,
            approvals_required: rule.row.approvals_required,
            users: rule.users.clone(),
            groups: rule.groups.clone(),
            user,
        }
    }
}

impl kernel::event::Event for RuleEvent {
    fn kind(&self) -> &'static str {
        match self {
            Self::RuleCreated(_) => "approval_rule.created",
            Self::RuleUpdated(_) => "approval_rule.updated",
            Self::RuleRemoved(_) => "approval_rule.removed",
            Self::Configured { .. } => "approvals.configured",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        Some(match self {
            Self::RuleCreated(fact) | Self::RuleUpdated(fact) | Self::RuleRemoved(fact) => {
                fact.project
            }
            Self::Configured { project, .. } => *project,
        })
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
