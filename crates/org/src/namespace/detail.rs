//! Everything that a group's own record tells.

use db::{
    Tx, each_backend, error,
    schema::{namespaces, project_access, project_group_links, projects},
};
use diesel::{dsl::exists, prelude::*};
use kernel::{
    AccessLevel, Actor, Result, Visibility,
    ids::{NamespaceId, ProjectId},
};

use super::{
    Namespace, networks,
    sharing::{self, GroupLink},
};
use crate::{
    custom_attribute::{CustomAttribute, Subject, store::CustomAttributeStore},
    ends::living,
    project::{
        Project, Want,
        shown::{self, Shown},
    },
    settings::store::SettingsStore,
};

/// A group with its surroundings, as one caller sees them.
#[derive(Debug)]
pub struct Detail {
    pub group: Namespace,
    /// How far default branches are protected where the group does not say.
    pub protection: i32,
    pub links: Vec<GroupLink>,
    /// Where the record is to list them.
    pub projects: Option<Projects>,
    /// What administrators noted, for one of them.
    pub notes: Option<Vec<CustomAttribute>>,
}

/// The newest projects of a group, and of those that it was invited to.
#[derive(Debug)]
pub struct Projects {
    pub own: Vec<Shown>,
    pub shared: Vec<Shown>,
}

impl Projects {
    pub fn ids(&self) -> Vec<ProjectId> {
        self.own.iter().chain(&self.shared).map(|shown| shown.project.id).collect()
    }
}

/// A group without its projects.
pub fn plain(tx: &mut Tx<'_>, actor: Actor, group: Namespace) -> Result<Detail> {
    let protection = tx.settings()?.default_branch_protection;
    let links = sharing::links(tx, actor, group.id)?;
    Ok(Detail { group, protection, links, projects: None, notes: None })
}

/// A group with its projects.
pub fn with_projects(tx: &mut Tx<'_>, actor: Actor, group: Namespace) -> Result<Detail> {
    let own = newest(tx, actor, &Among::In(group.id))?;
    let shared = newest(tx, actor, &Among::SharedWith(group.id))?;
    let want = Want::Full { statistics: false };
    let own = shown::page(tx, actor, own, want)?;
    let shared = shown::page(tx, actor, shared, want)?;
    let plain = plain(tx, actor, group)?;
    Ok(Detail { projects: Some(Projects { own, shared }), ..plain })
}

/// What administrators noted of a group, for administrators alone.
pub fn notes(
    tx: &mut Tx<'_>,
    actor: Actor,
    group: NamespaceId,
) -> Result<Option<Vec<CustomAttribute>>> {
    if actor.admin { tx.custom_attributes(Subject::Group(group)).map(Some) } else { Ok(None) }
}

enum Among {
    In(NamespaceId),
    SharedWith(NamespaceId),
}

/// The most that a record lists of either kind.
const MOST: i64 = 100;

fn newest(tx: &mut Tx<'_>, actor: Actor, among: &Among) -> Result<Vec<Project>> {
    let now = tx.now;
    let closed = networks::closed_to(tx, actor)?;
    each_backend!(tx, |conn| {
        let mut query = projects::table.filter(projects::deleted_at.is_null()).into_boxed();
        query = match among {
            Among::In(group) => query.filter(projects::namespace_id.eq(*group)),
            Among::SharedWith(group) => query.filter(
                projects::id.eq_any(
                    project_group_links::table
                        .filter(project_group_links::namespace_id.eq(*group))
                        .filter(living!(project_group_links, now))
                        .select(project_group_links::project_id),
                ),
            ),
        };
        if !closed.is_empty() {
            let homes = namespaces::table.filter(namespaces::ip_ranges.eq_any(&closed));
            query = query.filter(projects::namespace_id.ne_all(homes.select(namespaces::id)));
        }
        query = match actor.id {
            _ if actor.admin => query,
            None => query.filter(projects::visibility.eq(Visibility::Public)),
            Some(user) => {
                let member = exists(
                    project_access::table
                        .filter(project_access::user_id.eq(user))
                        .filter(project_access::project_id.eq(projects::id))
                        .filter(project_access::access_level.gt(AccessLevel::NoAccess))
                        .filter(project_access::until.gt(now)),
                );
                let open: &[Visibility] = match actor.external {
                    true => &[Visibility::Public],
                    false => &[Visibility::Public, Visibility::Internal],
                };
                query.filter(projects::visibility.eq_any(open).or(member))
            }
        };
        query
            .order_by(projects::id.desc())
            .limit(MOST)
            .select(Project::as_select())
            .load(conn)
            .map_err(error("Project"))
    })
}
