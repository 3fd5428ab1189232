//! Finding projects.

use db::{
    Tx, each_backend, error,
    schema::{namespaces, project_access, projects, redirects},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result, Ts, Visibility,
    access::{FeatureAccess, Features, ProjectFacts},
    ids::{NamespaceId, ProjectId, UserId},
};

use super::Project;
use crate::{access, namespace::networks::shut_out};

pub trait ProjectStore {
    /// A project that is not being deleted.
    fn project(&mut self, id: ProjectId) -> Result<Project>;
    fn find_project(&mut self, id: ProjectId) -> Result<Option<Project>>;
    /// Those of these projects that are not being deleted, in no order.
    fn projects_by_id(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>>;
    /// Every project that is not being deleted, the oldest first.
    fn all_projects(&mut self) -> Result<Vec<Project>>;
    /// By full path; letter case does not matter, and paths it had before count too.
    fn find_project_at(&mut self, full_path: &str) -> Result<Option<Project>>;
    /// What everybody who acts inside a project needs, and the actor's role there, by one statement. Nothing for who asks
    /// from outside the networks of its group.
    fn find_scope(&mut self, actor: Actor, id: ProjectId) -> Result<Option<Located>>;
    /// The same by full path.
    fn find_scope_at(&mut self, actor: Actor, full_path: &str) -> Result<Option<Located>>;
    /// The same by a full path that it had before.
    fn find_scope_once_at(&mut self, actor: Actor, full_path: &str) -> Result<Option<Located>>;
}

/// A project as a scope, and the role in it that one person has by membership.
pub type Located = (ProjectFacts, AccessLevel);

#[derive(Queryable)]
struct ScopeRow {
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
    /// Of its group.
    ip_ranges: Option<String>,
}

impl ScopeRow {
    fn located(self, tx: &mut Tx<'_>, actor: Actor) -> Result<Located> {
        let row = self;
        let level = access::level_now(tx, row.level, row.until, |tx| {
            access::level_in_project(tx, actor, row.id)
        })?;
        let (repository, issues, merge_requests, forking, builds, wiki, snippets) = row.features;
        let features =
            Features { repository, issues, merge_requests, forking, builds, wiki, snippets };
        let facts = ProjectFacts {
            id: row.id,
            namespace_id: row.namespace_id,
            name: row.name,
            full_path: row.full_path,
            default_branch: row.default_branch,
            first_push: AccessLevel::Maintainer,
            visibility: row.visibility,
            archived: row.archived,
            features,
        };
        Ok((facts, level))
    }
}

/// The scope of the project that a condition chooses.
macro_rules! scope_where {
    ($tx:expr, $actor:expr, $condition:expr) => {{
        // Nobody has the id 0.
        let user = $actor.id.unwrap_or(UserId(0));
        let access =
            project_access::user_id.eq(user).and(project_access::project_id.eq(projects::id));
        let query = projects::table
            .inner_join(namespaces::table.on(namespaces::id.eq(projects::namespace_id)))
            .left_join(project_access::table.on(access))
            .filter($condition)
            .filter(projects::deleted_at.is_null())
            .select((
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
            ));
        let row: Option<ScopeRow> =
            each_backend!($tx, |conn| query.get_result(conn).optional().map_err(error("Project")))?;
        let reached = row.filter(|row| !shut_out($actor, row.ip_ranges.as_deref()));
        reached.map(|row| row.located($tx, $actor)).transpose()
    }};
}

impl ProjectStore for Tx<'_> {
    fn projects_by_id(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>> {
        let rows =
            projects::table.filter(projects::id.eq_any(ids).and(projects::deleted_at.is_null()));
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

    fn find_scope(&mut self, actor: Actor, id: ProjectId) -> Result<Option<Located>> {
        scope_where!(self, actor, projects::id.eq(id))
    }

    fn find_scope_at(&mut self, actor: Actor, full_path: &str) -> Result<Option<Located>> {
        let key = full_path.to_lowercase();
        scope_where!(self, actor, projects::path_key.eq(&key))
    }

    fn find_scope_once_at(&mut self, actor: Actor, full_path: &str) -> Result<Option<Located>> {
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
