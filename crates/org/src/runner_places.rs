//! Registration tokens of projects and groups, and which runners a project accepts.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    listing::{self, Bind},
    schema::{namespace_access, namespaces, project_access, projects},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result,
    access::FeatureAccess,
    ids::{NamespaceId, ProjectId},
};

use crate::{
    namespace::{Kind, store::NamespaceStore as _},
    project::{creation::runners_token, settings::SettingsStore as _},
};

/// No token is longer.
const LONGEST: usize = 255;
/// Maximum depth of the group hierarchy.
const DEEPEST: usize = 64;

/// The place for which a registration token registers runners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationTarget {
    Project(ProjectId),
    Group(NamespaceId),
}

/// The project or group whose registration token this is.
pub fn registration_place(tx: &mut Tx<'_>, token: &str) -> Result<Option<RegistrationTarget>> {
    if token.is_empty() || token.len() > LONGEST {
        return Ok(None);
    }
    // Each database has its own word for the expression that the index is on.
    let value = match &tx.conn {
        db::Conn::Sqlite(_) => "(settings ->> 'runners_token')",
        db::Conn::Postgres(_) => "(settings::jsonb ->> 'runners_token')",
    };
    let binds = [Bind::Word(token.to_owned())];
    let sql = format!("SELECT project_id AS id FROM project_settings WHERE {value} = $1");
    if let Some(id) = listing::ids(tx, &sql, &binds)?.first() {
        let living = projects::table.find(ProjectId(*id)).filter(projects::deleted_at.is_null());
        let living = living.select(projects::id);
        let found: Option<ProjectId> =
            each_backend!(tx, |conn| living.first(conn).optional().map_err(error("Project")))?;
        return Ok(found.map(RegistrationTarget::Project));
    }
    let sql = format!("SELECT id FROM namespaces WHERE {value} = $1 AND deleted_at IS NULL");
    let found = listing::ids(tx, &sql, &binds)?;
    Ok(found.first().map(|id| RegistrationTarget::Group(NamespaceId(*id))))
}

/// Gives a project another registration token.
pub fn reset_of_project(tx: &mut Tx<'_>, project: ProjectId) -> Result<String> {
    let mut settings = tx.project_settings(project)?;
    settings.runners_token = runners_token();
    tx.save_settings(project, &settings)?;
    Ok(settings.runners_token)
}

/// Gives a group another registration token.
pub fn reset_of_group(tx: &mut Tx<'_>, group: NamespaceId) -> Result<String> {
    let token = runners_token();
    let mut settings = tx.namespace(group)?.settings();
    settings.runners_token = Some(token.clone());
    let text = serde_json::to_string(&settings).map_err(kernel::Error::internal)?;
    let row = diesel::update(namespaces::table.find(group)).set(namespaces::settings.eq(text));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Group")))?;
    Ok(token)
}

/// The projects in which somebody has at least this role by membership.
pub fn projects_with_role(
    tx: &mut Tx<'_>,
    actor: Actor,
    at_least: AccessLevel,
) -> Result<Vec<ProjectId>> {
    let Some(user) = actor.id else { return Ok(Vec::new()) };
    let rows = project_access::table
        .filter(project_access::user_id.eq(user))
        .filter(project_access::access_level.ge(at_least))
        .filter(project_access::until.gt(tx.now))
        .select(project_access::project_id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Project")))
}

/// The groups in which somebody has at least this role.
pub fn groups_with_role(
    tx: &mut Tx<'_>,
    actor: Actor,
    at_least: AccessLevel,
) -> Result<Vec<NamespaceId>> {
    let Some(user) = actor.id else { return Ok(Vec::new()) };
    let rows = namespace_access::table
        .inner_join(namespaces::table.on(namespaces::id.eq(namespace_access::namespace_id)))
        .filter(namespace_access::user_id.eq(user))
        .filter(namespace_access::access_level.ge(at_least))
        .filter(namespace_access::until.gt(tx.now))
        .filter(namespaces::kind.eq(Kind::Group).and(namespaces::deleted_at.is_null()))
        .select(namespace_access::namespace_id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Group")))
}

/// The runner settings of a project.
#[derive(Clone, Debug)]
pub struct JobHome {
    pub project: ProjectId,
    /// The groups in which it lies, nearest first.
    pub groups: Vec<NamespaceId>,
    pub instance_runners: bool,
    pub group_runners: bool,
    /// Not where it is archived or has no pipelines.
    pub runs_jobs: bool,
}

/// Whose runners do the jobs of these projects: so many questions as groups lie in one another. What is being deleted is
/// left out.
pub fn job_homes(tx: &mut Tx<'_>, ids: &[ProjectId]) -> Result<Vec<JobHome>> {
    let rows = projects::table
        .filter(projects::id.one_of(ids).and(projects::deleted_at.is_null()))
        .select((
            projects::id,
            projects::namespace_id,
            projects::archived,
            projects::builds_access,
        ));
    let rows: Vec<(ProjectId, NamespaceId, bool, FeatureAccess)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Project")))?;
    let settings = tx.settings_by_project(ids)?;
    let parents = ancestry(tx, rows.iter().map(|(_, home, ..)| *home).collect())?;
    let home = |(project, namespace, archived, builds): (ProjectId, NamespaceId, bool, _)| {
        let own = settings.get(&project);
        JobHome {
            project,
            groups: chain(&parents, namespace),
            instance_runners: own.is_some_and(|own| own.shared_runners_enabled),
            group_runners: own.is_some_and(|own| own.group_runners_enabled),
            runs_jobs: !archived && builds != FeatureAccess::Disabled,
        }
    };
    Ok(rows.into_iter().map(home).collect())
}

type Parents = HashMap<NamespaceId, (Kind, Option<NamespaceId>)>;

/// What these namespaces are and lie in, and so on upwards.
fn ancestry(tx: &mut Tx<'_>, from: HashSet<NamespaceId>) -> Result<Parents> {
    let mut known = Parents::new();
    let mut next: Vec<NamespaceId> = from.into_iter().collect();
    while !next.is_empty() {
        let rows = namespaces::table.filter(namespaces::id.one_of(&next));
        let rows = rows.select((namespaces::id, namespaces::kind, namespaces::parent_id));
        let rows: Vec<(NamespaceId, Kind, Option<NamespaceId>)> =
            each_backend!(tx, |conn| rows.load(conn).map_err(error("Group")))?;
        known.extend(rows.iter().map(|(id, kind, parent)| (*id, (*kind, *parent))));
        let above: HashSet<NamespaceId> =
            rows.iter().filter_map(|(_, _, parent)| *parent).collect();
        next = above.into_iter().filter(|id| !known.contains_key(id)).collect();
    }
    Ok(known)
}

fn chain(parents: &Parents, from: NamespaceId) -> Vec<NamespaceId> {
    let (mut groups, mut next) = (Vec::new(), Some(from));
    while let Some((id, (kind, parent))) = next.and_then(|id| Some((id, *parents.get(&id)?))) {
        if kind == Kind::Group {
            groups.push(id);
        }
        next = parent.filter(|_| groups.len() < DEEPEST);
    }
    groups
}
