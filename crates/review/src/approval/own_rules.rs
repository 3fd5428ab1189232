//! The rules of one merge request.

use db::Tx;
use kernel::{Error, Faults, Grant, Result, Ts, ids::ApprovalRuleId};

use super::{
    actions::{Approvals, shown},
    load::{refresh, settings_in},
    model::{Rule, RuleType},
    ports::{Branches, People},
    rule_event::{RuleEvent, RuleFact},
    rule_fields::{
        Details, NewRule, RuleChange, Scope, details_after, details_of_new, faults_of_count,
    },
    rule_store::RuleStore as _,
};
use crate::{
    merge_request::{MergeRequest, actions::find, change::may_update},
    policy::ReadMergeRequests,
};

const NO_OVERRIDING: &str = "Overriding approvals is disabled";

/// The rules of a merge request itself, with those of its project that they were made from.
#[derive(Clone, Debug)]
pub struct OwnRules {
    pub rules: Vec<Rule>,
    pub sources: Vec<Rule>,
}

impl OwnRules {
    /// The rule of the project that one of these was made from.
    pub fn source(&self, rule: &Rule) -> Option<&Rule> {
        self.sources.iter().find(|source| Some(source.row.id) == rule.row.source_rule_id)
    }
}

pub fn list(tx: &mut Tx<'_>, grant: &Grant<ReadMergeRequests>, iid: i64) -> Result<OwnRules> {
    let request = find(tx, grant, iid)?;
    Ok(OwnRules { rules: own(tx, &request)?, sources: tx.project_rules(request.project_id)? })
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    iid: i64,
    id: ApprovalRuleId,
) -> Result<OwnRules> {
    let mut all = list(tx, grant, iid)?;
    all.rules.retain(|rule| rule.row.id == id);
    if all.rules.is_empty() { Err(Error::missing()) } else { Ok(all) }
}

/// Makes a rule for this merge request alone, after one of the project or anew.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    people: &impl People,
    branches: &impl Branches,
    iid: i64,
    new: &NewRule,
    after: Option<ApprovalRuleId>,
) -> Result<OwnRules> {
    let (request, scope) = changeable(tx, grant, branches, iid)?;
    let source = match after {
        None => None,
        Some(id) => {
            let rules = tx.project_rules(request.project_id)?;
            Some(rules.into_iter().find(|rule| rule.row.id == id).ok_or_else(Error::missing)?)
        }
    };
    let details = match &source {
        Some(source) => Details {
            approvals_required: new.approvals_required,
            all_protected: false,
            branches: Vec::new(),
            ..Details::of(source)
        },
        None => details_of_new(tx, scope, people, branches, new)?,
    };
    details.check(scope, &own(tx, &request)?, None)?;
    let id = tx.insert_rule(request.project_id, Some(request.id), after, &details)?;
    refresh(tx, branches, &request)?;
    announced(tx, grant, iid, id, None)
}

pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    people: &impl People,
    branches: &impl Branches,
    iid: i64,
    id: ApprovalRuleId,
    change: &RuleChange,
) -> Result<OwnRules> {
    let (request, scope) = changeable(tx, grant, branches, iid)?;
    let rule = made_by_people(tx, &request, id)?;
    let details = details_after(tx, scope, people, branches, &rule, change)?;
    details.check(scope, &own(tx, &request)?, Some(id))?;
    tx.save_rule(id, &details)?;
    refresh(tx, branches, &request)?;
    announced(tx, grant, iid, id, Some(&rule))
}

pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    branches: &impl Branches,
    iid: i64,
    id: ApprovalRuleId,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let (request, _) = changeable(tx, grant, branches, iid)?;
    let rule = made_by_people(tx, &request, id)?;
    rule.row.updated_at.ensure_unchanged_since(unless_newer)?;
    tx.delete_rule(id)?;
    refresh(tx, branches, &request)?;
    tx.emit(RuleEvent::RuleRemoved(RuleFact::new(&rule, grant.user()?)))
}

/// The rule as it is now, which others are told of where it is new or another than before.
fn announced(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    iid: i64,
    id: ApprovalRuleId,
    before: Option<&Rule>,
) -> Result<OwnRules> {
    let shown = read(tx, grant, iid, id)?;
    for rule in &shown.rules {
        let fact = RuleFact::new(rule, grant.user()?);
        match before {
            None => tx.emit(RuleEvent::RuleCreated(fact))?,
            Some(before) if before.is_same_as(rule) => {}
            Some(_) => tx.emit(RuleEvent::RuleUpdated(fact))?,
        }
    }
    Ok(shown)
}

/// The older way to say how many have to approve this one merge request.
///
/// # Errors
/// `Forbidden` for those who may not change it, `Unprocessable` where the project's rules are not to be replaced.
pub fn require(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    branches: &impl Branches,
    iid: i64,
    required: i64,
) -> Result<Approvals> {
    let request = find(tx, grant, iid)?;
    if !may_update(tx, grant.who(), &request)? {
        return Err(Error::forbidden());
    }
    if settings_in(tx, branches, request.project_id)?.no_overriding {
        return Err(Error::unprocessable().whole(NO_OVERRIDING));
    }
    let old = own(tx, &request)?;
    let rule = require_any(tx, &request, required)?;
    announced(tx, grant, iid, rule, old.iter().find(|old| old.row.id == rule))?;
    let state = refresh(tx, branches, &request)?;
    shown(tx, grant, request, state)
}

/// Makes the rule of a merge request that everybody's approval counts for ask for so many; tells which one that is.
pub fn require_any(
    tx: &mut Tx<'_>,
    request: &MergeRequest,
    required: i64,
) -> Result<ApprovalRuleId> {
    let mut faults = Faults::default();
    faults_of_count(&mut faults, required);
    faults.into_result()?;
    let rules = own(tx, request)?;
    let any = rules.iter().find(|rule| rule.row.rule_type == RuleType::AnyApprover);
    match any {
        Some(rule) => {
            let details = Details { approvals_required: required, ..Details::of(rule) };
            tx.save_rule(rule.row.id, &details)?;
            Ok(rule.row.id)
        }
        None => {
            let details = Details::of_any(required);
            let source = tx.project_rules(request.project_id)?;
            let source = source.iter().find(|rule| rule.row.rule_type == RuleType::AnyApprover);
            let source = source.map(|rule| rule.row.id);
            tx.insert_rule(request.project_id, Some(request.id), source, &details)
        }
    }
}

fn own(tx: &mut Tx<'_>, request: &MergeRequest) -> Result<Vec<Rule>> {
    Ok(tx.own_rules(&[request.id])?.remove(&request.id).unwrap_or_default())
}

/// The merge request, where the caller may change its rules.
fn changeable(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadMergeRequests>,
    branches: &impl Branches,
    iid: i64,
) -> Result<(MergeRequest, Scope)> {
    let request = find(tx, grant, iid)?;
    let kept = settings_in(tx, branches, request.project_id)?.no_overriding;
    if kept || !may_update(tx, grant.who(), &request)? {
        return Err(Error::forbidden());
    }
    let scope = Scope {
        project: request.project_id,
        merge_request: Some(request.id),
        actor: grant.actor(),
    };
    Ok((request, scope))
}

/// What a file or a report asks for is nobody's to change.
fn made_by_people(tx: &mut Tx<'_>, request: &MergeRequest, id: ApprovalRuleId) -> Result<Rule> {
    let rule = own(tx, request)?.into_iter().find(|rule| rule.row.id == id);
    let rule = rule.ok_or_else(Error::missing)?;
    if rule.is_user_defined() { Ok(rule) } else { Err(Error::forbidden()) }
}
