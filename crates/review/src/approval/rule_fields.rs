//! The fields of an approval rule, from a request to a row.

use std::collections::BTreeSet;

use db::Tx;
use kernel::{
    Actor, Error, Faults, Result,
    ids::{ApprovalRuleId, MergeRequestId, NamespaceId, ProjectId, ProtectedBranchId, UserId},
    values::MOST_APPROVALS,
};

use super::{
    model::{ANY_APPROVER, ReportType, Rule, RuleType},
    ports::{Branches, People},
};

const LONGEST_NAME: usize = 1024;

/// A rule as it is asked for.
#[derive(Clone, Debug, Default)]
pub struct NewRule {
    pub name: String,
    pub approvals_required: i64,
    pub rule_type: Option<RuleType>,
    pub report_type: Option<ReportType>,
    pub all_protected: bool,
    pub branches: Vec<ProtectedBranchId>,
    pub users: Vec<UserId>,
    pub usernames: Vec<String>,
    pub groups: Vec<NamespaceId>,
}

/// Fields of a rule to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct RuleChange {
    pub name: Option<String>,
    pub approvals_required: Option<i64>,
    pub report_type: Option<ReportType>,
    pub all_protected: Option<bool>,
    pub branches: Option<Vec<ProtectedBranchId>>,
    pub users: Option<Vec<UserId>>,
    pub usernames: Option<Vec<String>>,
    pub groups: Option<Vec<NamespaceId>>,
    /// Groups that the caller may not know of go, too.
    pub remove_hidden_groups: bool,
}

/// The project of a rule, and the caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub project: ProjectId,
    pub merge_request: Option<MergeRequestId>,
    pub actor: Actor,
}

impl Scope {
    fn word(self) -> &'static str {
        if self.merge_request.is_some() { "merge request" } else { "project" }
    }
}

/// A rule as it is kept.
#[derive(Clone, Debug)]
pub struct Details {
    pub(super) name: String,
    pub(super) rule_type: RuleType,
    pub(super) report_type: Option<ReportType>,
    pub(super) section: Option<String>,
    pub(super) approvals_required: i64,
    pub(super) all_protected: bool,
    pub(super) branches: Vec<ProtectedBranchId>,
    pub(super) users: Vec<UserId>,
    pub(super) groups: Vec<NamespaceId>,
}

impl Details {
    /// The rule as it is.
    pub(super) fn of(rule: &Rule) -> Self {
        Self {
            name: rule.row.name.clone(),
            rule_type: rule.row.rule_type,
            report_type: rule.row.report_type,
            section: rule.row.section.clone(),
            approvals_required: rule.row.approvals_required,
            all_protected: rule.row.applies_to_all_protected_branches,
            branches: rule.branches.clone(),
            users: rule.users.clone(),
            groups: rule.groups.clone(),
        }
    }

