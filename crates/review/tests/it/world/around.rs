//! The answers of other domains, from a few lists.

use std::collections::HashMap;

use db::{Fragment, Tx};
use forgeway_review::{
    Home,
    milestone::replacement::Replacement,
    ports::{Branches, Forge, GroupHierarchy, MilestoneUsers, People},
};
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
};

/// Everybody has the same role in all projects and groups.
#[derive(Clone, Debug)]
pub(crate) struct FakeDirectory {
    pub(crate) people: Vec<(UserId, &'static str, AccessLevel)>,
    /// The groups that all projects are in, nearest first.
    pub(crate) groups: Vec<NamespaceId>,
    pub(crate) projects: Vec<ProjectId>,
}

impl FakeDirectory {
    fn level(&self, user: UserId) -> AccessLevel {
        let found = self.people.iter().find(|(id, ..)| *id == user);
        found.map_or(AccessLevel::NoAccess, |(.., level)| *level)
    }

    pub(crate) fn standing(&self, user: UserId) -> Standing {
        let actor = Actor { id: Some(user), ..Actor::ANONYMOUS };
        Standing::in_scope(actor, self.level(user), Visibility::Public)
    }

    fn standing_of(&self, actor: Actor) -> Standing {
        let level = actor.id.map_or(AccessLevel::NoAccess, |user| self.level(user));
        Standing::in_scope(actor, level, Visibility::Public)
    }

    fn is_user(&self, user: UserId) -> bool {
        self.people.iter().any(|(id, ..)| *id == user)
    }
}

/// A condition in SQL that always is so, or never.
fn always(so: bool) -> Fragment {
    Fragment::new(if so { "1 = 1" } else { "1 = 0" })
}

impl MilestoneUsers for FakeDirectory {
    fn replace_milestones(&self, _: &mut Tx<'_>, _: &[Replacement]) -> Result<()> {
        Ok(())
    }
}

impl GroupHierarchy for FakeDirectory {
    fn above(&self, _: &mut Tx<'_>, home: Home) -> Result<Vec<NamespaceId>> {
        Ok(if home.project().is_some() { self.groups.clone() } else { Vec::new() })
    }

    fn below(&self, _: &mut Tx<'_>, _: Actor, _: NamespaceId) -> Result<Vec<NamespaceId>> {
        Ok(Vec::new())
    }

    fn projects_in(
        &self,
        _: &mut Tx<'_>,
        _: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<ProjectId>> {
        let inside = self.groups.iter().any(|group| groups.contains(group));
        Ok(if inside { self.projects.clone() } else { Vec::new() })
    }

    fn level_in(&self, _: &mut Tx<'_>, actor: Actor, _: NamespaceId) -> Result<AccessLevel> {
        Ok(self.standing_of(actor).level)
    }

    fn sees_group(&self, _: &mut Tx<'_>, _: Actor, _: &str) -> Result<Fragment> {
        Ok(always(true))
    }

    fn has_role_in(&self, _: Ts, actor: Actor, _: &str, role: AccessLevel) -> Fragment {
        always(self.standing_of(actor).is(role))
    }
}

impl People for FakeDirectory {
    fn standings(&self, _: &mut Tx<'_>, _: ProjectId, people: &[UserId]) -> Result<Vec<Standing>> {
        let known = people.iter().filter(|user| self.is_user(**user));
        Ok(known.map(|user| self.standing(*user)).collect())
    }

    fn standings_at(&self, tx: &mut Tx<'_>, _: Home, people: &[UserId]) -> Result<Vec<Standing>> {
        self.standings(tx, self.projects[0], people)
    }

    fn named(&self, _: &mut Tx<'_>, names: &[String]) -> Result<HashMap<String, UserId>> {
        let known = self.people.iter().filter(|(_, name, _)| names.iter().any(|one| one == name));
        Ok(known.map(|(id, name, _)| ((*name).to_owned(), *id)).collect())
    }

    fn names(&self, _: &mut Tx<'_>, people: &[UserId]) -> Result<HashMap<UserId, String>> {
        let known = self.people.iter().filter(|(id, ..)| people.contains(id));
        Ok(known.map(|(id, name, _)| (*id, (*name).to_owned())).collect())
    }
}

impl Branches for FakeDirectory {
    fn is_name(&self, name: &str) -> bool {
        !name.contains(' ')
    }
}

impl Forge for FakeDirectory {
    fn standings_in(
        &self,
        _: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<HashMap<ProjectId, Standing>> {
        let known = projects.iter().filter(|project| self.projects.contains(project));
        Ok(known.map(|project| (*project, self.standing_of(actor))).collect())
    }

    fn group_wikis(
        &self,
        _: &mut Tx<'_>,
        _: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<NamespaceId>> {
        Ok(groups.to_vec())
    }

    fn group_members(
        &self,
        _: &mut Tx<'_>,
        _: Actor,
        _: &[String],
        _: i64,
    ) -> Result<HashMap<String, Vec<UserId>>> {
        Ok(HashMap::new())
    }

    fn group_at(&self, _: &mut Tx<'_>, _: Actor, path: &str) -> Result<Option<NamespaceId>> {
        Ok(self.groups.first().copied().filter(|_| path == "group"))
    }

    fn project_members(&self, _: &mut Tx<'_>, _: ProjectId, _: i64) -> Result<Vec<UserId>> {
        let members = self.people.iter().filter(|(.., level)| *level > AccessLevel::NoAccess);
        Ok(members.map(|(id, ..)| *id).collect())
    }

    fn actor(&self, _: &mut Tx<'_>, user: UserId) -> Result<Option<Actor>> {
        Ok(self.is_user(user).then(|| self.standing(user).actor))
    }

    fn project_at(&self, _: &mut Tx<'_>, path: &str) -> Result<Option<ProjectId>> {
        let number = ["project", "other"].iter().position(|name| *name == path);
        Ok(number.and_then(|number| self.projects.get(number)).copied())
    }

    fn paths(&self, _: &mut Tx<'_>, projects: &[ProjectId]) -> Result<HashMap<ProjectId, String>> {
        let named = self.projects.iter().zip(["project", "other"]);
        let asked = named.filter(|(id, _)| projects.contains(id));
        Ok(asked.map(|(id, name)| (*id, name.to_owned())).collect())
    }

    fn group_paths(
        &self,
        _: &mut Tx<'_>,
        groups: &[NamespaceId],
    ) -> Result<HashMap<NamespaceId, String>> {
        Ok(groups.iter().map(|group| (*group, "group".to_owned())).collect())
    }

    fn address(&self) -> &str {
        "http://forge.test"
    }
}
