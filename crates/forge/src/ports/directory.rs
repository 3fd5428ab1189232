//! Everything that texts may name, as `org` knows it.

use std::{collections::HashMap, sync::Arc};

use db::{Fragment, Tx};
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::{
    access::{IdOrPath, locate_group, standings_of_one::in_projects},
    hierarchy,
    project::store::ProjectStore,
    user::store::UserStore,
};
use review::{Home, ports};

use super::review::OrgHierarchy;
use crate::{external_authorization::AuthorizationAnswers, urls::Urls};

/// The ports of issues and merge requests, with the URLs of this installation.
#[derive(Clone, Debug)]
pub struct Directory {
    address: Arc<str>,
    authorizations: Arc<AuthorizationAnswers>,
}

impl Directory {
    pub fn new(urls: &Urls) -> Self {
        Self { address: urls.base().into(), authorizations: Arc::clone(&urls.authorizations) }
    }
}

impl ports::GroupHierarchy for Directory {
    fn above(&self, tx: &mut Tx<'_>, home: Home) -> Result<Vec<NamespaceId>> {
        OrgHierarchy.above(tx, home)
    }

    fn below(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<Vec<NamespaceId>> {
        OrgHierarchy.below(tx, actor, group)
    }

    fn projects_in(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<ProjectId>> {
        OrgHierarchy.projects_in(tx, actor, groups)
    }

    fn level_in(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<AccessLevel> {
        OrgHierarchy.level_in(tx, actor, group)
    }

    fn sees_group(&self, tx: &mut Tx<'_>, actor: Actor, group: &str) -> Result<Fragment> {
        OrgHierarchy.sees_group(tx, actor, group)
    }

    fn has_role_in(&self, now: Ts, actor: Actor, group: &str, role: AccessLevel) -> Fragment {
        OrgHierarchy.has_role_in(now, actor, group, role)
    }
}

impl ports::People for Directory {
    fn standings(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        people: &[UserId],
    ) -> Result<Vec<Standing>> {
        OrgHierarchy.standings(tx, project, people)
    }

    fn standings_at(
        &self,
        tx: &mut Tx<'_>,
        home: Home,
        people: &[UserId],
    ) -> Result<Vec<Standing>> {
        OrgHierarchy.standings_at(tx, home, people)
    }

    fn named(&self, tx: &mut Tx<'_>, names: &[String]) -> Result<HashMap<String, UserId>> {
        OrgHierarchy.named(tx, names)
    }

    fn names(&self, tx: &mut Tx<'_>, people: &[UserId]) -> Result<HashMap<UserId, String>> {
        OrgHierarchy.names(tx, people)
    }
}

impl ports::Branches for Directory {
    fn is_name(&self, name: &str) -> bool {
        OrgHierarchy.is_name(name)
    }
}

impl ports::Forge for Directory {
    fn group_wikis(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<NamespaceId>> {
        hierarchy::readable_wikis(tx, actor, groups)
    }

    fn group_members(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        paths: &[String],
        most: i64,
    ) -> Result<HashMap<String, Vec<UserId>>> {
        let mut found = HashMap::new();
        for path in paths {
            if let Some(group) = self.group_at(tx, actor, path)? {
                found.insert(path.clone(), hierarchy::members_of_group(tx, group, most)?);
            }
        }
        Ok(found)
    }

    fn group_at(&self, tx: &mut Tx<'_>, actor: Actor, path: &str) -> Result<Option<NamespaceId>> {
        match locate_group(tx, actor, &IdOrPath::Path(path.to_owned())) {
            Err(gone) if gone.is_gone() => Ok(None),
            found => Ok(Some(found?.0.0.id)),
        }
    }

    fn project_members(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        most: i64,
    ) -> Result<Vec<UserId>> {
        hierarchy::members_of_project(tx, project, most)
    }

    fn standings_in(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<HashMap<ProjectId, Standing>> {
        let open = self.authorizations.open(tx, actor, projects)?;
        in_projects(tx, actor, &open)
    }

    fn actor(&self, tx: &mut Tx<'_>, user: UserId) -> Result<Option<Actor>> {
        Ok(tx.find_user(user)?.map(|user| user.actor()))
    }

    fn project_at(&self, tx: &mut Tx<'_>, path: &str) -> Result<Option<ProjectId>> {
        Ok(tx.find_project_at(path)?.map(|project| project.id))
    }

    fn paths(&self, tx: &mut Tx<'_>, projects: &[ProjectId]) -> Result<HashMap<ProjectId, String>> {
        hierarchy::project_paths(tx, projects)
    }

    fn group_paths(
        &self,
        tx: &mut Tx<'_>,
        groups: &[NamespaceId],
    ) -> Result<HashMap<NamespaceId, String>> {
        hierarchy::group_paths(tx, groups)
    }

    fn address(&self) -> &str {
        &self.address
    }
}
