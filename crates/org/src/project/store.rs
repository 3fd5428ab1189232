//! Finding projects.

use db::{
    OneOf as _, Subselect, Tx, each_backend, error,
    schema::{namespaces, project_access, projects, redirects},
};
use diesel::{
    prelude::*,
    sql_types::{Nullable, Text},
};
use kernel::{
    AccessLevel, Actor, Result, Ts, Visibility,
    access::{FeatureAccess, Features, ProjectFacts},
    ids::{NamespaceId, ProjectId, UserId},
};

use super::Project;
use crate::{
    access,
    namespace::{default_branch, networks::shut_out},
};

pub trait ProjectStore {
    /// A project that is not being deleted.
    fn project(&mut self, id: ProjectId) -> Result<Project>;
    fn find_project(&mut self, id: ProjectId) -> Result<Option<Project>>;
    /// Those of these projects that are not being deleted, by id.
    fn projects_by_id(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>>;
    /// Every project that is not being deleted, the oldest first.
    fn all_projects(&mut self) -> Result<Vec<Project>>;
    /// By full path; letter case does not matter, and paths it had before count too.
    fn find_project_at(&mut self, full_path: &str) -> Result<Option<Project>>;
    /// What everybody who acts inside a project needs, and the actor's role there, by one statement. Nothing for who asks
    /// from outside the networks of its group.
    fn find_scope(&mut self, actor: Actor, id: ProjectId) -> Result<Option<ProjectWithLevel>>;
    /// The same for a few projects at once.
    fn find_scopes(&mut self, actor: Actor, ids: &[ProjectId]) -> Result<Vec<ProjectWithLevel>>;
    /// The same by full path.
    fn find_scope_at(&mut self, actor: Actor, full_path: &str) -> Result<Option<ProjectWithLevel>>;
    /// The same by a full path that it had before.
    fn find_scope_once_at(
        &mut self,
        actor: Actor,
        full_path: &str,
    ) -> Result<Option<ProjectWithLevel>>;
}

/// A project as a scope, and the role in it that one person has by membership.
pub type ProjectWithLevel = (ProjectFacts, AccessLevel);

db::subselect! {
    /// The installation's settings, where they say who may make the first push: before it, in groups that do not say so.
    pub(crate) struct FirstPush -> Nullable<Text> =
        "SELECT settings FROM instance_settings WHERE id = 1 AND projects.default_branch IS NULL \
         AND namespaces.default_branch_protection IS NULL";
}

pub(crate) const FIRST_PUSH: Subselect<FirstPush> = Subselect::new();

/// What [`ScopeRow`] is made of: columns of the project, of its group, and of somebody's role.
macro_rules! scope_columns {
    () => {
        (
            projects::id,
            projects::namespace_id,
            projects::name,
            projects::full_path,
            projects::default_branch,
            projects::visibility,
            projects::archived,
            (
                projects::repository_access,
                projects::issues_access,
                projects::merge_requests_access,
                projects::forking_access,
                projects::builds_access,
                projects::wiki_access,
                projects::snippets_access,
            ),
            project_access::access_level.nullable(),
            project_access::until.nullable(),
            namespaces::ip_ranges,
            namespaces::default_branch_protection,
            $crate::project::store::FIRST_PUSH,
        )
    };
}
pub(crate) use scope_columns;

#[derive(Debug, Queryable)]
pub(crate) struct ScopeRow {
    id: ProjectId,
    namespace_id: NamespaceId,
    name: String,
    full_path: String,
    default_branch: Option<String>,
    visibility: Visibility,
    archived: bool,
    features: (
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
        FeatureAccess,
    ),
    level: Option<AccessLevel>,
    until: Option<Ts>,
    /// Of its group, as is the next.
    ip_ranges: Option<String>,
    protection: Option<i32>,
    installation: Option<String>,
}

impl ScopeRow {
    fn located(self, tx: &mut Tx<'_>, actor: Actor) -> Result<ProjectWithLevel> {
        let level = access::level_now(tx, self.level, self.until, |tx| {
            access::level_in_project(tx, actor, self.id)
        })?;
        Ok((self.facts()?, level))
    }

    /// The same for whose role goes on; nothing where it has ended, and something may be left of it.
    pub(crate) fn located_now(self, actor: Actor, now: Ts) -> Result<Option<ProjectWithLevel>> {
        let ended = self.until.is_some_and(|until| until <= now);
        if ended || shut_out(actor, self.ip_ranges.as_deref()) {
            return Ok(None);
        }
        let level = self.level.unwrap_or_default();
        Ok(Some((self.facts()?, level)))
    }

