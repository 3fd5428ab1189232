//! The ports of `review`.

use std::collections::HashMap;

use db::{Fragment, RowSet, Tx};
use deployments::deployment::{LinkFilter, LinkSql, PROJECT_COLUMN};
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::project::readable::{self, ReadScope, ReadTarget, ReadableProjects};
use repo::git::RefName;
use review::{
    Home,
    item::{
        ItemKind,
        list::{IndexedFilter, Part},
    },
    milestone::replacement::Replacement,
    ports,
};

/// The group hierarchy and users, answered by `org`.
#[derive(Clone, Copy, Debug)]
pub struct OrgHierarchy;

impl ports::GroupHierarchy for OrgHierarchy {
    fn above(&self, tx: &mut Tx<'_>, home: Home) -> Result<Vec<NamespaceId>> {
        match home {
            Home::Project(project) => org::hierarchy::above_project(tx, project),
            Home::Group(group) => org::hierarchy::above_group(tx, group),
        }
    }

    fn below(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<Vec<NamespaceId>> {
        org::hierarchy::below_group(tx, actor, group)
    }

    fn projects_in(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        groups: &[NamespaceId],
    ) -> Result<Vec<ProjectId>> {
        org::hierarchy::projects_in(tx, actor, groups)
    }

    fn level_in(&self, tx: &mut Tx<'_>, actor: Actor, group: NamespaceId) -> Result<AccessLevel> {
        org::access::level_in_namespace(tx, actor, group)
    }

    fn sees_group(&self, tx: &mut Tx<'_>, actor: Actor, group: &str) -> Result<Fragment> {
        org::hierarchy::sees_group(tx, actor, group)
    }

    fn has_role_in(&self, now: Ts, actor: Actor, group: &str, role: AccessLevel) -> Fragment {
        org::hierarchy::has_role_in(now, actor, group, role)
    }
}

impl ports::MilestoneUsers for OrgHierarchy {
    fn replace_milestones(&self, tx: &mut Tx<'_>, replaced: &[Replacement]) -> Result<()> {
        crate::milestone::replace_in_releases(tx, replaced)
    }
}

impl ports::People for OrgHierarchy {
    fn standings(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        people: &[UserId],
    ) -> Result<Vec<Standing>> {
        org::access::standings::standings_in_project(tx, project, people)
    }

    fn standings_at(
        &self,
        tx: &mut Tx<'_>,
        home: Home,
        people: &[UserId],
    ) -> Result<Vec<Standing>> {
        match home {
            Home::Project(project) => self.standings(tx, project, people),
            Home::Group(group) => org::access::standings::standings_in_group(tx, group, people),
        }
    }

    fn named(&self, tx: &mut Tx<'_>, names: &[String]) -> Result<HashMap<String, UserId>> {
        org::user::names::ids_of(tx, names)
    }

    fn names(&self, tx: &mut Tx<'_>, people: &[UserId]) -> Result<HashMap<UserId, String>> {
        org::user::names::names_of(tx, people)
    }
}

impl ports::Projects for OrgHierarchy {
    fn readable(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        kind: ItemKind,
        group: Option<&str>,
        archived: bool,
    ) -> Result<ports::ReadableProjects> {
        let what = match kind {
            ItemKind::MergeRequest => ReadTarget::MergeRequests,
            ItemKind::Issue | ItemKind::Epic => ReadTarget::Issues,
        };
        let within = ReadScope { group: group.map(str::to_owned), archived };
        let ReadableProjects { all, few } = readable::readable(tx, actor, what, &within)?;
        Ok(ports::ReadableProjects { all, few })
    }

    fn own_projects(&self, group: NamespaceId) -> RowSet {
        readable::own_projects(group)
    }
}

impl ports::Branches for OrgHierarchy {
    fn is_name(&self, name: &str) -> bool {
        RefName::branch(name).is_ok()
    }
}

impl ports::Deployments for OrgHierarchy {
    fn deployed(
        &self,
        tx: &mut Tx<'_>,
        wanted: &ports::DeploymentCondition,
    ) -> Result<IndexedFilter> {
        let links = LinkFilter {
            after: wanted.after,
            before: wanted.before,
            environment: wanted.environment.clone(),
            deployment: wanted.deployment,
            project: wanted.project,
        };
        let sql = links.sql(tx, "i.id")?;
        let part = |sql: LinkSql| Part::with(sql.sql, sql.binds);
        let filter = IndexedFilter::new(part(sql.set), part(sql.check));
        Ok(IndexedFilter {
            project: Some(PROJECT_COLUMN),
            // What a deployment brings is of its project. Where that is said as well, SQLite looks through the project.
            is_of_project: wanted.project.is_some() || wanted.deployment.is_some(),
            repeats: sql.repeats,
            ..filter
        })
    }
}
