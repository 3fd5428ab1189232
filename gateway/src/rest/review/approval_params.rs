//! Parameters of approval rules.

use kernel::ids::{ApprovalRuleId, NamespaceId, ProtectedBranchId, UserId};
use review::approval::{NewRule, ReportType, RuleChange, RuleType};
use serde_json::{Value, json};

use crate::{
    extract::{Csv, Param, ParamErrors, Raw, params::INVALID},
    param_enums, params,
};

kernel::text_enum! {
    /// The types of approval rules that a request may create.
    pub enum RuleTypeParam {
        AnyApprover = "any_approver",
        Regular = "regular",
        Report = "report_approver",
    }
}
param_enums! { RuleTypeParam, ReportType }

impl From<RuleTypeParam> for RuleType {
    fn from(asked: RuleTypeParam) -> Self {
        match asked {
            RuleTypeParam::AnyApprover => Self::AnyApprover,
            RuleTypeParam::Regular => Self::Regular,
            RuleTypeParam::Report => Self::Report,
        }
    }
}

/// Ids, with commas or as a list; some clients send back whole records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids(pub Vec<i64>);

impl Param for Ids {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Raw::List(list) = raw else {
            return Ok(Csv::<i64>::read(raw)?.map(|ids| Self(ids.0)));
        };
        let mut ids = Vec::new();
        for element in list {
            match element {
                Raw::Map(record) => {
                    let id = record.get("id").ok_or_else(|| ParamErrors::one(INVALID))?;
                    ids.extend(i64::read(id)?);
                }
                plain => ids.extend(Csv::<i64>::read(plain)?.unwrap_or_default().0),
            }
        }
        Ok(Some(Self(ids)))
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "integer" } })
    }
}

impl Ids {
    fn of<T>(first: Option<Self>, second: Option<Self>, id: fn(i64) -> T) -> Option<Vec<T>> {
        first.or(second).map(|ids| ids.0.into_iter().map(id).collect())
    }
}

params! {
    pub struct OneApprovalRule {
        approval_rule_id: ApprovalRuleId,
    }
}

params! {
    pub struct OneOwnRule {
        merge_request_iid: i64,
        approval_rule_id: ApprovalRuleId,
    }
}

params! {
    /// Whom a rule names.
    pub struct RuleHolders {
        user_ids: Option<Ids>,
        /// Same as `user_ids`.
        users: Option<Ids>,
        usernames: Option<Csv<String>>,
        group_ids: Option<Ids>,
        /// Same as `group_ids`.
        groups: Option<Ids>,
    }
}

params! {
    pub struct CreateApprovalRule {
        approvals_required: i64,
        name: String,
        rule_type: Option<RuleTypeParam>,
        report_type: Option<ReportType>,
        /// Whether the rule applies to all protected branches. If true, `protected_branch_ids` is ignored.
        applies_to_all_protected_branches: bool = false,
        protected_branch_ids: Option<Ids>,
    }
}

params! {
    pub struct ChangeApprovalRule {
        approvals_required: Option<i64>,
        name: Option<String>,
        report_type: Option<ReportType>,
        applies_to_all_protected_branches: Option<bool>,
        protected_branch_ids: Option<Ids>,
        /// Whether to include groups that the caller may not see.
        remove_hidden_groups: bool = false,
    }
}

params! {
    pub struct CreateOwnRule {
        merge_request_iid: i64,
        approvals_required: i64,
        name: String,
        rule_type: Option<RuleTypeParam>,
        /// ID of a project rule from which name, users and groups are copied.
        approval_project_rule_id: Option<ApprovalRuleId>,
    }
}

params! {
    pub struct ChangeOwnRule {
        approvals_required: Option<i64>,
        name: Option<String>,
        remove_hidden_groups: bool = false,
    }
}

impl RuleHolders {
    fn into_new(self, rule: NewRule) -> NewRule {
        NewRule {
            users: Ids::of(self.user_ids, self.users, UserId).unwrap_or_default(),
            usernames: self.usernames.unwrap_or_default().0,
            groups: Ids::of(self.group_ids, self.groups, NamespaceId).unwrap_or_default(),
            ..rule
        }
    }

    fn into_change(self, change: RuleChange) -> RuleChange {
        RuleChange {
            users: Ids::of(self.user_ids, self.users, UserId),
            usernames: self.usernames.map(|names| names.0),
            groups: Ids::of(self.group_ids, self.groups, NamespaceId),
            ..change
        }
    }
}

impl CreateApprovalRule {
    pub(super) fn into_new(self, named: RuleHolders) -> NewRule {
        let branches = Ids::of(self.protected_branch_ids, None, ProtectedBranchId);
        named.into_new(NewRule {
            name: self.name,
            approvals_required: self.approvals_required,
            rule_type: self.rule_type.map(RuleType::from),
            report_type: self.report_type,
            all_protected: self.applies_to_all_protected_branches,
            branches: branches.unwrap_or_default(),
            ..NewRule::default()
        })
    }
}

impl ChangeApprovalRule {
    pub(super) fn into_change(self, named: RuleHolders) -> RuleChange {
        named.into_change(RuleChange {
            name: self.name,
            approvals_required: self.approvals_required,
            report_type: self.report_type,
            all_protected: self.applies_to_all_protected_branches,
            branches: Ids::of(self.protected_branch_ids, None, ProtectedBranchId),
            remove_hidden_groups: self.remove_hidden_groups,
            ..RuleChange::default()
        })
    }
}

impl CreateOwnRule {
    pub(super) fn into_new(self, named: RuleHolders) -> NewRule {
        named.into_new(NewRule {
            name: self.name,
            approvals_required: self.approvals_required,
            rule_type: self.rule_type.map(RuleType::from),
            ..NewRule::default()
        })
    }
}

impl ChangeOwnRule {
    pub(super) fn into_change(self, named: RuleHolders) -> RuleChange {
        named.into_change(RuleChange {
            name: self.name,
            approvals_required: self.approvals_required,
            remove_hidden_groups: self.remove_hidden_groups,
            ..RuleChange::default()
        })
    }
}
