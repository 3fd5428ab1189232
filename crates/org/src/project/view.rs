//! Everything that a project's record tells, loaded once for a whole page.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{
        members, namespace_access, namespaces, project_access, project_group_links, projects,
    },
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{
    Project, Settings,
    home::HomeStore,
    settings::SettingsStore,
    statistics::{Statistics, StatisticsStore},
    topics::TopicStore,
};
use crate::{
    expiry::living,
    hierarchy::known_groups,
    namespace::{Kind, Namespace},
    user::{UserSummary, store::UserStore},
};

/// The level of detail of a project record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What everybody may see.
    Basic,
    Full {
        statistics: bool,
    },
}

/// A project with what its record tells of its surroundings, for one caller.
#[derive(Clone, Debug)]
pub struct ProjectView {
    pub project: Project,
    pub namespace: Namespace,
    pub topics: Vec<String>,
    pub who: Standing,
    /// Only when the full form is wanted.
    pub full: Option<Box<FullView>>,
}

#[derive(Clone, Debug)]
pub struct FullView {
    pub settings: Settings,
    /// Of a personal project.
    pub owner: Option<UserSummary>,
    pub forked_from: Option<ProjectView>,
    pub shared_with: Vec<GroupLink>,
    pub statistics: Option<Statistics>,
    /// The caller's own membership.
    pub project_access: Option<AccessLevel>,
    /// The caller's membership in the group, where it lives in one.
    pub group_access: Option<AccessLevel>,
}

/// A group that a project is shared with.
#[derive(Clone, Debug)]
pub struct GroupLink {
    pub group: NamespaceId,
    pub name: String,
    pub full_path: String,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
}

/// A page of projects as `actor` sees them, in the same order. Costs the same few queries for any number.
pub fn page(
    tx: &mut Tx<'_>,
    actor: Actor,
    projects: Vec<Project>,
    want: Detail,
) -> Result<Vec<ProjectView>> {
    let mut shown = basic(tx, actor, projects)?;
    if let Detail::Full { statistics } = want {
        complete(tx, actor, &mut shown, statistics)?;
    }
    Ok(shown)
}

fn basic(tx: &mut Tx<'_>, actor: Actor, projects: Vec<Project>) -> Result<Vec<ProjectView>> {
    let ids: Vec<ProjectId> = projects.iter().map(|project| project.id).collect();
    let homes: Vec<NamespaceId> = projects.iter().map(|project| project.namespace_id).collect();
    let homes = tx.namespaces_by_id(&homes)?;
    let mut topics = tx.topics_by_project(&ids)?;
    let levels = levels(tx, actor, &ids)?;
    let shown = projects.into_iter().filter_map(|project| {
        let level = levels.get(&project.id).copied().unwrap_or_default();
        Some(ProjectView {
            namespace: homes.get(&project.namespace_id)?.clone(),
            topics: topics.remove(&project.id).unwrap_or_default(),
            who: Standing::in_project(actor, level, &project.facts()),
            project,
            full: None,
        })
    });
    Ok(shown.collect())
}

fn levels(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
) -> Result<HashMap<ProjectId, AccessLevel>> {
    let Some(user) = actor.id else { return Ok(HashMap::new()) };
    let now = tx.now;
    let rows: Vec<(ProjectId, AccessLevel)> = each_backend!(tx, |conn| project_access::table
        .filter(project_access::user_id.eq(user))
        .filter(project_access::project_id.one_of(ids))
        .filter(project_access::until.gt(now))
        .select((project_access::project_id, project_access::access_level))
        .load(conn)
        .map_err(error("Project")))?;
    Ok(rows.into_iter().collect())
}

fn complete(
    tx: &mut Tx<'_>,
    actor: Actor,
    shown: &mut [ProjectView],
    with_statistics: bool,
) -> Result<()> {
    let ids: Vec<ProjectId> = shown.iter().map(|shown| shown.project.id).collect();
    let mut settings = tx.settings_by_project(&ids)?;
    let owners = owners(tx, shown)?;
    let sources: Vec<ProjectId> =
        shown.iter().filter_map(|shown| shown.project.forked_from_id).collect();
    let sources = fork_sources(tx, actor, &sources)?;
    let mut links = links_by_project(tx, actor, &ids)?;
    let statistics =
        if with_statistics { tx.statistics_by_project(&ids)? } else { BTreeMap::new() };
    let own = own_memberships(tx, actor, &ids)?;
    let groups = group_memberships(tx, actor, shown)?;
    for shown in shown {
        let id = shown.project.id;
        let home = &shown.namespace;
        let owned = home.owner_id.is_some() && home.owner_id == actor.id;
        shown.full = Some(Box::new(FullView {
            settings: settings.remove(&id).unwrap_or_default(),
            owner: home.owner_id.and_then(|owner| owners.get(&owner).cloned()),
            forked_from: shown
                .project
                .forked_from_id
                .and_then(|source| sources.get(&source).cloned()),
            shared_with: links.remove(&id).unwrap_or_default(),
            statistics: with_statistics.then(|| statistics.get(&id).copied().unwrap_or_default()),
            project_access: if owned { Some(AccessLevel::Owner) } else { own.get(&id).copied() },
            group_access: match home.kind {
                Kind::Group => groups.get(&home.id).copied(),
                Kind::User => None,
            },
        }));
    }
    Ok(())
}