    /// The rule that everybody's approval counts for.
    pub(super) fn of_any(approvals_required: i64) -> Self {
        Self {
            name: ANY_APPROVER.to_owned(),
            rule_type: RuleType::AnyApprover,
            report_type: None,
            section: None,
            approvals_required,
            all_protected: false,
            branches: Vec::new(),
            users: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// What speaks against it beside its neighbours.
    pub(super) fn check(
        &self,
        scope: Scope,
        neighbours: &[Rule],
        own: Option<ApprovalRuleId>,
    ) -> Result<()> {
        let others = || neighbours.iter().filter(|rule| Some(rule.row.id) != own);
        let same_type = || others().filter(|rule| rule.row.rule_type == self.rule_type);
        let mut faults = Faults::default();
        if self.name.trim().is_empty() {
            faults.add("name", "can't be blank");
        }
        faults.at_most("name", Some(&self.name), LONGEST_NAME);
        let is_any = self.rule_type == RuleType::AnyApprover;
        let is_namesake =
            |rule: &Rule| rule.row.name == self.name && rule.row.section == self.section;
        // Of those there is one, whatever it is called.
        if !is_any && same_type().any(is_namesake) {
            faults.add("name", "has already been taken");
        }
        faults_of_count(&mut faults, self.approvals_required);
        if is_any && same_type().next().is_some() {
            faults
                .add("rule_type", format!("any-approver for the {} already exists", scope.word()));
        }
        if self.rule_type == RuleType::Report && self.report_type.is_none() {
            faults.add("report_type", "can't be blank");
        }
        faults.into_result()
    }
}

/// How many approvals a rule may ask for.
pub(super) fn faults_of_count(faults: &mut Faults, count: i64) {
    faults.range("approvals_required", Some(count), 0..=MOST_APPROVALS);
}

/// A new rule as it can be kept: of those whom it names only the ones that can approve.
pub(super) fn details_of_new(
    tx: &mut Tx<'_>,
    scope: Scope,
    people: &impl People,
    branches: &impl Branches,
    new: &NewRule,
) -> Result<Details> {
    let mut users = new.users.clone();
    users.extend(people.named(tx, &new.usernames)?);
    let users = people.members(tx, scope.project, &unique(users))?;
    let groups = people.visible_groups(tx, scope.actor, &unique(new.groups.clone()))?;
    let nobody = users.is_empty() && groups.is_empty();
    let rule_type = match new.rule_type {
        Some(RuleType::CodeOwner) => return Err(Error::forbidden()),
        Some(given @ (RuleType::Report | RuleType::AnyApprover)) => given,
        Some(RuleType::Regular) => RuleType::Regular,
        None if nobody && new.name.trim().is_empty() => RuleType::AnyApprover,
        None => RuleType::Regular,
    };
    if rule_type == RuleType::AnyApprover {
        let any = Details::of_any(new.approvals_required);
        let name = new.name.trim();
        let name = if name.is_empty() { any.name.clone() } else { name.to_owned() };
        return Ok(Details { name, ..any });
    }
    let of_project = scope.merge_request.is_none();
    let named = if of_project && !new.all_protected {
        branches.protected(tx, scope.project, &unique(new.branches.clone()))?
    } else {
        Vec::new()
    };
    Ok(Details {
        name: new.name.trim().to_owned(),
        rule_type,
        report_type: new.report_type.filter(|_| rule_type == RuleType::Report),
        section: None,
        approvals_required: new.approvals_required,
        all_protected: of_project && new.all_protected,
        branches: named,
        users,
        groups,
    })
}

/// A rule as it is to be kept after a change. What is not among the parameters stays.
pub(super) fn details_after(
    tx: &mut Tx<'_>,
    scope: Scope,
    people: &impl People,
    branches: &impl Branches,
    rule: &Rule,
    change: &RuleChange,
) -> Result<Details> {
    let mut details = Details::of(rule);
    details.approvals_required = change.approvals_required.unwrap_or(details.approvals_required);
    if rule.row.rule_type == RuleType::AnyApprover {
        return Ok(details);
    }
    if let Some(name) = &change.name {
        details.name = name.trim().to_owned();
    }
    details.report_type = change
        .report_type
        .filter(|_| rule.row.rule_type == RuleType::Report)
        .or(details.report_type);
    if change.users.is_some() || change.usernames.is_some() {
        let mut users = change.users.clone().unwrap_or_default();
        users.extend(people.named(tx, change.usernames.as_deref().unwrap_or_default())?);
        details.users = people.members(tx, scope.project, &unique(users))?;
    }
    let visible = people.visible_groups(tx, scope.actor, &rule.groups)?;
    let hidden = rule.groups.iter().filter(|group| !visible.contains(group)).copied();
    let hidden: Vec<NamespaceId> = hidden.filter(|_| !change.remove_hidden_groups).collect();
    let wanted = match &change.groups {
        Some(groups) => people.visible_groups(tx, scope.actor, &unique(groups.clone()))?,
        None => visible,
    };
    details.groups = unique(wanted.into_iter().chain(hidden).collect());
    if scope.merge_request.is_none() {
        details.all_protected = change.all_protected.unwrap_or(details.all_protected);
        if let Some(named) = &change.branches {
            details.branches = branches.protected(tx, scope.project, &unique(named.clone()))?;
        }
        if details.all_protected {
            details.branches.clear();
        }
    }
    Ok(details)
}

fn unique<T: Ord>(all: Vec<T>) -> Vec<T> {
    all.into_iter().collect::<BTreeSet<T>>().into_iter().collect()
}
