//! The rules by which merge requests are approved, with those whom they name.

use std::collections::{BTreeSet, HashMap};

use db::Tx;
use forge::{ports::approvals::Approvers, urls::Urls};
use kernel::{
    Actor, Error, Result, Visibility,
    ids::{NamespaceId, ProjectId, ProtectedBranchId, UserId},
};
use org::{
    namespace::Namespace,
    user::{User, store::UserStore},
};
use repo::protection::BranchRuleStore;
use review::approval::{ReportType, Rule, RuleType, own_rules::OwnRules, rules::VisibleApprovers};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{org::brief_user::BriefUser, repo::protection::ProtectedBranchEntity};

/// A group whose members may approve under a rule.
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

/// Fields that all approval rules share.
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

/// An approval rule of a project.
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
        rules: &[Rule],
    ) -> Result<Vec<Self>> {
        let around = RuleContext::of(tx, urls, actor, rules.iter(), [])?;
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
        Self::all(tx, urls, actor, project, &[rule])?.pop().ok_or_else(Error::missing)
    }
}

/// The project rule from which a merge request's rule was copied.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct SourceRuleEntity {
    pub approvals_required: i64,
}

impl From<&Rule> for SourceRuleEntity {
    fn from(source: &Rule) -> Self {
        Self { approvals_required: source.row.approvals_required }
    }
}

/// An approval rule of a merge request.
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
        let around = RuleContext::of(tx, urls, actor, own.rules.iter(), [])?;
        Ok(own
            .rules
            .iter()
            .map(|rule| Self::new(around.rule(rule), rule, own.source(rule)))
            .collect())
    }

    pub fn one(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, own: &OwnRules) -> Result<Self> {
        Self::all(tx, urls, actor, own)?.pop().ok_or_else(Error::missing)
    }

    fn new(shown: RuleEntity, rule: &Rule, source: Option<&Rule>) -> Self {
        Self {
            id: shown.id,
            name: shown.name,
            rule_type: shown.rule_type,
            eligible_approvers: shown.eligible_approvers,
            approvals_required: shown.approvals_required,
            source_rule: source.map(SourceRuleEntity::from),
            users: shown.users,
            groups: shown.groups,
            contains_hidden_groups: shown.contains_hidden_groups,
            section: rule.row.section.clone(),
            overridden: source.is_some_and(|source| rule.differs_from(source)),
        }
    }
}

/// The people and groups that several rules name.
pub(super) struct RuleContext<'a> {
    urls: &'a Urls,
    pub(super) shown: VisibleApprovers,
    users: HashMap<UserId, User>,
    groups: HashMap<NamespaceId, Namespace>,
}

impl<'a> RuleContext<'a> {
    pub(super) fn of<'r>(
        tx: &mut Tx<'_>,
        urls: &'a Urls,
        actor: Actor,
        rules: impl Iterator<Item = &'r Rule> + Clone,
        people: impl IntoIterator<Item = UserId>,
    ) -> Result<Self> {
        let shown = VisibleApprovers::of(tx, &Approvers, actor, rules.clone())?;
        let mut wanted: BTreeSet<UserId> = people.into_iter().collect();
        wanted.extend(rules.clone().flat_map(|rule| shown.approvers(rule)));
        let wanted: Vec<UserId> = wanted.into_iter().collect();
        let users = if wanted.is_empty() { HashMap::new() } else { tx.users_by_id(&wanted)? };
        let groups: BTreeSet<NamespaceId> = rules.flat_map(|rule| rule.groups.clone()).collect();
        let groups: Vec<NamespaceId> = groups.into_iter().collect();
        let groups = org::hierarchy::known_groups(tx, actor, &groups)?;
        let groups = groups.into_iter().map(|group| (group.id, group)).collect();
        Ok(Self { urls, shown, users, groups })
    }

    pub(super) fn people<'p>(&self, ids: impl Iterator<Item = &'p UserId>) -> Vec<BriefUser> {
        let found = ids.filter_map(|id| self.users.get(id));
        found.map(|user| BriefUser::new(self.urls, user)).collect()
    }

    pub(super) fn groups(&self, ids: impl Iterator<Item = NamespaceId>) -> Vec<RuleGroupEntity> {
        let found = ids.filter_map(|id| self.groups.get(&id));
        found.map(|group| RuleGroupEntity::new(self.urls, group)).collect()
    }

    pub(super) fn rule(&self, rule: &Rule) -> RuleEntity {
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
