//! Protecting branches and tags, changing that, and taking it back.

use db::Tx;
use kernel::{
    AccessLevel, Error, Grant, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{AccessRecordId, ProjectId},
    values::length_fault,
};

use super::{
    guard::Protection,
    model::{Access, AccessKind, BranchRule, Holder, TagRule},
    rule_store::{BranchRuleStore, NewBranchRule, TagRuleStore},
};
use crate::{policy::ProtectRefs, ports::Membership};

/// An index over names must hold them.
const LONGEST_NAME: usize = 255;

/// The access records of a new rule: a role, particular holders, or both. Neither means maintainers.
#[derive(Clone, Debug, Default)]
pub struct ProtectRequest {
    pub level: Option<AccessLevel>,
    pub holders: Vec<Holder>,
}

impl ProtectRequest {
    pub fn level(level: AccessLevel) -> Self {
        Self { level: Some(level), holders: Vec::new() }
    }

    fn records(&self) -> Vec<Holder> {
        match (self.level, self.holders.as_slice()) {
            (None, []) => vec![Holder::Role(AccessLevel::Maintainer)],
            (level, holders) => {
                level.map(Holder::Role).into_iter().chain(holders.iter().copied()).collect()
            }
        }
    }
}

/// A branch rule as it is asked for.
#[derive(Clone, Debug, Default)]
pub struct NewProtection {
    pub name: String,
    pub allow_force_push: bool,
    pub code_owner_approval_required: bool,
    pub push: ProtectRequest,
    pub merge: ProtectRequest,
    pub unprotect: ProtectRequest,
}

/// A change to one access record.
#[derive(Clone, Copy, Debug)]
pub enum AccessChange {
    Add(Holder),
    Set(AccessRecordId, Holder),
    Remove(AccessRecordId),
}

/// A change to a branch rule; records that are not named stay.
#[derive(Clone, Debug, Default)]
pub struct ProtectionChange {
    pub allow_force_push: Option<bool>,
    pub code_owner_approval_required: bool,
    pub push: Vec<AccessChange>,
    pub merge: Vec<AccessChange>,
    pub unprotect: Vec<AccessChange>,
}

/// Protects a branch, or all branches that a wildcard matches. The branch need not exist.
pub fn protect_branch(
    tx: &mut Tx<'_>,
    grant: &Grant<ProtectRefs>,
    members: &impl Membership,
    new: &NewProtection,
) -> Result<BranchRule> {
    let name = &new.name;
    if tx.find_branch_rule(grant.project(), name)?.is_some() {
        return Err(Error::conflict().whole(format!("Protected branch '{name}' already exists")));
    }
    let asked = [
        (AccessKind::Push, new.push.records()),
        (AccessKind::Merge, new.merge.records()),
        (AccessKind::Unprotect, new.unprotect.records()),
    ];
    let mut texts = name_faults(name);
    for (kind, holders) in &asked {
        for holder in holders {
            texts.extend(outsider(tx, members, grant.project(), title(*kind), *holder)?);
        }
    }
    refuse_all(texts)?;
    let row = NewBranchRule {
        project_id: grant.project(),
        name: name.clone(),
        allow_force_push: new.allow_force_push,
        code_owner_approval_required: new.code_owner_approval_required,
    };
    let rule = insert_branch(tx, &row, &asked)?;
    record_branch(
        tx,
        &rule,
        AuditRecord::addition("protected_branch_created", place(&rule), BRANCH),
    );
    Ok(rule)
}

pub(super) const BRANCH: &str = "protected_branch";

const TAG: &str = "protected_tag";

pub(super) fn place(rule: &BranchRule) -> AuditPlace {
    AuditPlace::Project(rule.branch.project_id)
}

/// Writes down who did it, with the roles that the rule names now.
pub(super) fn record_branch(tx: &mut Tx<'_>, rule: &BranchRule, action: AuditRecord) {
    let levels = |kind: AccessKind| -> String {
        let roles = rule.access(kind).iter().filter_map(|access| access.holder.role());
        roles.map(|role| role.number().to_string()).collect::<Vec<_>>().join(", ")
    };
    let told = action
        .detail("push_access_levels", levels(AccessKind::Push))
        .detail("merge_access_levels", levels(AccessKind::Merge))
        .detail("allow_force_push", rule.branch.allow_force_push.to_string());
    tx.mention(told.target("ProtectedBranch", rule.branch.id.0, &rule.branch.name));
}

