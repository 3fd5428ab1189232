//! The rules of a project.

use std::collections::{BTreeSet, HashMap};

use db::Tx;
use kernel::{
    Actor, Error, Grant, Result, Ts,
    ids::{ApprovalRuleId, NamespaceId, ProjectId, UserId},
    page::{Page, PageRequest},
};

use super::{
    load::{members_of, refresh_project},
    model::Rule,
    ports::{Branches, People},
    rule_event::{RuleEvent, RuleFact},
    rule_fields::{NewRule, RuleChange, Scope, details_after, details_of_new},
    rule_store::RuleStore as _,
};
use crate::policy::{AdminApprovals, ReadApprovals};

/// A page of a project's rules, the oldest first.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadApprovals>,
    page: PageRequest,
) -> Result<Page<Rule>> {
    Ok(page.slice(tx.project_rules(grant.project())?))
}

pub fn read(tx: &mut Tx<'_>, grant: &Grant<ReadApprovals>, id: ApprovalRuleId) -> Result<Rule> {
    one(tx, grant.project(), id)
}

/// Makes a rule.
///
/// # Errors
/// `BadRequest` for a name that another rule of its type has, too many approvals, or a second rule for everybody.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminApprovals>,
    people: &impl People,
    branches: &impl Branches,
    new: &NewRule,
) -> Result<Rule> {
    let scope = scope(grant);
    let details = details_of_new(tx, scope, people, branches, new)?;
    details.check(scope, &tx.project_rules(scope.project)?, None)?;
    let id = tx.insert_rule(scope.project, None, None, &details)?;
    refresh_project(tx, branches, scope.project)?;
    let made = one(tx, scope.project, id)?;
    tx.emit(RuleEvent::RuleCreated(RuleFact::new(&made, grant.user()?)))?;
    Ok(made)
}

/// Changes a rule; what is not among the parameters stays.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminApprovals>,
    people: &impl People,
    branches: &impl Branches,
    id: ApprovalRuleId,
    change: &RuleChange,
) -> Result<Rule> {
    let scope = scope(grant);
    let rule = one(tx, scope.project, id)?;
    let details = details_after(tx, scope, people, branches, &rule, change)?;
    details.check(scope, &tx.project_rules(scope.project)?, Some(id))?;
    tx.save_rule(id, &details)?;
    refresh_project(tx, branches, scope.project)?;
    let kept = one(tx, scope.project, id)?;
    if !kept.is_same_as(&rule) {
        tx.emit(RuleEvent::RuleUpdated(RuleFact::new(&kept, grant.user()?)))?;
    }
    Ok(kept)
}

/// Removes a rule, where it did not change since a moment.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminApprovals>,
    branches: &impl Branches,
    id: ApprovalRuleId,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let rule = one(tx, grant.project(), id)?;
    rule.row.updated_at.ensure_unchanged_since(unless_newer)?;
    tx.delete_rule(id)?;
    refresh_project(tx, branches, grant.project())?;
    tx.emit(RuleEvent::RuleRemoved(RuleFact::new(&rule, grant.user()?)))
}

fn scope(grant: &Grant<AdminApprovals>) -> Scope {
    Scope { project: grant.project(), merge_request: None, actor: grant.actor() }
}

fn one(tx: &mut Tx<'_>, project: ProjectId, id: ApprovalRuleId) -> Result<Rule> {
    let rules = tx.project_rules(project)?;
    rules.into_iter().find(|rule| rule.row.id == id).ok_or_else(Error::missing)
}

/// The approvers and groups of rules that a reader may see.
#[derive(Clone, Debug, Default)]
pub struct VisibleApprovers {
    members: HashMap<NamespaceId, Vec<UserId>>,
    visible: BTreeSet<NamespaceId>,
}

impl VisibleApprovers {
    /// For all rules of a page at once.
    pub fn of<'a>(
        tx: &mut Tx<'_>,
        people: &impl People,
        actor: Actor,
        rules: impl Iterator<Item = &'a Rule>,
    ) -> Result<Self> {
        let groups: BTreeSet<NamespaceId> = rules.flat_map(|rule| rule.groups.clone()).collect();
        let members = tx.group_members(&groups)?;
        let groups: Vec<NamespaceId> = groups.into_iter().collect();
        let visible = people.visible_groups(tx, actor, &groups)?.into_iter().collect();
        Ok(Self { members, visible })
    }

    /// Whom a rule names, and whom its groups hold.
    pub fn approvers(&self, rule: &Rule) -> BTreeSet<UserId> {
        rule.users.iter().copied().chain(members_of(rule, &self.members)).collect()
    }

    pub fn groups<'a>(&'a self, rule: &'a Rule) -> impl Iterator<Item = NamespaceId> + 'a {
        rule.groups.iter().copied().filter(|group| self.visible.contains(group))
    }

    pub fn has_hidden_groups(&self, rule: &Rule) -> bool {
        rule.groups.iter().any(|group| !self.visible.contains(group))
    }
}
