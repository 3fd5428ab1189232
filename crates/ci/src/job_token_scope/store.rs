//! The lists in the database.

use db::{
    Tx, each_backend, error,
    schema::{job_token_groups, job_token_projects},
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
        let rows = job_token_projects::table
            .filter(job_token_projects::project_id.eq(project))
            .order(job_token_projects::id);
        let rows = rows.select(job_token_projects::target_project_id);
        each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))
    }

    fn job_token_groups(&mut self, project: ProjectId) -> Result<Vec<NamespaceId>> {
        let rows = job_token_groups::table
            .filter(job_token_groups::project_id.eq(project))
            .order(job_token_groups::id);
        let rows = rows.select(job_token_groups::target_group_id);
        each_backend!(self, |conn| rows.load(conn).map_err(error(NOUN)))
    }

    fn add_job_token_project(&mut self, project: ProjectId, target: ProjectId) -> Result<()> {
        let row = (
            job_token_projects::project_id.eq(project),
            job_token_projects::target_project_id.eq(target),
            job_token_projects::created_at.eq(self.now),
        );
        let insert =
            diesel::insert_into(job_token_projects::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn add_job_token_group(&mut self, project: ProjectId, target: NamespaceId) -> Result<()> {
        let row = (
            job_token_groups::project_id.eq(project),
            job_token_groups::target_group_id.eq(target),
            job_token_groups::created_at.eq(self.now),
        );
        let insert =
            diesel::insert_into(job_token_groups::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_job_token_project(&mut self, project: ProjectId, target: ProjectId) -> Result<bool> {
        let row = job_token_projects::table
            .filter(job_token_projects::project_id.eq(project))
            .filter(job_token_projects::target_project_id.eq(target));
        let gone =
            each_backend!(self, |conn| diesel::delete(row).execute(conn).map_err(error(NOUN)))?;
        Ok(gone > 0)
    }

    fn delete_job_token_group(&mut self, project: ProjectId, target: NamespaceId) -> Result<bool> {
        let row = job_token_groups::table
            .filter(job_token_groups::project_id.eq(project))
            .filter(job_token_groups::target_group_id.eq(target));
        let gone =
            each_backend!(self, |conn| diesel::delete(row).execute(conn).map_err(error(NOUN)))?;
        Ok(gone > 0)
    }
}