pub(super) fn insert_branch(
    tx: &mut Tx<'_>,
    row: &NewBranchRule,
    asked: &[(AccessKind, Vec<Holder>)],
) -> Result<BranchRule> {
    let branch = tx.insert_branch_rule(row)?;
    let mut rule = BranchRule { branch, push: vec![], merge: vec![], unprotect: vec![] };
    for (kind, holders) in asked {
        for holder in holders {
            let access = tx.insert_branch_access(rule.branch.id, *kind, *holder)?;
            rule.access_mut(*kind).push(access);
        }
    }
    Ok(rule)
}

/// Changes a branch rule. What changes nothing leaves no trace.
pub fn update_branch(
    tx: &mut Tx<'_>,
    grant: &Grant<ProtectRefs>,
    members: &impl Membership,
    name: &str,
    change: &ProtectionChange,
) -> Result<BranchRule> {
    let before = changeable(tx, grant, name)?;
    let mut rule = before.clone();
    let mut texts = Vec::new();
    for (kind, changes) in [
        (AccessKind::Push, &change.push),
        (AccessKind::Merge, &change.merge),
        (AccessKind::Unprotect, &change.unprotect),
    ] {
        for one in changes {
            texts.extend(change_access(tx, members, &mut rule, kind, *one)?);
        }
    }
    refuse_all(texts)?;
    let branch = &mut rule.branch;
    branch.allow_force_push = change.allow_force_push.unwrap_or(branch.allow_force_push);
    branch.code_owner_approval_required = change.code_owner_approval_required;
    if rule.is_same_as(&before) {
        return Ok(before);
    }
    let branch = &mut rule.branch;
    branch.updated_at = tx.now;
    tx.update_branch_rule(branch)?;
    record_branch(tx, &rule, AuditRecord::change("protected_branch_updated", place(&rule), BRANCH));
    Ok(rule)
}

/// Carries out one change; answers why it cannot be.
fn change_access(
    tx: &mut Tx<'_>,
    members: &impl Membership,
    rule: &mut BranchRule,
    kind: AccessKind,
    change: AccessChange,
) -> Result<Vec<String>> {
    let project = rule.branch.project_id;
    let place = |id| rule.access(kind).iter().position(|access| access.id == id);
    match change {
        AccessChange::Add(holder) => {
            let mut texts = taken(title(kind), rule.access(kind), None, holder);
            texts.extend(outsider(tx, members, project, title(kind), holder)?);
            if !texts.is_empty() {
                return Ok(texts);
            }
            let access = tx.insert_branch_access(rule.branch.id, kind, holder)?;
            rule.access_mut(kind).push(access);
            Ok(texts)
        }
        AccessChange::Set(id, holder) => {
            let place = place(id).ok_or_else(Error::missing)?;
            let mut texts = taken(title(kind), rule.access(kind), Some(id), holder);
            texts.extend(outsider(tx, members, project, title(kind), holder)?);
            if !texts.is_empty() {
                return Ok(texts);
            }
            tx.update_branch_access(id, holder)?;
            rule.access_mut(kind)[place].holder = holder;
            Ok(texts)
        }
        AccessChange::Remove(id) => {
            let place = place(id).ok_or_else(Error::missing)?;
            tx.delete_branch_access(id)?;
            rule.access_mut(kind).remove(place);
            Ok(Vec::new())
        }
    }
}

/// Takes a branch rule away, unless it changed after `unmodified_since`.
pub fn unprotect_branch(
    tx: &mut Tx<'_>,
    grant: &Grant<ProtectRefs>,
    name: &str,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let rule = changeable(tx, grant, name)?;
    if unmodified_since.is_some_and(|since| rule.branch.updated_at > since) {
        return Err(Error::precondition());
    }
    tx.delete_branch_rule(rule.branch.id)?;
    record_branch(
        tx,
        &rule,
        AuditRecord::removal("protected_branch_removed", place(&rule), BRANCH),
    );
    Ok(())
}

