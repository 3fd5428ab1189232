//! Making projects.

use db::{
    Tx, each_backend, error,
    schema::{project_settings, project_statistics, projects},
};
use diesel::prelude::*;
use kernel::{
    Result, Visibility,
    access::FeatureAccess,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::Project;
use crate::{access, namespace::store::NamespaceStore};

/// A project as it is first written down; names and paths are already checked.
#[derive(Clone, Debug)]
pub struct NewProject {
    pub namespace_id: NamespaceId,
    pub creator_id: UserId,
    pub name: String,
    pub path: String,
    pub description: Option<String>,
    pub visibility: Visibility,
}

/// Writes a project down, without its repository. Effective access is there with it.
pub fn insert(tx: &mut Tx<'_>, new: &NewProject) -> Result<Project> {
    let namespace = tx.namespace(new.namespace_id)?;
    let full_path = format!("{}/{}", namespace.full_path, new.path);
    let enabled = FeatureAccess::Enabled;
    let row = (
        (
            projects::namespace_id.eq(new.namespace_id),
            projects::creator_id.eq(new.creator_id),
            projects::name.eq(&new.name),
            projects::path.eq(&new.path),
            projects::path_key.eq(full_path.to_lowercase()),
            projects::full_path.eq(full_path),
            projects::full_name.eq(format!("{} / {}", namespace.full_name, new.name)),
            projects::description.eq(&new.description),
            projects::visibility.eq(new.visibility),
            projects::archived.eq(false),
        ),
        (
            projects::repository_access.eq(enabled),
            projects::issues_access.eq(enabled),
            projects::merge_requests_access.eq(enabled),
            projects::forking_access.eq(enabled),
            projects::builds_access.eq(enabled),
            projects::wiki_access.eq(enabled),
            projects::snippets_access.eq(enabled),
        ),
        projects::star_count.eq(0),
        projects::forks_count.eq(0),
        projects::import_status.eq("none"),
        projects::last_activity_at.eq(tx.now),
        projects::created_at.eq(tx.now),
        projects::updated_at.eq(tx.now),
    );
    let insert = diesel::insert_into(projects::table).values(row);
    let project: Project = each_backend!(tx, |conn| insert
        .returning(Project::as_returning())
        .get_result(conn)
        .map_err(error("Project")))?;
    insert_companions(tx, project.id)?;
    access::refresh_project(tx, project.id)?;
    Ok(project)
}

fn insert_companions(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let now = tx.now;
    each_backend!(tx, |conn| diesel::insert_into(project_settings::table)
        .values((project_settings::project_id.eq(project), project_settings::settings.eq("{}")))
        .execute(conn)
        .map_err(error("Project")))?;
    each_backend!(tx, |conn| diesel::insert_into(project_statistics::table)
        .values((
            project_statistics::project_id.eq(project),
            project_statistics::commit_count.eq(0),
            project_statistics::repository_size.eq(0),
            project_statistics::updated_at.eq(now),
        ))
        .execute(conn)
        .map_err(error("Project")))?;
    Ok(())
}
