//! Approving and rejecting deployments that wait for it.

use std::collections::{BTreeSet, HashMap};

use db::Tx;
use kernel::{
    Ability as _, AccessLevel, Error, Grant, Result, Standing,
    ids::{DeploymentId, EnvironmentAccessId, EnvironmentId, JobId},
};

use super::{Approval, ApprovalState, ApprovalStatus, ApprovalStore as _};
use crate::{
    deployment::{
        Deployment, DeploymentStatus, DeploymentStep, DeploymentStore as _, actions::step,
    },
    environment::EnvironmentStore as _,
    policy::{ChangeDeployments, ReadDeployments},
    ports::Members,
    protection::{
        AccessRule, Holder, Protection,
        guard::{DeployRight, deploy_right_by, lets_in, protections_of},
    },
};

/// The longest comment.
const LONGEST: usize = 255;
/// Of what is said where no rule lets anybody.
const NO_RULE: EnvironmentAccessId = EnvironmentAccessId(0);

/// The decision of an approver.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub status: ApprovalStatus,
    pub comment: Option<String>,
    /// Name of the user, group or role by whose rule they may.
    pub represented_as: Option<String>,
}

/// The effect of an approval on the deployment job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// It waits on.
    None,
    /// It fails.
    Drop(JobId),
    /// It begins by itself.
    Enqueue(JobId),
}

/// How far the approvals of a deployment are.
pub fn state(
    tx: &mut Tx<'_>,
    members: &impl Members,
    deployment: &Deployment,
) -> Result<ApprovalState> {
    let environment = tx.environment(deployment.project_id, deployment.environment_id)?;
    let protections = match &environment {
        Some(environment) => protections_of(tx, members, environment)?,
        None => Vec::new(),
    };
    state_by(tx, &protections, deployment.id)
}

/// As [`state`], of many deployments by their environments: a fixed number of statements for each environment.
pub fn states(
    tx: &mut Tx<'_>,
    members: &impl Members,
    deployments: &[Deployment],
) -> Result<HashMap<DeploymentId, ApprovalState>> {
    let environments: BTreeSet<EnvironmentId> =
        deployments.iter().map(|one| one.environment_id).collect();
    let mut protections = HashMap::new();
    for environment in tx.environments_by_id(&Vec::from_iter(environments))? {
        protections.insert(environment.id, protections_of(tx, members, &environment)?);
    }
    let ids: Vec<DeploymentId> = deployments.iter().map(|one| one.id).collect();
    let mut approvals: HashMap<DeploymentId, Vec<Approval>> = HashMap::new();
    for approval in tx.approvals_of_all(&ids)? {
        approvals.entry(approval.deployment_id).or_default().push(approval);
    }
    let state = |one: &Deployment| {
        let protections = protections.get(&one.environment_id).map(Vec::as_slice);
        let own = approvals.remove(&one.id).unwrap_or_default();
        (one.id, ApprovalState::new(protections.unwrap_or_default(), own))
    };
    Ok(deployments.iter().map(state).collect())
}

fn state_by(
    tx: &mut Tx<'_>,
    protections: &[Protection],
    deployment: DeploymentId,
) -> Result<ApprovalState> {
    Ok(ApprovalState::new(protections, tx.approvals_of(deployment)?))
}

/// Whether a deployment needs approvals that it does not have.
pub fn is_missing(
    tx: &mut Tx<'_>,
    members: &impl Members,
    deployment: &Deployment,
) -> Result<bool> {
    let state = state(tx, members, deployment)?;
    Ok(state.is_configured() && state.pending() > 0)
}

/// Makes a deployment wait for approvals.
pub fn block(tx: &mut Tx<'_>, deployment: Deployment) -> Result<Deployment> {
    match deployment.status {
        DeploymentStatus::Created => step(tx, deployment, DeploymentStep::Block),
        _ => Ok(deployment),
    }
}

fn refused(text: &str) -> Error {
    Error::bad_request().whole(text.to_owned())
}

