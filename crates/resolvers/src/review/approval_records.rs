//! Approval states of merge requests, loaded for all of a query at once.

use std::{collections::HashMap, sync::Arc};

use db::Tx;
use entities::{
    org::brief_user::BriefUser,
    review::approval::{ApprovalStateEntity, RuleStateEntity},
};
use forge::{ports::approvals::Approvers, urls::Urls};
use graphql::gid;
use kernel::{
    Actor, Result,
    ids::{MergeRequestId, UserId},
};
use org::access::standings_of_one::in_projects;
use review::{
    approval::{ApprovalState, Rule, RuleState, RuleType, actions, states_of},
    merge_request::MergeRequestStore as _,
};

/// The approval state of a merge request for the caller.
pub struct Approvals {
    pub(super) approved_by: Vec<UserId>,
    pub(super) required: usize,
    pub(super) left: usize,
    pub(super) can_approve: bool,
    pub(super) overwritten: bool,
    pub(super) rules: Vec<Arc<RuleRecord>>,
}

/// An approval rule in a merge request.
pub struct RuleRecord {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) rule_type: RuleType,
    pub(super) required: i64,
    pub(super) approved: Option<bool>,
    pub(super) approved_by: Vec<BriefUser>,
    pub(super) eligible: Vec<BriefUser>,
    pub(super) users: Vec<BriefUser>,
    pub(super) has_hidden_groups: bool,
    pub(super) overridden: bool,
    pub(super) invalid: bool,
    pub(super) section: Option<String>,
    /// The rule of the project that it stands for.
    pub(super) source: Option<Arc<Self>>,
    /// Those whose approval counts.
    pub(super) approvers: Vec<UserId>,
}

/// The approvals of several merge requests, by their ids.
pub(super) fn all(
    tx: &mut Tx<'_>,
    urls: &Urls,
    actor: Actor,
    ids: &[MergeRequestId],
) -> Result<HashMap<MergeRequestId, Arc<Approvals>>> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let rows = tx.merge_requests_in_order(&ids)?;
    let mut states = states_of(tx, &Approvers, &rows)?;
    let projects: Vec<_> = rows.iter().map(|row| row.project_id).collect();
    let standings = in_projects(tx, actor, &projects)?;
    let mut found = HashMap::new();
    let mut known = Vec::with_capacity(rows.len());
    for row in rows {
        let (id, project) = (row.id, row.project_id);
        let Some(state) = states.remove(&id) else { continue };
        let Some(who) = standings.get(&project) else { continue };
        known.push(actions::shown_to(tx, who, row, state)?);
    }
    let weighed: Vec<&ApprovalState> = known.iter().map(|one| &one.state).collect();
    let entities = ApprovalStateEntity::all(tx, urls, actor, &weighed)?;
    for (approvals, entity) in known.iter().zip(entities) {
        let (id, state) = (approvals.request.id, &approvals.state);
        let rules = entity.rules.into_iter().zip(&state.rules);
        let approvals = Approvals {
            approved_by: state.approved_by.clone(),
            required: state.required(),
            left: state.left(),
            can_approve: approvals.can_approve,
            overwritten: state.overwritten,
            rules: rules.map(|(shown, state)| Arc::new(RuleRecord::new(shown, state))).collect(),
        };
        found.insert(id, Arc::new(approvals));
    }
    Ok(found)
}

impl RuleRecord {
    fn new(shown: RuleStateEntity, state: &RuleState) -> Self {
        Self {
            id: gid("ApprovalMergeRequestRule", shown.rule.id),
            name: shown.rule.name,
            rule_type: shown.rule.rule_type,
            required: shown.rule.approvals_required,
            approved: Some(shown.approved),
            approved_by: shown.approved_by,
            eligible: shown.rule.eligible_approvers,
            users: shown.rule.users,
            has_hidden_groups: shown.rule.contains_hidden_groups,
            overridden: shown.overridden,
            invalid: state.is_invalid(),
            section: shown.section,
            source: state.source.as_ref().map(|source| Arc::new(Self::of_project(source))),
            approvers: state.approvers.iter().copied().collect(),
        }
    }

    /// What a rule of a merge request tells of the project's rule that it stands for.
    fn of_project(source: &Rule) -> Self {
        Self {
            id: gid("ApprovalProjectRule", source.row.id),
            name: source.row.name.clone(),
            rule_type: source.row.rule_type,
            required: source.row.approvals_required,
            approved: None,
            approved_by: Vec::new(),
            eligible: Vec::new(),
            users: Vec::new(),
            has_hidden_groups: false,
            overridden: false,
            invalid: false,
            section: source.row.section.clone(),
            source: None,
            approvers: Vec::new(),
        }
    }
}
