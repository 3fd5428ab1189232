//! A group with two projects, their owner and a stranger; roles from a list.

use std::sync::Arc;

use db::{
    Tx,
    testing::{facts, rows, transaction},
};
use forgeway_runners::{
    policy::UseRunners,
    ports::{Endless, Roles},
    runner::{Attributes, Owner, Runner, RunnerToken, register},
};
use kernel::{
    Ability, AccessLevel, Actor, Grant, Result, Standing, Visibility,
    access::{Instance, Project},
    error::Kind,
    ids::{NamespaceId, ProjectId, UserId},
};

pub(crate) struct World {
    pub(crate) owner: UserId,
    pub(crate) stranger: UserId,
    pub(crate) group: NamespaceId,
    pub(crate) project: ProjectId,
    pub(crate) other: ProjectId,
}

/// Runs a test in one transaction of a database of its own.
pub(crate) fn test(body: fn(&mut Tx<'_>, &World) -> Result<()>) {
    transaction(move |tx| {
        let world = World::new(tx)?;
        body(tx, &world)
    });
}

impl World {
    fn new(tx: &mut Tx<'_>) -> Result<Self> {
        let owner = rows::user(tx, "owner")?;
        let stranger = rows::user(tx, "stranger")?;
        let group = rows::group(tx, "group")?;
        let project = rows::project(tx, group, owner, "project")?;
        let other = rows::project(tx, group, owner, "other")?;
        Ok(Self { owner, stranger, group, project, other })
    }

    fn level(&self, actor: Actor) -> AccessLevel {
        if actor.id == Some(self.owner) { AccessLevel::Owner } else { AccessLevel::NoAccess }
    }

    pub(crate) fn may(&self, user: UserId) -> Result<Grant<UseRunners>> {
        Grant::check(&Standing::in_instance(actor(user)), Instance)
    }

    /// What somebody may do in a project.
    pub(crate) fn may_in<A: Ability<Scope = Project>>(
        &self,
        project: ProjectId,
        user: UserId,
    ) -> Result<Grant<A>> {
        let who = Standing::in_scope(actor(user), self.level(actor(user)), Visibility::Public);
        Grant::check(&who, Project(Arc::new(facts::project(project, self.group))))
    }

    /// A runner that the owner makes, with its token.
    pub(crate) fn runner(
        &self,
        tx: &mut Tx<'_>,
        owner: Owner,
        attributes: Attributes,
    ) -> Result<(Runner, RunnerToken)> {
        let token = RunnerToken::created();
        let made = register::create(tx, owner, Some(self.owner), attributes, &token, &Endless)?;
        Ok((made, token))
    }
}

fn actor(user: UserId) -> Actor {
    Actor { id: Some(user), ..Actor::ANONYMOUS }
}

/// Everybody has the same role everywhere.
impl Roles for World {
    fn in_project(&self, _: &mut Tx<'_>, actor: Actor, _: ProjectId) -> Result<AccessLevel> {
        Ok(self.level(actor))
    }

    fn highest_in_projects(
        &self,
        _: &mut Tx<'_>,
        actor: Actor,
        _: &[ProjectId],
    ) -> Result<AccessLevel> {
        Ok(self.level(actor))
    }

    fn in_group(&self, _: &mut Tx<'_>, actor: Actor, _: NamespaceId) -> Result<AccessLevel> {
        Ok(self.level(actor))
    }

    fn projects(
        &self,
        _: &mut Tx<'_>,
        actor: Actor,
        at_least: AccessLevel,
    ) -> Result<Vec<ProjectId>> {
        let all = vec![self.project, self.other];
        Ok(if self.level(actor) >= at_least { all } else { Vec::new() })
    }

    fn groups(
        &self,
        _: &mut Tx<'_>,
        actor: Actor,
        at_least: AccessLevel,
    ) -> Result<Vec<NamespaceId>> {
        Ok(if self.level(actor) >= at_least { vec![self.group] } else { Vec::new() })
    }
}

pub(crate) fn tagged(tags: &[&str]) -> Attributes {
    let tags = tags.iter().map(ToString::to_string).collect();
    Attributes { tags: Some(tags), ..Attributes::default() }
}

/// Whether somebody is refused.
pub(crate) fn is_forbidden<T>(outcome: &Result<T>) -> bool {
    outcome.as_ref().is_err_and(|refused| refused.kind == Kind::Forbidden)
}
