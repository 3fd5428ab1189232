//! Who has to approve merge requests, and who has.

use std::collections::{BTreeSet, HashMap};

use db::Tx;
use kernel::{
    Actor, Error, Result, Ts, Visibility,
    ids::{NamespaceId, ProjectId, ProtectedBranchId, UserId},
};
use org::{
    namespace::Namespace,
    user::{User, store::UserStore},
};
use repo::protection::BranchRuleStore;
use review::{
    approval::{
        ReportType, Rule, RuleState, RuleType, actions::Approvals, config::Config,
        own_rules::OwnRules, rules::Shown,
    },
    merge_request::{MergeRequestState, MergeStatus},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{brief_user::BriefUser, protection::ProtectedBranchEntity};
use crate::{app::Urls, compose::approvals::Approvers};

/// How a project wants its merge requests approved.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalConfigEntity {
    /// Always empty: rules name them.
    pub approvers: Vec<ApproverEntity>,
    /// Always empty: rules name them.
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

/// A group that a rule names.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RuleGroupEntity {
    pub id: i64,
    pub web_url: String,
    pub name: String,
    pub path: String,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub visibility: Visibility,
    pub lfs_enabled: bool,
    pub avatar_url: Option<String>,
    pub request_access_enabled: bool,
    pub full_name: String,
    pub full_path: String,
    pub parent_id: Option<i64>,
    pub ldap_cn: Option<String>,
    pub ldap_access: Option<i64>,
}

impl RuleGroupEntity {
    fn new(urls: &Urls, group: &Namespace) -> Self {
        let settings = group.settings();
        let (id, path) = (group.id, &group.full_path);
        let picture = |file| urls.at(&format!("uploads/-/system/group/avatar/{id}/{file}"));
        Self {
            id: id.0,
            web_url: urls.at(&format!("groups/{path}")),
            name: group.name.clone(),
            path: group.path.clone(),
            description: group.description.clone(),
            visibility: group.visibility,
            lfs_enabled: settings.lfs_enabled.unwrap_or(true),
            avatar_url: group.avatar.as_ref().map(picture),
            request_access_enabled: settings.request_access_enabled,
            full_name: group.full_name.clone(),
            full_path: path.clone(),
            parent_id: group.parent_id.map(|parent| parent.0),
            ldap_cn: settings.ldap_cn,
            ldap_access: settings.ldap_access,
        }
    }
}

/// What all rules say.
#[derive(Debug, Serialize, ToSchema)]
pub struct RuleEntity {
    pub id: i64,
    pub name: String,
    #[schema(value_type = String)]
    pub rule_type: RuleType,
    pub eligible_approvers: Vec<BriefUser>,
    pub approvals_required: i64,
    pub users: Vec<BriefUser>,
    pub groups: Vec<RuleGroupEntity>,
    pub contains_hidden_groups: bool,
}

/// A rule of a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectRuleEntity {
    #[serde(flatten)]
    pub rule: RuleEntity,
    pub applies_to_all_protected_branches: bool,
    pub protected_branches: Vec<ProtectedBranchEntity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub report_type: Option<ReportType>,
}

impl ProjectRuleEntity {
    /// People, groups and branches are looked up once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        actor: Actor,
        project: ProjectId,
        rules: Vec<Rule>,
    ) -> Result<Vec<Self>> {
        let around = Around::of(tx, urls, actor, rules.iter(), [])?;
        let scoped =
            |rule: &Rule| rule.row.applies_to_all_protected_branches || !rule.branches.is_empty();
        let protected =
            if rules.iter().any(scoped) { tx.branch_rules(project)? } else { Vec::new() };
        let protected = ProtectedBranchEntity::all(tx, protected)?;
        let branches = |rule: &Rule| -> Vec<ProtectedBranchEntity> {
            let all = rule.row.applies_to_all_protected_branches;
            let named = |id: i64| all || rule.branches.contains(&ProtectedBranchId(id));
            protected.iter().filter(|branch| named(branch.id)).cloned().collect()
        };
        let entity = |rule: &Rule| Self {
            rule: around.rule(rule),
            applies_to_all_protected_branches: rule.row.applies_to_all_protected_branches,
            protected_branches: branches(rule),
            report_type: rule.row.report_type,
        };
        Ok(rules.iter().map(entity).collect())
    }

    pub fn one(
        tx: &mut Tx<'_>,
        urls: &Urls,
        actor: Actor,
        project: ProjectId,
        rule: Rule,
    ) -> Result<Self> {
        Self::all(tx, urls, actor, project, vec![rule])?.pop().ok_or(Error::Missing)
    }
}

/// How much the rule asked for that another one was made from.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct SourceRuleEntity {
    pub approvals_required: i64,
}

/// A rule of a merge request.
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnRuleEntity {
    pub id: i64,
    pub name: String,
    #[schema(value_type = String)]
    pub rule_type: RuleType,
    pub eligible_approvers: Vec<BriefUser>,
    pub approvals_required: i64,
    pub source_rule: Option<SourceRuleEntity>,
    pub users: Vec<BriefUser>,
    pub groups: Vec<RuleGroupEntity>,
    pub contains_hidden_groups: bool,
    pub section: Option<String>,
    pub overridden: bool,
}

