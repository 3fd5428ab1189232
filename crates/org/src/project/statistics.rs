//! Figures about a project's repository: how much there is, and in which languages.

use std::collections::BTreeMap;

use db::{
    Tx, each_backend, error,
    schema::{project_languages, project_statistics, projects},
};
use diesel::prelude::*;
use kernel::{Result, ids::ProjectId};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = project_statistics, check_for_backend(diesel::sqlite::Sqlite, diesel::pg::Pg))]
pub struct Statistics {
    pub commit_count: i64,
    /// Bytes on disk.
    pub repository_size: i64,
}

pub trait StatisticsStore {
    fn statistics_by_project(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<BTreeMap<ProjectId, Statistics>>;
    fn save_statistics(&mut self, project: ProjectId, found: Statistics) -> Result<()>;
    /// Languages with their bytes, most first.
    fn languages(&mut self, project: ProjectId) -> Result<Vec<(String, i64)>>;
    fn save_languages(&mut self, project: ProjectId, found: &[(String, i64)]) -> Result<()>;
}

impl StatisticsStore for Tx<'_> {
    fn statistics_by_project(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<BTreeMap<ProjectId, Statistics>> {
        let rows: Vec<(ProjectId, Statistics)> =
            each_backend!(self, |conn| project_statistics::table
                .filter(project_statistics::project_id.eq_any(projects))
                .select((project_statistics::project_id, Statistics::as_select()))
                .load(conn)
                .map_err(error("Project")))?;
        Ok(rows.into_iter().collect())
    }

    fn save_statistics(&mut self, project: ProjectId, found: Statistics) -> Result<()> {
        let update = diesel::update(project_statistics::table.find(project)).set((
            project_statistics::commit_count.eq(found.commit_count),
            project_statistics::repository_size.eq(found.repository_size),
            project_statistics::updated_at.eq(self.now),
        ));
        each_backend!(self, |conn| update.execute(conn).map_err(error("Project")))?;
        Ok(())
    }

    fn languages(&mut self, project: ProjectId) -> Result<Vec<(String, i64)>> {
        let query = project_languages::table
            .filter(project_languages::project_id.eq(project))
            .order((project_languages::bytes.desc(), project_languages::name))
            .select((project_languages::name, project_languages::bytes));
        each_backend!(self, |conn| query.load(conn).map_err(error("Project")))
    }

    fn save_languages(&mut self, project: ProjectId, found: &[(String, i64)]) -> Result<()> {
        let old = project_languages::table.filter(project_languages::project_id.eq(project));
        each_backend!(self, |conn| diesel::delete(old).execute(conn).map_err(error("Project")))?;
        let rows: Vec<_> = found
            .iter()
            .map(|(name, bytes)| {
                (
                    project_languages::project_id.eq(project),
                    project_languages::name.eq(name),
                    project_languages::bytes.eq(*bytes),
                )
            })
            .collect();
        each_backend!(self, |conn| diesel::insert_into(project_languages::table)
            .values(rows)
            .execute(conn)
            .map_err(error("Project")))?;
        Ok(())
    }
}

/// What somebody found who looked at a repository after a push.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Paths at the top of the default branch.
    pub readme: Option<String>,
    pub license: Option<String>,
    pub statistics: Statistics,
    /// Languages and their bytes.
    pub languages: Vec<(String, i64)>,
}

/// Writes down what was found; when the project was last active does not change by it.
pub fn save_findings(tx: &mut Tx<'_>, project: ProjectId, found: &Findings) -> Result<()> {
    let row = projects::table.find(project).filter(projects::deleted_at.is_null());
    let marks =
        (projects::readme_path.eq(&found.readme), projects::license_path.eq(&found.license));
    let written = each_backend!(tx, |conn| diesel::update(row)
        .set(marks)
        .execute(conn)
        .map_err(error("Project")))?;
    if written == 0 {
        return Ok(());
    }
    tx.save_statistics(project, found.statistics)?;
    tx.save_languages(project, &found.languages)
}