    fn facts(self) -> Result<ProjectFacts> {
        let row = self;
        let first_push = match row.default_branch {
            Some(_) => AccessLevel::Maintainer,
            None => default_branch::first_push(row.protection, row.installation.as_deref())?,
        };
        let (repository, issues, merge_requests, forking, builds, wiki, snippets) = row.features;
        let features =
            Features { repository, issues, merge_requests, forking, builds, wiki, snippets };
        Ok(ProjectFacts {
            id: row.id,
            namespace_id: row.namespace_id,
            name: row.name,
            full_path: row.full_path,
            default_branch: row.default_branch,
            first_push,
            visibility: row.visibility,
            archived: row.archived,
            features,
        })
    }
}

/// The scopes of the projects that a condition chooses, as rows.
macro_rules! scopes_where {
    ($actor:expr, $condition:expr) => {{
        // Nobody has the id 0.
        let user = $actor.id.unwrap_or(UserId(0));
        let access =
            project_access::user_id.eq(user).and(project_access::project_id.eq(projects::id));
        projects::table
            .inner_join(namespaces::table.on(namespaces::id.eq(projects::namespace_id)))
            .left_join(project_access::table.on(access))
            .filter($condition)
            .filter(projects::deleted_at.is_null())
            .select(scope_columns!())
    }};
}

/// The scope of the project that a condition chooses.
macro_rules! scope_where {
    ($tx:expr, $actor:expr, $condition:expr) => {{
        let query = scopes_where!($actor, $condition);
        let row: Option<ScopeRow> =
            each_backend!($tx, |conn| query.get_result(conn).optional().map_err(error("Project")))?;
        let reached = row.filter(|row| !shut_out($actor, row.ip_ranges.as_deref()));
        reached.map(|row| row.located($tx, $actor)).transpose()
    }};
}

impl ProjectStore for Tx<'_> {
    fn projects_by_id(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>> {
        let rows = projects::table
            .filter(projects::id.one_of(ids).and(projects::deleted_at.is_null()))
            .order(projects::id);
        each_backend!(self, |conn| rows
            .select(Project::as_select())
            .load(conn)
            .map_err(error("Project")))
    }

    fn project(&mut self, id: ProjectId) -> Result<Project> {
        let query = projects::table.find(id).filter(projects::deleted_at.is_null());
        each_backend!(self, |conn| query
            .select(Project::as_select())
            .get_result(conn)
            .map_err(error("Project")))
    }

    fn find_project(&mut self, id: ProjectId) -> Result<Option<Project>> {
        let query = projects::table.find(id).filter(projects::deleted_at.is_null());
        each_backend!(self, |conn| query
            .select(Project::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Project")))
    }

    fn all_projects(&mut self) -> Result<Vec<Project>> {
        let query = projects::table.filter(projects::deleted_at.is_null()).order(projects::id);
        each_backend!(self, |conn| query
            .select(Project::as_select())
            .load(conn)
            .map_err(error("Project")))
    }

    fn find_project_at(&mut self, full_path: &str) -> Result<Option<Project>> {
        let key = full_path.to_lowercase();
        let query = projects::table
            .filter(projects::path_key.eq(&key))
            .filter(projects::deleted_at.is_null());
        let found: Option<Project> = each_backend!(self, |conn| query
            .select(Project::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Project")))?;
        if found.is_some() {
            return Ok(found);
        }
        moved_from(self, &key)?.map_or(Ok(None), |id| self.find_project(id))
    }

    fn find_scope(&mut self, actor: Actor, id: ProjectId) -> Result<Option<ProjectWithLevel>> {
        scope_where!(self, actor, projects::id.eq(id))
    }

    fn find_scopes(&mut self, actor: Actor, ids: &[ProjectId]) -> Result<Vec<ProjectWithLevel>> {
        let query = scopes_where!(actor, projects::id.one_of(ids));
        let rows: Vec<ScopeRow> =
            each_backend!(self, |conn| query.load(conn).map_err(error("Project")))?;
        let reached = rows.into_iter().filter(|row| !shut_out(actor, row.ip_ranges.as_deref()));
        reached.map(|row| row.located(self, actor)).collect()
    }

    fn find_scope_at(&mut self, actor: Actor, full_path: &str) -> Result<Option<ProjectWithLevel>> {
        let key = full_path.to_lowercase();
        scope_where!(self, actor, projects::path_key.eq(&key))
    }

    fn find_scope_once_at(
        &mut self,
        actor: Actor,
        full_path: &str,
    ) -> Result<Option<ProjectWithLevel>> {
        let moved = moved_from(self, &full_path.to_lowercase())?;
        // Nothing has the id 0; looking for it takes as long as looking for what was moved.
        self.find_scope(actor, moved.unwrap_or(ProjectId(0)))
    }
}

/// The project that had this path before.
fn moved_from(tx: &mut Tx<'_>, key: &str) -> Result<Option<ProjectId>> {
    let moved = redirects::table.filter(redirects::path_key.eq(key)).select(redirects::project_id);
    let moved: Option<Option<ProjectId>> =
        each_backend!(tx, |conn| moved.get_result(conn).optional().map_err(error("Project")))?;
    Ok(moved.flatten())
}
