//! The answers of other domains, from a few lists.

use std::{cell::RefCell, collections::HashMap};

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result, Standing, Visibility,
    ids::{EnvironmentId, IssueId, NamespaceId, ProjectId, UserId},
};
use security::{
    alert::Alert,
    ports::{Directory, Environments, Incident, Incidents, ProjectNames},
};

/// Everybody has the same role in all projects and groups.
#[derive(Clone, Debug)]
pub(crate) struct FakeMembers {
    pub(crate) people: Vec<(UserId, &'static str, AccessLevel)>,
    pub(crate) projects: Vec<ProjectId>,
    pub(crate) auditors: Vec<UserId>,
}

impl FakeMembers {
    pub(crate) fn standing(&self, actor: Actor) -> Standing {
        let own = |(id, ..): &&(UserId, &str, AccessLevel)| Some(*id) == actor.id;
        let level =
            self.people.iter().find(own).map_or(AccessLevel::NoAccess, |(.., level)| *level);
        Standing::in_scope(actor, level, Visibility::Private)
    }

    /// The same without somebody.
    pub(crate) fn without(&self, user: UserId) -> Self {
        let mut around = self.clone();
        around.people.retain(|(id, ..)| *id != user);
        around
    }
}

impl Directory for FakeMembers {
    fn in_project(&self, _: &mut Tx<'_>, actor: Actor, _: ProjectId) -> Result<Option<Standing>> {
        Ok(Some(self.standing(actor)).filter(|who| who.visible))
    }

    fn in_group(&self, _: &mut Tx<'_>, actor: Actor, _: NamespaceId) -> Result<Option<Standing>> {
        Ok(Some(self.standing(actor)).filter(|who| who.visible))
    }

    fn developed(
        &self,
        _: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<Vec<ProjectId>> {
        let is_own = self.standing(actor).is(AccessLevel::Developer);
        Ok(if is_own { projects.to_vec() } else { Vec::new() })
    }

    fn projects_of_group(
        &self,
        _: &mut Tx<'_>,
        _: Actor,
        _: NamespaceId,
    ) -> Result<Vec<ProjectId>> {
        Ok(self.projects.clone())
    }

    fn reader(&self, _: &mut Tx<'_>, actor: Actor) -> Result<Actor> {
        Ok(Actor { admin: actor.id.is_some_and(|user| self.auditors.contains(&user)), ..actor })
    }

    fn actor(&self, _: &mut Tx<'_>, user: UserId) -> Result<Option<Actor>> {
        let is_known = self.people.iter().any(|(id, ..)| *id == user);
        Ok(is_known.then_some(Actor { id: Some(user), ..Actor::ANONYMOUS }))
    }

    fn usernames(&self, _: &mut Tx<'_>, people: &[UserId]) -> Result<HashMap<UserId, String>> {
        let named = self.people.iter().filter(|(id, ..)| people.contains(id));
        Ok(named.map(|(id, name, _)| (*id, (*name).to_owned())).collect())
    }

    fn names(&self, _: &mut Tx<'_>, _: ProjectId) -> Result<Option<ProjectNames>> {
        let (group, project) = (Some("Group".to_owned()), "Project".to_owned());
        Ok(Some(ProjectNames { group, project }))
    }
}

/// Where incidents are opened: it takes none, and remembers what it was asked.
#[derive(Debug, Default)]
pub(crate) struct FakeIncidents {
    heard: RefCell<Vec<String>>,
}

impl FakeIncidents {
    pub(crate) fn calls(&self) -> Vec<String> {
        self.heard.borrow_mut().drain(..).collect()
    }

    fn hear(&self, what: String) {
        self.heard.borrow_mut().push(what);
    }
}

impl Environments for FakeIncidents {
    fn named(&self, _: &mut Tx<'_>, _: ProjectId, name: &str) -> Result<Option<EnvironmentId>> {
        self.hear(format!("look for {name}"));
        Ok(None)
    }
}

impl Incidents for FakeIncidents {
    fn open(&self, _: &mut Tx<'_>, alert: &Alert, _: String) -> Result<Option<Incident>> {
        self.hear(format!("open {}", alert.title));
        Ok(None)
    }

    fn close(&self, _: &mut Tx<'_>, issue: IssueId) -> Result<()> {
        self.hear(format!("close {issue}"));
        Ok(())
    }

    fn tell(&self, _: &mut Tx<'_>, alert: &Alert) -> Result<()> {
        self.hear(format!("tell {}", alert.title));
        Ok(())
    }
}
