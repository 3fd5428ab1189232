//! Use cases of runners.

use std::collections::HashSet;

use db::Tx;
use kernel::{
    AccessLevel::{Maintainer, Owner},
    Actor, Error, Grant, Result, Ts,
    access::Administrate,
    audit::{AuditPlace, AuditRecord},
    ids::{NamespaceId, ProjectId, RunnerId},
    page::{Page, PageRequest},
};

use super::{
    Attributes, NewToken, Runner, RunnerFilter, RunnerLimits, RunnerListStore as _, RunnerScope,
    RunnerStore as _, RunnerType, ensure_room, register,
};
use crate::{
    Event,
    manager::{Manager, ManagerStore as _},
    policy::{AdminProjectRunners, ReadGroupRunners, ReadProjectRunners, UseRunners},
    ports::{Roles, TokenLifetimes},
};

const NO_ACCESS: &str = "No access granted";

fn no_access() -> Error {
    Error::forbidden().because(NO_ACCESS)
}

fn find(tx: &mut Tx<'_>, id: RunnerId) -> Result<Runner> {
    tx.find_runner(id)?.ok_or_else(|| Error::not_found("Runner"))
}

/// A page of the runners that the caller may manage.
pub fn list_own(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    roles: &impl Roles,
    filter: &RunnerFilter,
    page: PageRequest,
) -> Result<Page<Runner>> {
    let actor = grant.actor();
    let places = RunnerScope {
        projects: roles.projects(tx, actor, Maintainer)?,
        groups: roles.groups(tx, actor, Owner)?,
        instance: false,
    };
    tx.runners(Some(&places), filter, page)
}

/// A page of all runners.
pub fn list_all(
    tx: &mut Tx<'_>,
    _grant: &Grant<Administrate>,
    filter: &RunnerFilter,
    page: PageRequest,
) -> Result<Page<Runner>> {
    tx.runners(None, filter, page)
}

/// A page of the runners available to a project; `places` names its groups with group runners, and whether it takes instance
/// runners.
pub fn list_of_project(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadProjectRunners>,
    groups: Vec<NamespaceId>,
    instance: bool,
    filter: &RunnerFilter,
    page: PageRequest,
) -> Result<Page<Runner>> {
    let places = RunnerScope { projects: vec![grant.project()], groups, instance };
    tx.runners(Some(&places), filter, page)
}

/// A page of the runners of a group, of those above it, and of the installation.
pub fn list_of_group(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupRunners>,
    above: Vec<NamespaceId>,
    filter: &RunnerFilter,
    page: PageRequest,
) -> Result<Page<Runner>> {
    let groups = std::iter::once(grant.group()).chain(above).collect();
    let places = RunnerScope { projects: Vec::new(), groups, instance: true };
    tx.runners(Some(&places), filter, page)
}

/// A page of the runners of a group, and of these groups and projects below it.
pub fn list_below_group(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupRunners>,
    (groups, projects): (Vec<NamespaceId>, Vec<ProjectId>),
    filter: &RunnerFilter,
    page: PageRequest,
) -> Result<Page<Runner>> {
    let groups = std::iter::once(grant.group()).chain(groups).collect();
    let places = RunnerScope { projects, groups, instance: false };
    tx.runners(Some(&places), filter, page)
}

/// Those of a page of runners that a user may change, as [`may_update`] says of each; a fixed number of statements.
pub fn updatable(
    tx: &mut Tx<'_>,
    actor: Actor,
    roles: &impl Roles,
    runners: &[Runner],
) -> Result<HashSet<RunnerId>> {
    let ids: Vec<RunnerId> = runners.iter().map(|runner| runner.id).collect();
    if actor.admin {
        return Ok(ids.into_iter().collect());
    }
    let assigned = tx.projects_of_runners(&ids)?;
    let projects: HashSet<ProjectId> = roles.projects(tx, actor, Maintainer)?.into_iter().collect();
    let groups: HashSet<NamespaceId> = roles.groups(tx, actor, Owner)?.into_iter().collect();
    let owner = |runner: &Runner| assigned.get(&runner.id).and_then(|all| all.first());
    let may = |runner: &&Runner| match runner.runner_type {
        RunnerType::Instance => false,
        RunnerType::Group => runner.group_id.is_some_and(|group| groups.contains(&group)),
        RunnerType::Project => owner(runner).is_some_and(|project| projects.contains(project)),
    };
    Ok(runners.iter().filter(may).map(|runner| runner.id).collect())
}

