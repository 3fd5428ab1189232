//! The ports of `security`.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    AccessLevel::Developer,
    Actor, Result, Standing,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::{
    access::{IdOrPath, locate_group, locate_project, standings_of_one::in_projects},
    hierarchy,
    namespace::{Kind, store::NamespaceStore as _},
    project::store::ProjectStore as _,
    user::{State, account::AccountStore as _, store::UserStore as _},
};
use security::ports::{self, ProjectNames};

/// Projects, groups and people, as `org` knows them.
#[derive(Clone, Copy, Debug)]
pub struct Directory;

fn found<S>(located: Result<(S, Standing)>) -> Result<Option<Standing>> {
    match located {
        Ok((_, who)) => Ok(Some(who)),
        Err(gone) if gone.is_gone() => Ok(None),
        Err(failure) => Err(failure),
    }
}

impl ports::Directory for Directory {
    fn in_project(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        project: ProjectId,
    ) -> Result<Option<Standing>> {
        found(locate_project(tx, actor, &IdOrPath::Id(project.0)))
    }

    fn in_group(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        group: NamespaceId,
    ) -> Result<Option<Standing>> {
        found(locate_group(tx, actor, &IdOrPath::Id(group.0)))
    }

    fn developed(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<Vec<ProjectId>> {
        let all = in_projects(tx, actor, projects)?;
        let is_own = |project: &&ProjectId| all.get(*project).is_some_and(|who| who.is(Developer));
        Ok(projects.iter().filter(is_own).copied().collect())
    }

    fn projects_of_group(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        group: NamespaceId,
    ) -> Result<Vec<ProjectId>> {
        let mut groups = hierarchy::below_group(tx, actor, group)?;
        groups.push(group);
        hierarchy::projects_in(tx, actor, &groups)
    }

    fn reader(&self, tx: &mut Tx<'_>, actor: Actor) -> Result<Actor> {
        let Some(user) = actor.id.filter(|_| !actor.admin) else { return Ok(actor) };
        Ok(Actor { admin: tx.account(user)?.auditor, ..actor })
    }

    fn actor(&self, tx: &mut Tx<'_>, user: UserId) -> Result<Option<Actor>> {
        let user = tx.find_user(user)?.filter(|user| user.state == State::Active);
        Ok(user.map(|user| user.actor()))
    }

    fn usernames(&self, tx: &mut Tx<'_>, people: &[UserId]) -> Result<HashMap<UserId, String>> {
        org::user::names::names_of(tx, people)
    }

    fn names(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<Option<ProjectNames>> {
        let Some(project) = tx.find_project(project)? else { return Ok(None) };
        let home = tx.find_namespace(project.namespace_id)?;
        let group = home.filter(|home| home.kind == Kind::Group).map(|home| home.name);
        Ok(Some(ProjectNames { group, project: project.name }))
    }
}