/// Approves or rejects a deployment; what the same person said by the same rule counts no more. `name_of` tells what the
/// holder of a rule is called.
///
/// # Errors
/// `BadRequest`, with the first reason that applies.
pub fn decide(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadDeployments>,
    members: &impl Members,
    id: DeploymentId,
    verdict: &Verdict,
    name_of: impl Fn(&mut Tx<'_>, Holder) -> Result<String>,
) -> Result<(Approval, Consequence)> {
    let user = grant.user()?;
    let deployment = tx.deployment(grant.project(), id)?.ok_or_else(Error::missing)?;
    let environment = tx.environment(grant.project(), deployment.environment_id)?;
    let environment = environment.ok_or_else(Error::missing)?;
    let protections = protections_of(tx, members, &environment)?;
    if protections.is_empty() {
        return Err(refused("This environment is not protected."));
    }
    if verdict.status == ApprovalStatus::Approved && deployment.user_id == Some(user) {
        return Err(refused("You cannot approve your own deployment."));
    }
    let state = state_by(tx, &protections, id)?;
    if !state.is_configured() {
        return Err(refused("Deployment approvals is not configured for this environment."));
    }
    if deployment.status != DeploymentStatus::Blocked {
        return Err(refused("This deployment is not waiting for approvals."));
    }
    let rules: Vec<AccessRule> = state.rules.into_iter().map(|one| one.rule).collect();
    let rule = by_rule(tx, grant, members, (&protections, &rules), verdict, name_of)?;
    let comment = verdict.comment.clone().filter(|comment| !comment.is_empty());
    if comment.as_ref().is_some_and(|comment| comment.chars().count() > LONGEST) {
        let text = format!("Comment is too long (maximum is {LONGEST} characters)");
        return Err(Error::bad_request().sentences(vec![text]));
    }
    let approval = keep(
        tx,
        Approval {
            deployment_id: id,
            user_id: user,
            rule_id: rule,
            status: verdict.status,
            comment,
            created_at: tx.now,
            updated_at: tx.now,
        },
    )?;
    let consequence = follow(tx, deployment, &protections, verdict.status)?;
    Ok((approval, consequence))
}

/// The same status once more changes nothing.
fn keep(tx: &mut Tx<'_>, new: Approval) -> Result<Approval> {
    let mut known = tx.approvals_of(new.deployment_id)?.into_iter();
    let own = known.find(|one| (one.user_id, one.rule_id) == (new.user_id, new.rule_id));
    if let Some(own) = own {
        if own.status == new.status {
            return Ok(own);
        }
        let new = Approval { created_at: own.created_at, ..new };
        tx.save_approval(&new)?;
        return Ok(new);
    }
    tx.save_approval(&new)?;
    Ok(new)
}

/// Whether somebody may approve deployments to an environment, as far as its protections, which are these, say it.
pub fn is_approver(
    tx: &mut Tx<'_>,
    members: &impl Members,
    who: &Standing,
    protections: &[Protection],
) -> Result<bool> {
    let rules = ApprovalState::new(protections, Vec::new()).rules;
    let rules: Vec<AccessRule> = rules.into_iter().map(|one| one.rule).collect();
    Ok(rules_for(tx, members, who, (protections, &rules))?.is_some())
}

/// The rules by which somebody may approve; nothing where none lets them. Where there are no rules, whoever may deploy
/// approves by none.
fn rules_for<'r>(
    tx: &mut Tx<'_>,
    members: &impl Members,
    who: &Standing,
    (protections, rules): (&[Protection], &'r [AccessRule]),
) -> Result<Option<Vec<&'r AccessRule>>> {
    if rules.is_empty() {
        let right = deploy_right_by(tx, members, who, protections)?;
        let may = ChangeDeployments::allows(who) && right != DeployRight::Refused;
        return Ok(may.then(Vec::new));
    }
    let mut fitting = Vec::new();
    for rule in rules {
        if lets_in(tx, members, who, rule)? {
            fitting.push(rule);
        }
    }
    Ok((!fitting.is_empty()).then_some(fitting))
}

/// The rule by which somebody may say something.
fn by_rule(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadDeployments>,
    members: &impl Members,
    (protections, rules): (&[Protection], &[AccessRule]),
    verdict: &Verdict,
    name_of: impl Fn(&mut Tx<'_>, Holder) -> Result<String>,
) -> Result<EnvironmentAccessId> {
    let denied = "You don't have permission to approve this deployment. Contact the project or group owner for help.";
    let fitting = rules_for(tx, members, grant.who(), (protections, rules))?;
    let Some(fitting) = fitting else { return Err(refused(denied)) };
    let Some(first) = fitting.first() else { return Ok(NO_RULE) };
    let Some(wanted) = verdict.represented_as.as_deref().filter(|name| !name.is_empty()) else {
        return Ok(first.id);
    };
    for rule in &fitting {
        if name_of(tx, rule.holder())? == wanted {
            return Ok(rule.id);
        }
    }
    Err(refused(
        "There are no approval rules for the given `represent_as` parameter. Use a valid User/Group/Role name instead.",
    ))
}

/// One rejection ends a deployment; enough approvals let it go on, by itself where no rules are set.
fn follow(
    tx: &mut Tx<'_>,
    deployment: Deployment,
    protections: &[Protection],
    status: ApprovalStatus,
) -> Result<Consequence> {
    let job = deployment.job_id;
    if status == ApprovalStatus::Rejected {
        return match job {
            Some(job) => Ok(Consequence::Drop(job)),
            None => step(tx, deployment, DeploymentStep::Drop).map(|_| Consequence::None),
        };
    }
    let state = state_by(tx, protections, deployment.id)?;
    if state.pending() > 0 {
        return Ok(Consequence::None);
    }
    step(tx, deployment, DeploymentStep::Unblock)?;
    match job {
        Some(job) if state.rules.is_empty() => Ok(Consequence::Enqueue(job)),
        _ => Ok(Consequence::None),
    }
}

/// What a role is called in rules.
pub fn role_name(level: AccessLevel) -> &'static str {
    match level {
        AccessLevel::Developer => "Developers + Maintainers",
        AccessLevel::Maintainer => "Maintainers",
        AccessLevel::Admin => "Administrators",
        _ => "No one",
    }
}
