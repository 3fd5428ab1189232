//! Some people, a group and a project of it.

use db::{Tx, testing::transaction};
use forgeway_org::{
    access::{IdOrPath, level_in_project, locate_group, locate_project},
    member::{Member, MemberSource, actions::add, quota::Quota, rules::Terms},
    namespace::{self, Namespace, actions::NewGroup},
    project::{self, Project, creation::Creation},
    user::{
        User,
        actions::{NewUser, create},
    },
};
use kernel::{
    Ability, AccessLevel, Actor, Grant, Result, Standing, Visibility,
    access::{Administrate, Group, Instance, Project as ProjectScope, SignedIn},
    ids::{NamespaceId, ProjectId, UserId},
};

pub(crate) struct World {
    /// Administers the installation.
    pub(crate) admin: User,
    /// Owns the group, and with it the project.
    pub(crate) ada: User,
    pub(crate) bob: User,
    pub(crate) group: Namespace,
    pub(crate) project: Project,
}

/// Runs a test in one transaction of a database of its own.
pub(crate) fn test(body: fn(&mut Tx<'_>, &World) -> Result<()>) {
    transaction(move |tx| {
        let world = World::new(tx)?;
        body(tx, &world)
    });
}

/// What somebody may do in the installation.
pub(crate) fn signed_in(user: &User) -> Grant<SignedIn> {
    Grant::check(&Standing::in_instance(user.actor()), Instance).unwrap()
}

/// Proof of administration.
pub(crate) fn administers(user: &User) -> Grant<Administrate> {
    let actor = Actor { admin: true, ..user.actor() };
    Grant::check(&Standing::in_instance(actor), Instance).unwrap()
}

/// What somebody may do in a project.
pub(crate) fn in_project<A: Ability<Scope = ProjectScope>>(
    tx: &mut Tx<'_>,
    user: &User,
    project: ProjectId,
) -> Result<Grant<A>> {
    let (scope, who) = locate_project(tx, user.actor(), &IdOrPath::Id(project.0))?;
    Grant::check(&who, scope)
}

/// What somebody may do in a group.
pub(crate) fn in_group<A: Ability<Scope = Group>>(
    tx: &mut Tx<'_>,
    user: &User,
    group: NamespaceId,
) -> Result<Grant<A>> {
    let (scope, who) = locate_group(tx, user.actor(), &IdOrPath::Id(group.0))?;
    Grant::check(&who, scope)
}

/// A group at the top, or in another one.
pub(crate) fn new_group(
    tx: &mut Tx<'_>,
    owner: &User,
    path: &str,
    parent: Option<NamespaceId>,
) -> Result<Namespace> {
    let mut new = NewGroup {
        name: path.to_owned(),
        path: path.to_owned(),
        parent: None,
        visibility: None,
        picture_fault: None,
    };
    if let Some(parent) = parent {
        let (_, who) = locate_group(tx, owner.actor(), &IdOrPath::Id(parent.0))?;
        new.parent = Some((parent, who));
    }
    namespace::actions::create(tx, &signed_in(owner), &new, |_| {})
}

pub(crate) fn new_project(
    tx: &mut Tx<'_>,
    creator: &User,
    group: NamespaceId,
    path: &str,
) -> Result<Project> {
    let path = Some(path.to_owned());
    let creation = Creation { namespace: Some(group), path, ..Creation::default() };
    project::creation::create(tx, &signed_in(creator), &creation)
}

/// A role, without an end.
pub(crate) fn role(level: AccessLevel) -> Terms {
    Terms { level: i64::from(level.number()), expires_at: None }
}

impl World {
    fn new(tx: &mut Tx<'_>) -> Result<Self> {
        let admin = create(tx, &NewUser { admin: true, ..NewUser::named("admin") })?;
        let ada = create(tx, &NewUser::named("ada"))?;
        let bob = create(tx, &NewUser::named("bob"))?;
        let group = new_group(tx, &ada, "team", None)?;
        let project = new_project(tx, &ada, group.id, "tea")?;
        Ok(Self { admin, ada, bob, group, project })
    }

    /// The group, as somebody comes to it.
    pub(crate) fn group_place(&self, tx: &mut Tx<'_>, user: &User) -> Result<MemberSource> {
        let grant = in_group::<forgeway_org::policy::UseGroup>(tx, user, self.group.id)?;
        Ok(MemberSource::group(&grant))
    }

    /// The project, as somebody comes to it.
    pub(crate) fn project_place(&self, tx: &mut Tx<'_>, user: &User) -> Result<MemberSource> {
        let grant = in_project::<forgeway_org::policy::UseProject>(tx, user, self.project.id)?;
        Ok(MemberSource::project(&grant))
    }

    /// Ada gives somebody a role in the project.
    pub(crate) fn join(&self, tx: &mut Tx<'_>, user: &User, level: AccessLevel) -> Result<Member> {
        let place = self.project_place(tx, &self.ada)?;
        add(tx, place, user.id, role(level), Quota::Unlimited)
    }

    /// Ada gives somebody a role in the group.
    pub(crate) fn join_group(
        &self,
        tx: &mut Tx<'_>,
        user: &User,
        level: AccessLevel,
    ) -> Result<Member> {
        let place = self.group_place(tx, &self.ada)?;
        add(tx, place, user.id, role(level), Quota::Unlimited)
    }

    /// The role that somebody has in the project, wherever it comes from.
    pub(crate) fn level(&self, tx: &mut Tx<'_>, user: UserId) -> Result<AccessLevel> {
        let actor = Actor { id: Some(user), ..Actor::ANONYMOUS };
        level_in_project(tx, actor, self.project.id)
    }
}

/// Shows a group and its project to everybody.
pub(crate) fn publish(tx: &mut Tx<'_>, world: &World) -> Result<()> {
    let grant = in_group(tx, &world.ada, world.group.id)?;
    namespace::actions::update(tx, &grant, |group| group.visibility = Visibility::Public)?;
    let grant = in_project(tx, &world.ada, world.project.id)?;
    let change = project::ProjectChange {
        visibility: Some(Visibility::Public),
        ..project::ProjectChange::default()
    };
    project::actions::update(tx, &grant, &change).map(drop)
}
