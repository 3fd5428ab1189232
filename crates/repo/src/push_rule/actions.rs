//! Reading, making, changing and removing push rules, and what a new project begins with.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    Error, Grant, Result, Ts,
    access::Administrate,
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, ProjectId},
};

use super::{
    model::{Owner, PushRule, Terms},
    store::PushRuleStore,
};
use crate::policy::{AdminGroupPushRule, AdminPushRule, ReadGroupPushRule, ReadPushRule};

const GROUP_HAS_ONE: &str = "Group push rule exists, try updating";
const PROJECT_HAS_ONE: &str = "Project push rule exists";
const INSTALLATION_HAS_ONE: &str = "Push rule exists, try updating";

/// Permission to read the push rule of somebody.
pub trait ReadPermission {
    fn owner(&self) -> Owner;
}

/// Permission to change it.
pub trait ChangePermission: ReadPermission {}

impl ReadPermission for Grant<ReadGroupPushRule> {
    fn owner(&self) -> Owner {
        Owner::Group(self.group())
    }
}

impl ReadPermission for Grant<AdminGroupPushRule> {
    fn owner(&self) -> Owner {
        Owner::Group(self.group())
    }
}
impl ChangePermission for Grant<AdminGroupPushRule> {}

impl ReadPermission for Grant<ReadPushRule> {
    fn owner(&self) -> Owner {
        Owner::Project(self.project())
    }
}

impl ReadPermission for Grant<AdminPushRule> {
    fn owner(&self) -> Owner {
        Owner::Project(self.project())
    }
}
impl ChangePermission for Grant<AdminPushRule> {}

impl ReadPermission for Grant<Administrate> {
    fn owner(&self) -> Owner {
        Owner::Installation
    }
}
impl ChangePermission for Grant<Administrate> {}

/// The rule, with everything that the installation says for it; `None` where there is none.
pub fn show(tx: &mut Tx<'_>, grant: &impl ReadPermission) -> Result<Option<PushRule>> {
    match tx.find_push_rule(grant.owner())? {
        Some(rule) => complete(tx, rule).map(Some),
        None => Ok(None),
    }
}

/// Makes the rule; `change` says in what it differs from one that demands nothing.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &impl ChangePermission,
    change: impl FnOnce(&mut Terms),
) -> Result<PushRule> {
    let owner = grant.owner();
    if tx.find_push_rule(owner)?.is_some() {
        let text = match owner {
            Owner::Group(_) => GROUP_HAS_ONE,
            Owner::Project(_) => PROJECT_HAS_ONE,
            Owner::Installation => INSTALLATION_HAS_ONE,
        };
        return Err(Error::conflict().whole(text.to_owned()));
    }
    let terms = changed(tx, owner, Terms::default(), change)?;
    let rule = tx.insert_push_rule(owner, &terms)?;
    record(tx, &rule, AuditRecord::addition("push_rule_created", place(owner), WHAT));
    complete(tx, rule)
}

const WHAT: &str = "push_rule";

fn place(owner: Owner) -> AuditPlace {
    match owner {
        Owner::Installation => AuditPlace::Instance,
        Owner::Group(group) => AuditPlace::Group(group),
        Owner::Project(project) => AuditPlace::Project(project),
    }
}

fn record(tx: &mut Tx<'_>, rule: &PushRule, action: AuditRecord) {
    tx.mention(action.target("PushRule", rule.id.0, "push rule"));
}

pub fn update(
    tx: &mut Tx<'_>,
    grant: &impl ChangePermission,
    change: impl FnOnce(&mut Terms),
) -> Result<PushRule> {
    let rule = tx.find_push_rule(grant.owner())?.ok_or_else(|| Error::not_found("Push Rule"))?;
    let before = rule.terms.clone();
    let terms = changed(tx, grant.owner(), rule.terms, change)?;
    let rule = tx.save_push_rule(rule.id, &terms)?;
    record_changes(tx, grant.owner(), (&before, &rule));
    complete(tx, rule)
}

