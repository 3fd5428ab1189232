//! Branch rules by a level alone: of default branches, and by the older endpoint.

use db::Tx;
use kernel::{AccessLevel, Grant, Result, audit::AuditRecord, error::Kind, ids::ProjectId};

use super::{
    actions::{BRANCH, insert_branch, place, record_branch, unprotect_branch},
    model::{AccessKind, Holder},
    rule_store::{BranchRuleStore as _, NewBranchRule},
};
use crate::policy::ProtectRefs;

/// The older way to protect a branch: developers or maintainers push, and likewise merge. `None` leaves as it is.
pub fn protect_for_developers(
    tx: &mut Tx<'_>,
    grant: &Grant<ProtectRefs>,
    name: &str,
    developers_can_push: Option<bool>,
    developers_can_merge: Option<bool>,
) -> Result<()> {
    let level = |developers: bool| {
        if developers { AccessLevel::Developer } else { AccessLevel::Maintainer }
    };
    let asked = [
        (AccessKind::Push, developers_can_push.map(level)),
        (AccessKind::Merge, developers_can_merge.map(level)),
    ];
    let Some(rule) = tx.find_branch_rule(grant.project(), name)? else {
        let of = |level: Option<AccessLevel>| {
            vec![Holder::Role(level.unwrap_or(AccessLevel::Maintainer))]
        };
        let mut asked = asked.map(|(kind, level)| (kind, of(level))).to_vec();
        asked.push((AccessKind::Unprotect, of(None)));
        let rule = insert_branch(tx, &plain_rule(grant.project(), name), &asked)?;
        let made = AuditRecord::addition("protected_branch_created", place(&rule), BRANCH);
        record_branch(tx, &rule, made);
        return Ok(());
    };
    for (kind, level) in asked {
        let Some(level) = level else { continue };
        for access in rule.access(kind).iter().filter(|access| access.holder.role().is_some()) {
            tx.delete_branch_access(access.id)?;
        }
        tx.insert_branch_access(rule.branch.id, kind, Holder::Role(level))?;
    }
    tx.update_branch_rule(&rule.branch)?;
    let changed = AuditRecord::change("protected_branch_updated", place(&rule), BRANCH);
    tx.mention(changed.target("ProtectedBranch", rule.branch.id.0, name));
    Ok(())
}

/// Takes away the rule of exactly this name, where there is one.
pub fn unprotect_if_protected(
    tx: &mut Tx<'_>,
    grant: &Grant<ProtectRefs>,
    name: &str,
) -> Result<()> {
    match unprotect_branch(tx, grant, name, None) {
        Err(absent) if absent.kind == Kind::NotFound => Ok(()),
        done => done,
    }
}

/// The protection of a new repository's default branch, as groups and the installation set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultProtection {
    None,
    DevelopersPush,
    Full,
    DevelopersMerge,
    /// As `Full`; developers may make the first push.
    FullAfterFirstPush,
}

impl DefaultProtection {
    /// From its number in settings; whatever is unknown counts as full.
    pub fn of_number(number: i64) -> Self {
        match number {
            0 => Self::None,
            1 => Self::DevelopersPush,
            3 => Self::DevelopersMerge,
            4 => Self::FullAfterFirstPush,
            _ => Self::Full,
        }
    }
}

/// Protects the branch that has just become the default one, unless a rule matches it already.
pub fn protect_default_branch(
    tx: &mut Tx<'_>,
    project: ProjectId,
    name: &str,
    level: DefaultProtection,
) -> Result<()> {
    use AccessLevel::{Developer, Maintainer};
    let (push, merge) = match level {
        DefaultProtection::None => return Ok(()),
        DefaultProtection::DevelopersPush => (Developer, Maintainer),
        DefaultProtection::DevelopersMerge => (Maintainer, Developer),
        DefaultProtection::Full | DefaultProtection::FullAfterFirstPush => (Maintainer, Maintainer),
    };
    if super::guard::is_branch_protected(tx, project, name)? {
        return Ok(());
    }
    let asked = [
        (AccessKind::Push, vec![Holder::Role(push)]),
        (AccessKind::Merge, vec![Holder::Role(merge)]),
        (AccessKind::Unprotect, vec![Holder::Role(Maintainer)]),
    ];
    insert_branch(tx, &plain_rule(project, name), &asked)?;
    Ok(())
}

fn plain_rule(project_id: ProjectId, name: &str) -> NewBranchRule {
    NewBranchRule {
        project_id,
        name: name.to_owned(),
        allow_force_push: false,
        code_owner_approval_required: false,
    }
}