impl OwnRuleEntity {
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, own: &OwnRules) -> Result<Vec<Self>> {
        let around = Around::of(tx, urls, actor, own.rules.iter(), [])?;
        Ok(own
            .rules
            .iter()
            .map(|rule| Self::new(around.rule(rule), rule, own.source(rule)))
            .collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, own: &OwnRules) -> Result<Self> {
        Self::all(tx, urls, actor, own)?.pop().ok_or(Error::Missing)
    }

    fn new(shown: RuleEntity, rule: &Rule, source: Option<&Rule>) -> Self {
        Self {
            id: shown.id,
            name: shown.name,
            rule_type: shown.rule_type,
            eligible_approvers: shown.eligible_approvers,
            approvals_required: shown.approvals_required,
            source_rule: source.map(|source| SourceRuleEntity {
                approvals_required: source.row.approvals_required,
            }),
            users: shown.users,
            groups: shown.groups,
            contains_hidden_groups: shown.contains_hidden_groups,
            section: rule.row.section.clone(),
            overridden: source.is_some_and(|source| rule.differs_from(source)),
        }
    }
}

/// A rule and how far it is.
#[derive(Debug, Serialize, ToSchema)]
pub struct RuleStateEntity {
    #[serde(flatten)]
    pub rule: OwnRuleEntity,
    pub approved_by: Vec<BriefUser>,
    pub approved: bool,
    pub code_owner: bool,
}

/// All rules that count for a merge request.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalStateEntity {
    pub approval_rules_overwritten: bool,
    pub rules: Vec<RuleStateEntity>,
}

impl ApprovalStateEntity {
    pub fn new(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, shown: &Approvals) -> Result<Self> {
        let state = &shown.state;
        let rules = state.rules.iter().map(|state| &state.rule);
        let around = Around::of(tx, urls, actor, rules, state.approved_by.iter().copied())?;
        let entity = |one: &RuleState| {
            let mut rule = around.rule(&one.rule);
            rule.eligible_approvers = around.people(one.approvers.iter());
            rule.approvals_required = i64::try_from(one.required).unwrap_or(i64::MAX);
            RuleStateEntity {
                rule: OwnRuleEntity::new(rule, &one.rule, one.source.as_ref()),
                approved_by: around.people(one.approved_by.iter()),
                approved: one.approved,
                code_owner: one.rule.row.rule_type == RuleType::CodeOwner,
            }
        };
        Ok(Self {
            approval_rules_overwritten: state.overwritten,
            rules: state.rules.iter().map(entity).collect(),
        })
    }
}

/// A rule that is not fulfilled.
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

/// How far the approval of a merge request is.
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
    /// Whom rules name.
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
        let around = Around::of(tx, urls, actor, rules(), state.approved_by.iter().copied())?;
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

/// The people and groups that several rules name.
struct Around<'a> {
    urls: &'a Urls,
    shown: Shown,
    users: HashMap<UserId, User>,
    groups: HashMap<NamespaceId, Namespace>,
}

impl<'a> Around<'a> {
    fn of<'r>(
        tx: &mut Tx<'_>,
        urls: &'a Urls,
        actor: Actor,
        rules: impl Iterator<Item = &'r Rule> + Clone,
        people: impl IntoIterator<Item = UserId>,
    ) -> Result<Self> {
        let shown = Shown::of(tx, &Approvers, actor, rules.clone())?;
        let mut wanted: BTreeSet<UserId> = people.into_iter().collect();
        wanted.extend(rules.clone().flat_map(|rule| shown.approvers(rule)));
        let wanted: Vec<UserId> = wanted.into_iter().collect();
        let users = if wanted.is_empty() { HashMap::new() } else { tx.users_by_id(&wanted)? };
        let groups: BTreeSet<NamespaceId> = rules.flat_map(|rule| rule.groups.clone()).collect();
        let groups: Vec<NamespaceId> = groups.into_iter().collect();
        let groups = org::places::known_groups(tx, actor, &groups)?;
        let groups = groups.into_iter().map(|group| (group.id, group)).collect();
        Ok(Self { urls, shown, users, groups })
    }

    fn people<'p>(&self, ids: impl Iterator<Item = &'p UserId>) -> Vec<BriefUser> {
        let found = ids.filter_map(|id| self.users.get(id));
        found.map(|user| BriefUser::new(self.urls, user)).collect()
    }

    fn groups(&self, ids: impl Iterator<Item = NamespaceId>) -> Vec<RuleGroupEntity> {
        let found = ids.filter_map(|id| self.groups.get(&id));
        found.map(|group| RuleGroupEntity::new(self.urls, group)).collect()
    }

    fn rule(&self, rule: &Rule) -> RuleEntity {
        RuleEntity {
            id: rule.row.id.0,
            name: rule.row.name.clone(),
            rule_type: rule.row.rule_type,
            eligible_approvers: self.people(self.shown.approvers(rule).iter()),
            approvals_required: rule.row.approvals_required,
            users: self.people(rule.users.iter()),
            groups: self.groups(self.shown.groups(rule)),
            contains_hidden_groups: self.shown.has_hidden_groups(rule),
        }
    }
}
