//! Approval rules, required approvals and given approvals.

use std::collections::BTreeSet;

use db::Tx;
use forge::urls::Urls;
use kernel::{
    Actor, Result, Ts,
    ids::{NamespaceId, UserId},
};
use review::{
    approval::{ApprovalState, RuleState, RuleType, actions::Approvals, config::Config},
    merge_request::{MergeRequestState, MergeStatus},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::approval_rule::{RuleContext, RuleEntity, RuleGroupEntity, SourceRuleEntity};
use crate::org::brief_user::BriefUser;

/// Approval settings of a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalConfigEntity {
    /// Always empty: approvers are set in approval rules.
    pub approvers: Vec<ApproverEntity>,
    /// Always empty: approvers are set in approval rules.
    pub approver_groups: Vec<ApproverGroupEntity>,
    pub approvals_before_merge: i64,
    pub reset_approvals_on_push: bool,
    pub selective_code_owner_removals: bool,
    pub disable_overriding_approvers_per_merge_request: bool,
    pub merge_requests_author_approval: bool,
    pub merge_requests_disable_committers_approval: bool,
    pub require_password_to_approve: bool,
}

impl From<Config> for ApprovalConfigEntity {
    fn from(config: Config) -> Self {
        let settings = config.settings;
        Self {
            approvers: Vec::new(),
            approver_groups: Vec::new(),
            approvals_before_merge: config.approvals_before_merge,
            reset_approvals_on_push: settings.reset_on_push,
            selective_code_owner_removals: settings.selective_removals,
            disable_overriding_approvers_per_merge_request: settings.no_overriding,
            merge_requests_author_approval: settings.author_approval,
            merge_requests_disable_committers_approval: settings.no_committer_approval,
            require_password_to_approve: settings.require_password,
        }
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ApproverEntity {
    pub user: BriefUser,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ApproverGroupEntity {
    pub group: RuleGroupEntity,
}

/// An approval rule and its progress.
#[derive(Debug, Serialize, ToSchema)]
pub struct RuleStateEntity {
    #[serde(flatten)]
    pub rule: RuleEntity,
    pub approved_by: Vec<BriefUser>,
    pub source_rule: Option<SourceRuleEntity>,
    pub approved: bool,
    pub overridden: bool,
    pub code_owner: bool,
    pub section: Option<String>,
}

/// The approval rules that apply to a merge request.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalStateEntity {
    pub approval_rules_overwritten: bool,
    pub rules: Vec<RuleStateEntity>,
}

impl ApprovalStateEntity {
    pub fn new(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, shown: &Approvals) -> Result<Self> {
        let mut all = Self::all(tx, urls, actor, &[&shown.state])?;
        all.pop().ok_or_else(kernel::Error::missing)
    }

    /// People and groups are looked up once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        actor: Actor,
        states: &[&ApprovalState],
    ) -> Result<Vec<Self>> {
        let rules = states.iter().flat_map(|state| state.rules.iter().map(|one| &one.rule));
        let approvers = states.iter().flat_map(|state| state.approved_by.iter().copied());
        let around = RuleContext::of(tx, urls, actor, rules, approvers)?;
        Ok(states.iter().map(|state| Self::around(&around, state)).collect())
    }

    fn around(around: &RuleContext<'_>, state: &ApprovalState) -> Self {
        let entity = |one: &RuleState| {
            let mut rule = around.rule(&one.rule);
            rule.eligible_approvers = around.people(one.approvers.iter());
            rule.approvals_required = i64::try_from(one.required).unwrap_or(i64::MAX);
            let source = one.source.as_ref();
            RuleStateEntity {
                rule,
                approved_by: around.people(one.approved_by.iter()),
                source_rule: source.map(SourceRuleEntity::from),
                approved: one.approved,
                overridden: source.is_some_and(|source| one.rule.differs_from(source)),
                code_owner: one.rule.row.rule_type == RuleType::CodeOwner,
                section: one.rule.row.section.clone(),
            }
        };
        Self {
            approval_rules_overwritten: state.overwritten,
            rules: state.rules.iter().map(entity).collect(),
        }
    }
}

/// An approval rule that still lacks approvals.
#[derive(Debug, Serialize, ToSchema)]
pub struct RuleLeftEntity {
    pub id: i64,
    pub name: String,
    #[schema(value_type = String)]
    pub rule_type: RuleType,
}

impl From<&RuleState> for RuleLeftEntity {
    fn from(state: &RuleState) -> Self {
        let row = &state.rule.row;
        Self { id: row.id.0, name: row.name.clone(), rule_type: row.rule_type }
    }
}

/// Approval state of a merge request.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalsEntity {
    pub id: i64,
    pub iid: i64,
    pub project_id: i64,
    pub title: String,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub state: MergeRequestState,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    #[schema(value_type = String)]
    pub merge_status: MergeStatus,
    pub approved: bool,
    pub approvals_required: usize,
    pub approvals_left: usize,
    pub require_password_to_approve: bool,
    pub approved_by: Vec<ApproverEntity>,
    pub suggested_approvers: Vec<BriefUser>,
    /// Users named by the approval rules.
    pub approvers: Vec<ApproverEntity>,
    pub approver_groups: Vec<ApproverGroupEntity>,
    pub user_has_approved: bool,
    pub user_can_approve: bool,
    pub approval_rules_left: Vec<RuleLeftEntity>,
    pub has_approval_rules: bool,
    pub merge_request_approvers_available: bool,
    pub multiple_approval_rules_available: bool,
    pub invalid_approvers_rules: Vec<RuleLeftEntity>,
}