/// These runners, as far as a user may see all their fields, as [`read`] says of each; a fixed number of statements.
pub fn readable(
    tx: &mut Tx<'_>,
    actor: Actor,
    roles: &impl Roles,
    ids: &[RunnerId],
) -> Result<Vec<Runner>> {
    let found = tx.runners_by_id(ids)?;
    if actor.admin {
        return Ok(found);
    }
    let assigned = tx.projects_of_runners(ids)?;
    let projects: HashSet<ProjectId> = roles.projects(tx, actor, Maintainer)?.into_iter().collect();
    let groups: HashSet<NamespaceId> = roles.groups(tx, actor, Maintainer)?.into_iter().collect();
    let may = |runner: &Runner| match (runner.is_shared(), runner.group_id) {
        (true, _) => true,
        (false, Some(group)) => groups.contains(&group),
        (false, None) => (assigned.get(&runner.id))
            .is_some_and(|all| all.iter().any(|project| projects.contains(project))),
    };
    Ok(found.into_iter().filter(may).collect())
}

/// Those of these runners whose jobs a user may list, as [`read_with_jobs`] says of each.
pub fn readable_with_jobs(
    tx: &mut Tx<'_>,
    actor: Actor,
    roles: &impl Roles,
    ids: &[RunnerId],
) -> Result<Vec<RunnerId>> {
    let found = readable(tx, actor, roles, ids)?.into_iter();
    Ok(found.filter(|runner| may_list_jobs(actor, runner)).map(|runner| runner.id).collect())
}

/// Whether a user who may see all fields of a runner may list its jobs.
fn may_list_jobs(actor: Actor, runner: &Runner) -> bool {
    actor.admin || !runner.is_shared()
}

/// Whether a user may see all fields of a runner.
fn may_read(tx: &mut Tx<'_>, actor: Actor, roles: &impl Roles, runner: &Runner) -> Result<bool> {
    if actor.admin || runner.is_shared() {
        return Ok(true);
    }
    if let Some(group) = runner.group_id {
        return Ok(roles.in_group(tx, actor, group)? >= Maintainer);
    }
    let projects = tx.projects_of_runner(runner.id)?;
    Ok(roles.highest_in_projects(tx, actor, &projects)? >= Maintainer)
}

/// Whether a user may change a runner: maintainers of its projects and owners of its group.
pub fn may_update(
    tx: &mut Tx<'_>,
    actor: Actor,
    roles: &impl Roles,
    runner: &Runner,
) -> Result<bool> {
    if actor.admin {
        return Ok(true);
    }
    match runner.runner_type {
        RunnerType::Instance => Ok(false),
        RunnerType::Group => match runner.group_id {
            Some(group) => Ok(roles.in_group(tx, actor, group)? >= Owner),
            None => Ok(false),
        },
        RunnerType::Project => match tx.projects_of_runner(runner.id)?.first() {
            Some(first) => Ok(roles.in_project(tx, actor, *first)? >= Maintainer),
            None => Ok(false),
        },
    }
}

