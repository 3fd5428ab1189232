//! Loads the approval state of any number of merge requests with a fixed number of statements.

use std::collections::{BTreeSet, HashMap, HashSet};

use db::Tx;
use kernel::{
    Error, Result,
    ids::{MergeRequestId, NamespaceId, ProjectId, UserId},
};

use super::{
    model::{ApprovalSettings, Rule},
    ports::{Branches, Installation},
    rule_store::RuleStore as _,
    state::{ApprovalState, Case, evaluate},
    store::ApprovalStore as _,
};
use crate::{
    item::{hold, hold_merge_requests_in},
    merge_request::MergeRequest,
};

/// The approval settings that count in a project: its own, within what the installation decides for all.
pub(super) fn settings_in(
    tx: &mut Tx<'_>,
    installation: &impl Installation,
    project: ProjectId,
) -> Result<ApprovalSettings> {
    let locks = installation.approval_locks(tx)?;
    Ok(tx.approval_settings(project)?.within(locks))
}

/// How far one merge request is.
pub fn state_of(
    tx: &mut Tx<'_>,
    branches: &impl Branches,
    request: &MergeRequest,
) -> Result<ApprovalState> {
    let one = std::slice::from_ref(request);
    let mut all = states(tx, branches, request.project_id, one)?;
    all.pop().map(|(_, state)| state).ok_or_else(Error::missing)
}

/// How far these merge requests are, each by its id; those of one project are loaded together.
pub fn states_of(
    tx: &mut Tx<'_>,
    branches: &impl Branches,
    requests: &[MergeRequest],
) -> Result<HashMap<MergeRequestId, ApprovalState>> {
    let mut projects: HashMap<ProjectId, Vec<MergeRequest>> = HashMap::new();
    for request in requests {
        projects.entry(request.project_id).or_default().push(request.clone());
    }
    let mut all = HashMap::new();
    for (project, requests) in projects {
        all.extend(states(tx, branches, project, &requests)?);
    }
    Ok(all)
}

/// Works out anew which rules count and whether nobody has to approve any more, and keeps it.
pub fn refresh(
    tx: &mut Tx<'_>,
    branches: &impl Branches,
    request: &MergeRequest,
) -> Result<ApprovalState> {
    // Of two who approve at once, the second one sees what the first one did.
    hold(tx, request.id.into())?;
    let state = state_of(tx, branches, request)?;
    tx.save_approved(request.id, state.is_approved())?;
    tx.save_counting_rules(&[(request.id, state.counting())])?;
    Ok(state)
}

/// As [`refresh`], for all that is open in a project: what it wants has changed. What is closed is weighed when it is
/// opened again.
pub fn refresh_project(
    tx: &mut Tx<'_>,
    branches: &impl Branches,
    project: ProjectId,
) -> Result<()> {
    // Whoever approves one meanwhile waits.
    hold_merge_requests_in(tx, project)?;
    let requests = tx.approvable(project)?;
    let before: HashMap<MergeRequestId, bool> =
        requests.iter().map(|request| (request.id, request.approved)).collect();
    let states = states(tx, branches, project, &requests)?;
    let counting: Vec<_> = states.iter().map(|(id, state)| (*id, state.counting())).collect();
    tx.save_counting_rules(&counting)?;
    for (id, state) in states {
        let approved = state.is_approved();
        if before.get(&id) != Some(&approved) {
            tx.save_approved(id, approved)?;
        }
    }
    Ok(())
}

/// How far several of one project are, in their order.
fn states(
    tx: &mut Tx<'_>,
    branches: &impl Branches,
    project: ProjectId,
    requests: &[MergeRequest],
) -> Result<Vec<(MergeRequestId, ApprovalState)>> {
    if requests.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<MergeRequestId> = requests.iter().map(|request| request.id).collect();
    let settings = settings_in(tx, branches, project)?;
    let project_rules = tx.project_rules(project)?;
    let mut own_rules = tx.own_rules(&ids)?;
    let mut approvals = tx.approvals_of(&ids)?;
    let mut committers = tx.committers_of(&ids)?;
    let targets: HashSet<String> =
        requests.iter().map(|request| request.target_branch.clone()).collect();
    let scopes = branches.scopes(tx, project, &targets)?;
    let named = project_rules.iter().chain(own_rules.values().flatten());
    let groups: BTreeSet<NamespaceId> = named.flat_map(|rule| rule.groups.clone()).collect();
    let members = tx.group_members(&groups)?;
    let named: BTreeSet<UserId> = project_rules
        .iter()
        .chain(own_rules.values().flatten())
        .flat_map(|rule| rule.users.iter().copied())
        .chain(members.values().flatten().copied())
        .collect();
    let named: Vec<UserId> = named.into_iter().collect();
    let present = branches.members(tx, project, &named)?;
    let absent = named.into_iter().filter(|user| !present.contains(user)).collect();
    let state = |request: &MergeRequest| {
        let scope = scopes.get(&request.target_branch).cloned().unwrap_or_default();
        let approved = approvals.remove(&request.id).unwrap_or_default();
        let case = Case {
            settings,
            author: request.author_id,
            committers: committers.remove(&request.id).unwrap_or_default(),
            absent: &absent,
            approved_by: approved.into_iter().map(|approval| approval.user_id).collect(),
            target: &scope.protected,
            needs_code_owner: scope.needs_code_owner,
            project_rules: &project_rules,
            own_rules: own_rules.remove(&request.id).unwrap_or_default(),
        };
        (request.id, evaluate(case, |rule| members_of(rule, &members)))
    };
    Ok(requests.iter().map(state).collect())
}

/// Whom the groups of a rule hold.
pub(super) fn members_of(rule: &Rule, members: &HashMap<NamespaceId, Vec<UserId>>) -> Vec<UserId> {
    rule.groups.iter().filter_map(|group| members.get(group)).flatten().copied().collect()
}
