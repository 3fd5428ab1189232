//! Two projects of a group, with rows and without repositories, and users of three roles; other domains are fakes.

use std::{collections::HashSet, sync::Arc};

use db::{
    Tx,
    testing::{facts, rows, transaction},
};
use forgeway_repo::ports::{ForkPushBranches, Membership};
use kernel::{
    Ability, AccessLevel, Actor, Grant, Result, Standing, Visibility,
    access::{Group, Project, ProjectFacts},
    ids::{NamespaceId, ProjectId, UserId},
};

pub(crate) struct World {
    pub(crate) owner: UserId,
    pub(crate) developer: UserId,
    pub(crate) guest: UserId,
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
        let developer = rows::user(tx, "developer")?;
        let guest = rows::user(tx, "guest")?;
        let group = rows::group(tx, "group")?;
        let project = rows::project(tx, group, owner, "project")?;
        let other = rows::project(tx, group, owner, "other")?;
        Ok(Self { owner, developer, guest, group, project, other })
    }

    pub(crate) fn facts(&self, project: ProjectId) -> ProjectFacts {
        facts::project(project, self.group)
    }

    /// How somebody stands in the projects and the group.
    pub(crate) fn standing(&self, user: UserId) -> Standing {
        let level = match user {
            _ if user == self.owner => AccessLevel::Owner,
            _ if user == self.developer => AccessLevel::Developer,
            _ if user == self.guest => AccessLevel::Guest,
            _ => AccessLevel::NoAccess,
        };
        let actor = Actor { id: Some(user), ..Actor::ANONYMOUS };
        Standing::in_scope(actor, level, Visibility::Public)
    }

    /// What somebody may do in a project.
    pub(crate) fn may_in<A>(&self, project: ProjectId, user: UserId) -> Result<Grant<A>>
    where
        A: Ability<Scope = Project>,
    {
        Grant::check(&self.standing(user), Project(Arc::new(self.facts(project))))
    }

    /// What somebody may do in the first project.
    pub(crate) fn may<A: Ability<Scope = Project>>(&self, user: UserId) -> Result<Grant<A>> {
        self.may_in(self.project, user)
    }

    /// What somebody may do in the group.
    pub(crate) fn may_in_group<A: Ability<Scope = Group>>(&self, user: UserId) -> Result<Grant<A>> {
        Grant::check(&self.standing(user), Group(Arc::new(facts::group(self.group))))
    }
}

/// The members of all projects, and the groups that they are shared with.
pub(crate) struct Members {
    pub(crate) users: Vec<UserId>,
    pub(crate) groups: Vec<NamespaceId>,
}

impl Members {
    pub(crate) fn of(world: &World) -> Self {
        Self { users: vec![world.owner, world.developer], groups: Vec::new() }
    }
}

impl Membership for Members {
    fn is_member(&self, _: &mut Tx<'_>, _: ProjectId, user: UserId) -> Result<bool> {
        Ok(self.users.contains(&user))
    }

    fn is_invited(&self, _: &mut Tx<'_>, _: ProjectId, group: NamespaceId) -> Result<bool> {
        Ok(self.groups.contains(&group))
    }
}

/// Lends one branch to everybody.
#[derive(Debug)]
pub(crate) struct OneForkPushBranch(pub(crate) &'static str);

impl ForkPushBranches for OneForkPushBranch {
    fn fork_push_branches(
        &self,
        _: &mut Tx<'_>,
        _: &Standing,
        _: ProjectId,
    ) -> Result<HashSet<String>> {
        Ok(HashSet::from([self.0.to_owned()]))
    }
}
