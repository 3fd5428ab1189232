//! The check whether a user may deploy to an environment.

use db::Tx;
use kernel::{AccessLevel, Error, Result, Standing, TextEnum as _, ids::ProjectId};

use super::{AccessRule, Holder, Protection, ProtectionStore as _, RuleKind};
use crate::{environment::Environment, ports::Members};

/// A user's permissions on a protected environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeployRight {
    /// It is not protected.
    Free,
    /// It is protected, and the user may deploy.
    Deployer,
    Refused,
}

/// The protections that apply to an environment.
pub fn protections_of(
    tx: &mut Tx<'_>,
    members: &impl Members,
    environment: &Environment,
) -> Result<Vec<Protection>> {
    let groups = members.groups_above(tx, environment.project_id)?;
    let tier = environment.tier.as_str();
    tx.protections_for(environment.project_id, &environment.name, &groups, tier)
}

/// As [`protections_of`], of several environments of a project, in their order.
pub fn protections_of_each(
    tx: &mut Tx<'_>,
    members: &impl Members,
    project: ProjectId,
    environments: &[Environment],
) -> Result<Vec<Vec<Protection>>> {
    let groups = members.groups_above(tx, project)?;
    let names: Vec<&str> = environments.iter().map(|one| one.name.as_str()).collect();
    let all = tx.protections_among(project, &names, &groups)?;
    let own = |one: &Environment| -> Vec<Protection> {
        all.iter().filter(|protection| protection.environment.is_of(one)).cloned().collect()
    };
    Ok(environments.iter().map(own).collect())
}

pub fn deploy_right(
    tx: &mut Tx<'_>,
    members: &impl Members,
    who: &Standing,
    environment: &Environment,
) -> Result<DeployRight> {
    let all = protections_of(tx, members, environment)?;
    deploy_right_by(tx, members, who, &all)
}

/// As [`deploy_right`], by the protections of an environment.
pub(crate) fn deploy_right_by(
    tx: &mut Tx<'_>,
    members: &impl Members,
    who: &Standing,
    protections: &[Protection],
) -> Result<DeployRight> {
    if protections.is_empty() {
        return Ok(DeployRight::Free);
    }
    for protection in protections {
        if !is_any(tx, members, who, protection.of(RuleKind::Deploy))? {
            return Ok(DeployRight::Refused);
        }
    }
    Ok(DeployRight::Deployer)
}

/// Which environments of a project somebody may deploy to, by a fixed number of statements beside those about groups in
/// the rules.
pub fn open_to(
    tx: &mut Tx<'_>,
    members: &impl Members,
    who: &Standing,
    project: ProjectId,
    environments: &[Environment],
) -> Result<Vec<bool>> {
    let groups = members.groups_above(tx, project)?;
    let names: Vec<&str> = environments.iter().map(|one| one.name.as_str()).collect();
    let mut shut = Vec::new();
    for protection in tx.protections_among(project, &names, &groups)? {
        if !is_any(tx, members, who, protection.of(RuleKind::Deploy))? {
            shut.push(protection.environment);
        }
    }
    let is_shut = |one: &Environment| shut.iter().any(|protected| protected.is_of(one));
    Ok(environments.iter().map(|one| !is_shut(one)).collect())
}

/// Refuses whoever may not deploy to an environment.
pub fn ensure_may_deploy(
    tx: &mut Tx<'_>,
    members: &impl Members,
    who: &Standing,
    environment: &Environment,
) -> Result<()> {
    match deploy_right(tx, members, who, environment)? {
        DeployRight::Free | DeployRight::Deployer => Ok(()),
        DeployRight::Refused => Err(Error::forbidden()),
    }
}

fn is_any<'r>(
    tx: &mut Tx<'_>,
    members: &impl Members,
    who: &Standing,
    rules: impl Iterator<Item = &'r AccessRule>,
) -> Result<bool> {
    for rule in rules {
        if lets_in(tx, members, who, rule)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an access rule covers a user.
pub fn lets_in(
    tx: &mut Tx<'_>,
    members: &impl Members,
    who: &Standing,
    rule: &AccessRule,
) -> Result<bool> {
    let Some(user) = who.actor.id else { return Ok(false) };
    if who.admin() {
        return Ok(true);
    }
    match rule.holder() {
        Holder::Role(AccessLevel::Admin) => Ok(false),
        Holder::Role(level) => Ok(who.is(level)),
        Holder::User(one) => Ok(one == user),
        Holder::Group(group) => members.is_in_group(tx, user, group, rule.with_inherited),
    }
}
