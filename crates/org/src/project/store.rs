//! Finding projects.

use db::{
    Tx, each_backend, error,
    schema::{projects, redirects},
};
use diesel::prelude::*;
use kernel::{Result, ids::ProjectId};

use super::Project;

pub trait ProjectStore {
    /// A project that is not being deleted.
    fn project(&mut self, id: ProjectId) -> Result<Project>;
    fn find_project(&mut self, id: ProjectId) -> Result<Option<Project>>;
    /// Every project that is not being deleted, the oldest first.
    fn all_projects(&mut self) -> Result<Vec<Project>>;
    /// By full path; letter case does not matter, and paths it had before count too.
    fn find_project_at(&mut self, full_path: &str) -> Result<Option<Project>>;
}

impl ProjectStore for Tx<'_> {
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
        let moved =
            redirects::table.filter(redirects::path_key.eq(&key)).select(redirects::project_id);
        let moved: Option<Option<ProjectId>> = each_backend!(self, |conn| moved
            .get_result(conn)
            .optional()
            .map_err(error("Project")))?;
        moved.flatten().map_or(Ok(None), |id| self.find_project(id))
    }
}