/// The rule of this name, where its own records let the caller change it.
fn changeable(tx: &mut Tx<'_>, grant: &Grant<ProtectRefs>, name: &str) -> Result<BranchRule> {
    let rule = tx.find_branch_rule(grant.project(), name)?.ok_or_else(Error::missing)?;
    let protection = Protection::load(tx, grant.who(), grant.project())?;
    if protection.may_unprotect(&rule) { Ok(rule) } else { Err(Error::forbidden()) }
}

/// Protects a tag, or all tags that a wildcard matches.
pub fn protect_tag(
    tx: &mut Tx<'_>,
    grant: &Grant<ProtectRefs>,
    members: &impl Membership,
    name: &str,
    asked: &ProtectRequest,
) -> Result<TagRule> {
    let mut texts = name_faults(name);
    if tx.find_tag_rule(grant.project(), name)?.is_some() {
        texts.push("Name has already been taken".to_owned());
    }
    let holders = asked.records();
    for holder in &holders {
        texts.extend(outsider(tx, members, grant.project(), "Create", *holder)?);
    }
    refuse_all(texts)?;
    let tag = tx.insert_tag_rule(grant.project(), name)?;
    let create: Result<Vec<Access>> =
        holders.into_iter().map(|holder| tx.insert_tag_access(tag.id, holder)).collect();
    let create = create?;
    let project = AuditPlace::Project(grant.project());
    let made = AuditRecord::addition("protected_tag_created", project, TAG);
    tx.mention(made.target("ProtectedTag", tag.id.0, &tag.name));
    Ok(TagRule { tag, create })
}

/// Takes a tag rule away, unless it changed after `unmodified_since`.
pub fn unprotect_tag(
    tx: &mut Tx<'_>,
    grant: &Grant<ProtectRefs>,
    name: &str,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let rule = tx.find_tag_rule(grant.project(), name)?.ok_or_else(Error::missing)?;
    if unmodified_since.is_some_and(|since| rule.tag.updated_at > since) {
        return Err(Error::precondition());
    }
    tx.delete_tag_rule(rule.tag.id)?;
    let project = AuditPlace::Project(grant.project());
    let gone = AuditRecord::removal("protected_tag_removed", project, TAG);
    tx.mention(gone.target("ProtectedTag", rule.tag.id.0, &rule.tag.name));
    Ok(())
}

fn refuse_all(texts: Vec<String>) -> Result<()> {
    if texts.is_empty() { Ok(()) } else { Err(Error::unprocessable().sentences(texts)) }
}

fn name_faults(name: &str) -> Vec<String> {
    let fault = match name.trim() {
        "" => Some("can't be blank".to_owned()),
        _ => length_fault(name, LONGEST_NAME),
    };
    fault.into_iter().map(|fault| format!("Name {fault}")).collect()
}

fn title(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Push => "Push",
        AccessKind::Merge => "Merge",
        AccessKind::Unprotect => "Unprotect",
    }
}

/// Why `holder` cannot have a record: somebody who has nothing to do with the project.
fn outsider(
    tx: &mut Tx<'_>,
    members: &impl Membership,
    project: ProjectId,
    title: &str,
    holder: Holder,
) -> Result<Option<String>> {
    let fault = match holder {
        Holder::User(user) if !members.is_member(tx, project, user)? => {
            "user is not a member of the project"
        }
        Holder::Group(group) if !members.is_invited(tx, project, group)? => {
            "group does not have access to the project"
        }
        _ => return Ok(None),
    };
    Ok(Some(format!("{title} access levels {fault}")))
}

/// Why `holder` cannot have another record; the record that is being changed does not count.
fn taken(
    title: &str,
    stored: &[Access],
    changed: Option<AccessRecordId>,
    holder: Holder,
) -> Vec<String> {
    let word = match holder {
        Holder::Role(_) => "access level",
        Holder::User(_) => "user",
        Holder::Group(_) => "group",
    };
    let mut others = stored.iter().filter(|access| Some(access.id) != changed);
    let taken = others.any(|access| access.holder == holder);
    taken
        .then(|| format!("{title} access levels {word} has already been taken"))
        .into_iter()
        .collect()
}
