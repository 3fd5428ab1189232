//! The lists in the database.

use db::{
    Tx, each_backend, error,
    schema::{job_token_groups as groups, job_token_projects as projects},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};

const NOUN: &str = "Job token scope";

/// The lists of the project that comes first.
pub trait JobTokenScopeStore {
    /// In the order in which they were added.
    fn job_token_projects(&mut self, project: ProjectId) -> Result<Vec<ProjectId>>;
    /// In the order in which they were added.
    fn job_token_groups(&mut self, project: ProjectId) -> Result<Vec<NamespaceId>>;
    fn add_job_token_project(&mut self, project: ProjectId, target: ProjectId) -> Result<()>;
    fn add_job_token_group(&mut self, project: ProjectId, target: NamespaceId) -> Result<()>;
    /// False where it was not listed.
    fn delete_job_token_project(&mut self, project: ProjectId, target: ProjectId) -> Result<bool>;
    /// False where it was not listed.
    fn delete_job_token_group(&mut self, project: ProjectId, target: NamespaceId) -> Result<bool>;
}

impl JobTokenScopeStore for Tx<'_> {
    fn job_token_projects(&mut self, project: ProjectId) -> Result<Vec<ProjectId>> {
        let rows = projects::table.filter(projects::project_id.eq(project)).order(projects::id);
        let rows = rows.select(projects::target_project_id);
        each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))
    }

    fn job_token_groups(&mut self, project: ProjectId) -> Result<Vec<NamespaceId>> {
        let rows = groups::table.filter(groups::project_id.eq(project)).order(groups::id);
        let rows = rows.select(groups::target_group_id);
        each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))
    }

    fn add_job_token_project(&mut self, project: ProjectId, target: ProjectId) -> Result<()> {
        let row = (
            projects::project_id.eq(project),
            projects::target_project_id.eq(target),
            projects::created_at.eq(self.now),
        );
        let insert = diesel::insert_into(projects::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn add_job_token_group(&mut self, project: ProjectId, target: NamespaceId) -> Result<()> {
        let row = (
            groups::project_id.eq(project),
            groups::target_group_id.eq(target),
            groups::created_at.eq(self.now),
        );
        let insert = diesel::insert_into(groups::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_job_token_project(&mut self, project: ProjectId, target: ProjectId) -> Result<bool> {
        let row = projects::table
            .filter(projects::project_id.eq(project))
            .filter(projects::target_project_id.eq(target));
        let gone =
            each_backend!(self, |conn| diesel::delete(row).execute(conn).map_err(error(NOUN)))?;
        Ok(gone > 0)
    }

    fn delete_job_token_group(&mut self, project: ProjectId, target: NamespaceId) -> Result<bool> {
        let row = groups::table
            .filter(groups::project_id.eq(project))
            .filter(groups::target_group_id.eq(target));
        let gone =
            each_backend!(self, |conn| diesel::delete(row).execute(conn).map_err(error(NOUN)))?;
        Ok(gone > 0)
    }
}