fn owners(tx: &mut Tx<'_>, shown: &[ProjectView]) -> Result<HashMap<UserId, UserSummary>> {
    let ids: Vec<UserId> = shown.iter().filter_map(|shown| shown.namespace.owner_id).collect();
    tx.summaries_by_id(&ids)
}

/// The projects these were forked from, where the caller may see them.
pub(super) fn fork_sources(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
) -> Result<HashMap<ProjectId, ProjectView>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<Project> = each_backend!(tx, |conn| projects::table
        .filter(projects::id.one_of(ids))
        .filter(projects::deleted_at.is_null())
        .select(Project::as_select())
        .load(conn)
        .map_err(error("Project")))?;
    let sources = basic(tx, actor, rows)?;
    let readable = sources.into_iter().filter(|source| source.who.visible);
    Ok(readable.map(|source| (source.project.id, source)).collect())
}

type LinkRow = (ProjectId, NamespaceId, AccessLevel, Option<Ts>);

/// The groups that projects are shared with; only those that the actor may know of.
pub(super) fn links_by_project(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
) -> Result<HashMap<ProjectId, Vec<GroupLink>>> {
    let query = project_group_links::table
        .filter(project_group_links::project_id.one_of(ids))
        .filter(living!(project_group_links, tx.now))
        .order(project_group_links::id)
        .select((
            project_group_links::project_id,
            project_group_links::namespace_id,
            project_group_links::access_level,
            project_group_links::expires_at,
        ));
    let rows: Vec<LinkRow> = each_backend!(tx, |conn| query.load(conn).map_err(error("Group")))?;
    let groups: BTreeSet<NamespaceId> = rows.iter().map(|row| row.1).collect();
    let groups: Vec<NamespaceId> = groups.into_iter().collect();
    let known = known_groups(tx, actor, &groups)?;
    let known: HashMap<NamespaceId, Namespace> =
        known.into_iter().map(|group| (group.id, group)).collect();
    let mut links: HashMap<ProjectId, Vec<GroupLink>> = HashMap::new();
    for (project, group, access_level, expires_at) in rows {
        let Some(found) = known.get(&group) else { continue };
        let (name, full_path) = (found.name.clone(), found.full_path.clone());
        let link = GroupLink { group, name, full_path, access_level, expires_at };
        links.entry(project).or_default().push(link);
    }
    Ok(links)
}

fn own_memberships(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
) -> Result<HashMap<ProjectId, AccessLevel>> {
    let Some(user) = actor.id else { return Ok(HashMap::new()) };
    let now = tx.now;
    let rows: Vec<(Option<ProjectId>, AccessLevel)> = each_backend!(tx, |conn| members::table
        .filter(members::user_id.eq(user))
        .filter(members::project_id.one_of(ids))
        .filter(living!(members, now))
        .select((members::project_id, members::access_level))
        .load(conn)
        .map_err(error("Member")))?;
    Ok(rows.into_iter().filter_map(|(project, level)| Some((project?, level))).collect())
}

fn group_memberships(
    tx: &mut Tx<'_>,
    actor: Actor,
    shown: &[ProjectView],
) -> Result<HashMap<NamespaceId, AccessLevel>> {
    let Some(user) = actor.id else { return Ok(HashMap::new()) };
    let homes: Vec<NamespaceId> = shown.iter().map(|shown| shown.namespace.id).collect();
    let now = tx.now;
    // One by one from the groups: PostgreSQL would look through everything that a person has.
    let level = namespace_access::table
        .filter(namespace_access::user_id.eq(user))
        .filter(namespace_access::namespace_id.eq(namespaces::id))
        .filter(namespace_access::until.gt(now))
        .select(namespace_access::access_level)
        .single_value();
    let rows: Vec<(NamespaceId, Option<AccessLevel>)> =
        each_backend!(tx, |conn| namespaces::table
            .filter(namespaces::id.one_of(&homes))
            .select((namespaces::id, level))
            .load(conn)
            .map_err(error("Group")))?;
    Ok(rows.into_iter().filter_map(|(group, level)| Some((group, level?))).collect())
}
