//! The commits of a merge request as far as approvals need them: authors and code owners.

use std::collections::HashSet;

use db::Tx;
use kernel::{
    Result,
    ids::{MergeRequestId, NamespaceId, UserId},
};

use super::{
    load::{members_of, refresh},
    model::{Rule, RuleType},
    ports::Branches,
    reset::take_back,
    rule_fields::Details,
    rule_store::RuleStore as _,
    state::ApprovalState,
    store::ApprovalStore as _,
};
use crate::{merge_request::MergeRequest, ports::People};

/// A code owners entry that matches changed files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerRule {
    pub pattern: String,
    pub section: String,
    pub approvals_required: i64,
    pub users: Vec<UserId>,
    pub groups: Vec<NamespaceId>,
    /// Whether the push that led to the look changed one of these files.
    pub pushed: bool,
}

/// The approval facts of a head commit.
#[derive(Clone, Debug, Default)]
pub struct HeadSnapshot {
    /// Authors and committers.
    pub committers: Vec<UserId>,
    pub owners: Vec<OwnerRule>,
}

/// Writes down what was seen. After a push (`pusher`) the approvals of those go whose files it changed, where the
/// project wants that.
pub fn note_head(
    tx: &mut Tx<'_>,
    branches: &impl Branches,
    people: &impl People,
    request: &MergeRequest,
    look: &HeadSnapshot,
    pusher: Option<UserId>,
) -> Result<ApprovalState> {
    tx.save_committers(request.id, &look.committers)?;
    tx.delete_code_owner_rules(request.id)?;
    for owners in &look.owners {
        tx.insert_rule(request.project_id, Some(request.id), None, &details(owners))?;
    }
    let settings = tx.approval_settings(request.project_id)?;
    if let Some(pusher) = pusher.filter(|_| settings.selective_removals) {
        let touched: HashSet<&str> = look
            .owners
            .iter()
            .filter(|owners| owners.pushed)
            .map(|owners| owners.pattern.as_str())
            .collect();
        let owners = owners_of(tx, request.id, &touched)?;
        take_back(tx, people, request, pusher, Some(&owners))?;
    }
    refresh(tx, branches, request)
}

fn details(owners: &OwnerRule) -> Details {
    Details {
        name: owners.pattern.clone(),
        rule_type: RuleType::CodeOwner,
        report_type: None,
        section: Some(owners.section.clone()),
        approvals_required: owners.approvals_required,
        all_protected: false,
        branches: Vec::new(),
        users: owners.users.clone(),
        groups: owners.groups.clone(),
    }
}

/// The owners, themselves and by groups, of what these patterns match.
fn owners_of(
    tx: &mut Tx<'_>,
    id: MergeRequestId,
    patterns: &HashSet<&str>,
) -> Result<HashSet<UserId>> {
    let rules = tx.own_rules(&[id])?.remove(&id).unwrap_or_default();
    let touched = |rule: &&Rule| {
        rule.row.rule_type == RuleType::CodeOwner && patterns.contains(rule.row.name.as_str())
    };
    let rules: Vec<Rule> = rules.iter().filter(touched).cloned().collect();
    let groups = rules.iter().flat_map(|rule| rule.groups.clone()).collect();
    let members = tx.group_members(&groups)?;
    let of_rule = |rule: &Rule| [rule.users.clone(), members_of(rule, &members)].concat();
    Ok(rules.iter().flat_map(of_rule).collect())
}