impl ApprovalsEntity {
    pub fn new(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, shown: &Approvals) -> Result<Self> {
        let (request, state) = (&shown.request, &shown.state);
        let rules = || state.rules.iter().map(|state| &state.rule);
        let around = RuleContext::of(tx, urls, actor, rules(), state.approved_by.iter().copied())?;
        let named: BTreeSet<UserId> = rules().flat_map(|rule| rule.users.clone()).collect();
        let groups: BTreeSet<NamespaceId> =
            rules().flat_map(|rule| around.shown.groups(rule).collect::<Vec<_>>()).collect();
        let suggested = state.suggested();
        let suggested = suggested.iter().filter(|user| Some(**user) != actor.id);
        let approver = |user: BriefUser| ApproverEntity { user };
        Ok(Self {
            id: request.id.0,
            iid: request.iid,
            project_id: request.project_id.0,
            title: request.title.clone(),
            description: request.description.clone(),
            state: request.state,
            created_at: request.created_at,
            updated_at: request.updated_at,
            merge_status: request.merge_status,
            approved: state.is_approved(),
            approvals_required: state.required(),
            approvals_left: state.left(),
            require_password_to_approve: state.settings.require_password,
            approved_by: around
                .people(state.approved_by.iter())
                .into_iter()
                .map(approver)
                .collect(),
            suggested_approvers: around.people(suggested),
            approvers: around.people(named.iter()).into_iter().map(approver).collect(),
            approver_groups: around
                .groups(groups.into_iter())
                .into_iter()
                .map(|group| ApproverGroupEntity { group })
                .collect(),
            user_has_approved: actor.id.is_some_and(|user| state.has_approved(user)),
            user_can_approve: shown.can_approve,
            approval_rules_left: state.rules_left().map(RuleLeftEntity::from).collect(),
            has_approval_rules: state.rules.iter().any(|one| one.rule.is_user_defined()),
            merge_request_approvers_available: true,
            multiple_approval_rules_available: true,
            invalid_approvers_rules: state
                .rules
                .iter()
                .filter(|state| state.is_invalid())
                .map(RuleLeftEntity::from)
                .collect(),
        })
    }
}