/// # Errors
/// `Forbidden` where the caller may not do that with the runner.
fn find_where(
    tx: &mut Tx<'_>,
    id: RunnerId,
    may: impl FnOnce(&mut Tx<'_>, &Runner) -> Result<bool>,
) -> Result<Runner> {
    let runner = find(tx, id)?;
    match may(tx, &runner)? {
        true => Ok(runner),
        false => Err(no_access()),
    }
}

fn changeable(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    roles: &impl Roles,
    id: RunnerId,
) -> Result<Runner> {
    find_where(tx, id, |tx, runner| may_update(tx, grant.actor(), roles, runner))
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    roles: &impl Roles,
    id: RunnerId,
) -> Result<Runner> {
    find_where(tx, id, |tx, runner| may_read(tx, grant.actor(), roles, runner))
}

/// A runner whose jobs the caller may list. Instance runners are for administrators.
pub fn read_with_jobs(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    roles: &impl Roles,
    id: RunnerId,
) -> Result<Runner> {
    let runner = read(tx, grant, roles, id)?;
    match may_list_jobs(grant.actor(), &runner) {
        true => Ok(runner),
        false => Err(no_access()),
    }
}

/// The programs that share a runner's token.
pub fn managers(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    roles: &impl Roles,
    id: RunnerId,
    page: PageRequest,
) -> Result<Page<Manager>> {
    read(tx, grant, roles, id)?;
    tx.managers(id, page)
}

pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    roles: &impl Roles,
    id: RunnerId,
    attributes: Attributes,
) -> Result<Runner> {
    let before = changeable(tx, grant, roles, id)?;
    let after = Runner { updated_at: tx.now, ..attributes.apply(before)? };
    tx.update_runner(&after)?;
    let place = register::place(tx, &after)?;
    register::record(tx, &after, AuditRecord::change("ci_runner_updated", place, "ci_runner"));
    tx.emit(Event::RunnerChanged { runner: id })?;
    Ok(after)
}

/// Removes a runner. Only administrators may remove one that several projects use.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    roles: &impl Roles,
    id: RunnerId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let runner = changeable(tx, grant, roles, id)?;
    if !grant.actor().admin && tx.projects_of_runner(id)?.len() > 1 {
        let text = "Runner associated with more than one project";
        return Err(Error::forbidden().in_this_state(text));
    }
    register::remove(tx, &runner, unmodified_since)
}

/// Gives a runner another token.
pub fn reset_token(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    roles: &impl Roles,
    lifetimes: &impl TokenLifetimes,
    id: RunnerId,
) -> Result<NewToken> {
    let runner = changeable(tx, grant, roles, id)?;
    register::renew_token(tx, &runner, lifetimes)
}

/// Assigns a runner of another project to this one.
///
/// # Errors
/// `Forbidden` where the runner is locked, no project's, or not the caller's to read; `BadRequest` where the project has it
/// already, or has as many as `limits` let it have.
pub fn assign(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminProjectRunners>,
    roles: &impl Roles,
    limits: RunnerLimits,
    id: RunnerId,
) -> Result<Runner> {
    let runner = find(tx, id)?;
    let refused = |text: &str| Err(Error::forbidden().in_this_state(text));
    match runner.runner_type {
        RunnerType::Instance => return refused("Runner is an instance runner"),
        RunnerType::Group => return refused("Runner is a group runner"),
        RunnerType::Project if runner.locked => return refused("Runner is locked"),
        RunnerType::Project => {}
    }
    if !may_read(tx, grant.actor(), roles, &runner)? {
        return Err(no_access());
    }
    if tx.projects_of_runner(id)?.contains(&grant.project()) {
        return Err(Error::invalid("runner_id", "has already been taken"));
    }
    ensure_room(tx, register::Owner::Project(grant.project()), limits)?;
    tx.assign_runner(id, grant.project())?;
    let place = AuditPlace::Project(grant.project());
    let assigned = AuditRecord::addition("ci_runner_assigned_to_project", place, "ci_runner");
    register::record(tx, &runner, assigned);
    tx.emit(Event::RunnerChanged { runner: id })?;
    Ok(runner)
}

/// Unassigns a runner from this project.
pub fn unassign(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminProjectRunners>,
    id: RunnerId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let runner = find(tx, id)?;
    let projects: Vec<ProjectId> = tx.projects_of_runner(id)?;
    if !projects.contains(&grant.project()) {
        return Err(Error::not_found("Runner"));
    }
    runner.updated_at.ensure_unchanged_since(unmodified_since)?;
    if projects.len() == 1 {
        let text = "Only one project associated with the runner. Please remove the runner instead";
        return Err(Error::forbidden().in_this_state(text));
    }
    tx.unassign_runner(id, grant.project())?;
    tx.emit(Event::RunnerChanged { runner: id })
}