/// Removes the rule, unless it was changed after `unmodified_since`.
///
/// # Errors
/// `NotFound` when there is none.
pub fn delete(
    tx: &mut Tx<'_>,
    grant: &impl ChangePermission,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let rule = tx.find_push_rule(grant.owner())?.ok_or_else(Error::missing)?;
    if unmodified_since.is_some_and(|since| rule.updated_at > since) {
        return Err(Error::precondition());
    }
    tx.delete_push_rule(rule.id)?;
    record(tx, &rule, AuditRecord::removal("push_rule_deleted", place(grant.owner()), WHAT));
    Ok(())
}

/// Writes down each requirement that changed, with both values.
fn record_changes(tx: &mut Tx<'_>, owner: Owner, (before, after): (&Terms, &PushRule)) {
    let pairs = before.named_values().into_iter().zip(after.terms.named_values());
    for ((name, from), (_, to)) in pairs.filter(|(old, new)| old != new) {
        let change = AuditRecord::change("push_rule_updated", place(owner), name);
        record(tx, after, change.values(from, to));
    }
}

/// Gives a new project its own copy of the rule of the nearest of `groups` that has one, else of the installation's.
pub fn begin(tx: &mut Tx<'_>, project: ProjectId, groups: &[NamespaceId]) -> Result<()> {
    let rules = if groups.is_empty() { Vec::new() } else { tx.push_rules_of_groups(groups)? };
    let of = |group: &NamespaceId| rules.iter().find(|rule| rule.namespace_id == Some(*group));
    let template = match groups.iter().find_map(of) {
        Some(rule) => Some(rule.terms.clone()),
        None => tx.find_push_rule(Owner::Installation)?.map(|rule| rule.terms),
    };
    match template {
        Some(terms) => tx.insert_push_rule(Owner::Project(project), &terms).map(drop),
        None => Ok(()),
    }
}

/// What pushes to a project must look like, with everything that the installation says; `None` without a rule.
pub fn enforced(tx: &mut Tx<'_>, project: ProjectId) -> Result<Option<Terms>> {
    match tx.find_push_rule(Owner::Project(project))? {
        Some(rule) => Ok(Some(complete(tx, rule)?.terms)),
        None => Ok(None),
    }
}

/// As [`enforced`], of several projects at once; those without a rule have no entry.
pub fn enforced_in(tx: &mut Tx<'_>, projects: &[ProjectId]) -> Result<HashMap<ProjectId, Terms>> {
    let rules = tx.push_rules_of_projects(projects)?;
    let installation = match rules.iter().any(|rule| rule.terms.is_open()) {
        true => tx.find_push_rule(Owner::Installation)?.map(|rule| rule.terms),
        false => None,
    };
    let terms = rules.into_iter().filter_map(|rule| {
        let above = installation.as_ref().filter(|_| rule.terms.is_open());
        Some((rule.project_id?, rule.terms.read_through(above)))
    });
    Ok(terms.collect())
}

/// Refuses a new branch whose name the project's rule does not allow. Here even the default branch must follow it.
pub fn ensure_branch_may_be_made(tx: &mut Tx<'_>, project: ProjectId, name: &str) -> Result<()> {
    let Some(rule) = tx.find_push_rule(Owner::Project(project))? else { return Ok(()) };
    super::judge::ensure_branch_may_be_made(&rule.terms, name)
}

fn changed(
    tx: &mut Tx<'_>,
    owner: Owner,
    mut terms: Terms,
    change: impl FnOnce(&mut Terms),
) -> Result<Terms> {
    change(&mut terms);
    terms.ensure_valid()?;
    if owner == Owner::Installation {
        return Ok(terms);
    }
    let installation = tx.find_push_rule(Owner::Installation)?;
    Ok(terms.left_open(installation.map(|rule| rule.terms).as_ref()))
}

fn complete(tx: &mut Tx<'_>, rule: PushRule) -> Result<PushRule> {
    let own = rule.project_id.is_none() && rule.namespace_id.is_none();
    let installation = match rule.terms.is_open() && !own {
        true => tx.find_push_rule(Owner::Installation)?.map(|rule| rule.terms),
        false => None,
    };
    let terms = rule.terms.read_through(installation.as_ref());
    Ok(PushRule { terms, ..rule })
}
