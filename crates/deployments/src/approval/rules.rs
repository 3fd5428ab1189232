//! The number of approvals that a deployment still needs.

use super::{Approval, ApprovalStatus};
use crate::protection::{AccessRule, Protection, RuleKind};

/// A rule, and what was said by it.
#[derive(Clone, Debug)]
pub struct RuleState {
    pub rule: AccessRule,
    pub approvals: Vec<Approval>,
}

impl RuleState {
    fn pending(&self) -> i64 {
        (self.rule.required_approvals - approved(&self.approvals)).max(0)
    }
}

/// The approvals of a deployment against the required number.
#[derive(Clone, Debug, Default)]
pub struct ApprovalState {
    pub rules: Vec<RuleState>,
    /// How many approve where there are no rules.
    pub required: i64,
    /// All that was said.
    pub approvals: Vec<Approval>,
}

impl ApprovalState {
    pub fn new(protections: &[Protection], approvals: Vec<Approval>) -> Self {
        let rules = protections.iter().flat_map(|one| one.of(RuleKind::Approve)).map(|rule| {
            let of_rule = approvals.iter().filter(|approval| approval.rule_id == rule.id);
            RuleState { rule: rule.clone(), approvals: of_rule.cloned().collect() }
        });
        let rules: Vec<RuleState> = rules.collect();
        let counts = protections.iter().map(|one| one.environment.required_approval_count);
        Self { rules, required: counts.max().unwrap_or_default(), approvals }
    }

    /// Whether anybody has to approve at all.
    pub fn is_configured(&self) -> bool {
        !self.rules.is_empty() || self.required > 0
    }

    /// How many approvals are missing.
    pub fn pending(&self) -> i64 {
        match self.rules.is_empty() {
            true => (self.required - approved(&self.approvals)).max(0),
            false => self.rules.iter().map(RuleState::pending).sum(),
        }
    }
}

fn approved(approvals: &[Approval]) -> i64 {
    let approved = approvals.iter().filter(|one| one.status == ApprovalStatus::Approved);
    i64::try_from(approved.count()).unwrap_or(i64::MAX)
}
