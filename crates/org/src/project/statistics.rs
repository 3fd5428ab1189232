//! Figures about a project's repository: how much there is, and in which languages.

use std::collections::BTreeMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{project_languages, project_statistics, projects},
};
use diesel::{prelude::*, upsert::excluded};
use kernel::{
    Result, Ts,
    head::{Growth, HeadFacts, LanguageBytes, RepositoryFigures},
    ids::ProjectId,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = project_statistics, check_for_backend(db::AnyBackend))]
pub struct Statistics {
    pub commit_count: i64,
    /// Bytes on disk.
    pub repository_size: i64,
    /// Bytes of large files beside the repository.
    pub lfs_objects_size: i64,
    /// Bytes on disk of the wiki's repository.
    pub wiki_size: i64,
    /// Bytes of the files that people added.
    pub uploads_size: i64,
}

impl Statistics {
    /// All bytes together.
    pub fn storage_size(&self) -> i64 {
        self.repository_size + self.wiki_size + self.lfs_objects_size + self.uploads_size
    }
}

pub trait StatisticsStore {
    fn statistics_by_project(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<BTreeMap<ProjectId, Statistics>>;
    /// The commit that the figures were found at.
    /// The languages of a repository, the one with the most bytes first.
    fn languages(&mut self, project: ProjectId) -> Result<Vec<String>>;
    fn surveyed_head(&mut self, project: ProjectId) -> Result<Option<String>>;
    fn record_growth(&mut self, project: ProjectId, growth: Growth) -> Result<()>;
    fn save_lfs_size(&mut self, project: ProjectId, bytes: i64) -> Result<()>;
    fn record_wiki_size(&mut self, project: ProjectId, bytes: i64) -> Result<()>;
    /// Adds a file to those that people added.
    fn record_upload(&mut self, project: ProjectId, bytes: i64) -> Result<()>;
    /// The bytes of the files that people added, where there are any.
    fn upload_sizes(&mut self) -> Result<BTreeMap<ProjectId, i64>>;
    /// Puts these bytes in the place of others; false when they are others by now. A project that is gone has none.
    fn correct_upload_size(&mut self, project: ProjectId, from: i64, to: i64) -> Result<bool>;
    /// Says of a project that there is nothing in it.
    fn reset_statistics(&mut self, project: ProjectId) -> Result<()>;
    /// Follows the default branch from a commit to another; false when the figures are not those of `from`.
    fn note_head(
        &mut self,
        project: ProjectId,
        from: Option<&str>,
        to: Option<&str>,
        shows: &HeadFacts,
    ) -> Result<bool>;
}

impl StatisticsStore for Tx<'_> {
    fn statistics_by_project(
        &mut self,
        projects: &[ProjectId],
    ) -> Result<BTreeMap<ProjectId, Statistics>> {
        let rows: Vec<(ProjectId, Statistics)> =
            each_backend!(self, |conn| project_statistics::table
                .filter(project_statistics::project_id.one_of(projects))
                .select((project_statistics::project_id, Statistics::as_select()))
                .load(conn)
                .map_err(error("Project")))?;
        Ok(rows.into_iter().collect())
    }

    fn languages(&mut self, project: ProjectId) -> Result<Vec<String>> {
        each_backend!(self, |conn| project_languages::table
            .filter(project_languages::project_id.eq(project))
            .order((project_languages::bytes.desc(), project_languages::name))
            .select(project_languages::name)
            .load(conn)
            .map_err(error("Project")))
    }

    fn surveyed_head(&mut self, project: ProjectId) -> Result<Option<String>> {
        let query = project_statistics::table.find(project).select(project_statistics::head_sha);
        let found: Option<Option<String>> = each_backend!(self, |conn| query
            .get_result(conn)
            .optional()
            .map_err(error("Project")))?;
        Ok(found.flatten())
    }

    fn record_growth(&mut self, project: ProjectId, growth: Growth) -> Result<()> {
        let row = diesel::update(project_statistics::table.find(project));
        match growth {
            Growth::By(0) => {}
            Growth::By(bytes) => {
                let size = project_statistics::repository_size;
                each_backend!(self, |conn| row
                    .set(size.eq(size + bytes))
                    .execute(conn)
                    .map_err(error("Project")))?;
            }
            Growth::To(bytes) => {
                let size = project_statistics::repository_size.eq(bytes);
                each_backend!(self, |conn| row.set(size).execute(conn).map_err(error("Project")))?;
            }
        }
        Ok(())
    }

    fn save_lfs_size(&mut self, project: ProjectId, bytes: i64) -> Result<()> {
        let size = project_statistics::lfs_objects_size.eq(bytes);
        let row = diesel::update(project_statistics::table.find(project));
        each_backend!(self, |conn| row.set(size).execute(conn).map_err(error("Project")))?;
        Ok(())
    }

    fn record_wiki_size(&mut self, project: ProjectId, bytes: i64) -> Result<()> {
        let row = diesel::update(project_statistics::table.find(project));
        let size = project_statistics::wiki_size.eq(bytes);
        each_backend!(self, |conn| row.set(size).execute(conn).map_err(error("Project")))?;
        Ok(())
    }

    fn record_upload(&mut self, project: ProjectId, bytes: i64) -> Result<()> {
        let row = diesel::update(project_statistics::table.find(project));
        let size = project_statistics::uploads_size.eq(project_statistics::uploads_size + bytes);
        each_backend!(self, |conn| row.set(size).execute(conn).map_err(error("Project")))?;
        Ok(())
    }

    fn reset_statistics(&mut self, project: ProjectId) -> Result<()> {
        let nothing = (
            project_statistics::commit_count.eq(0),
            project_statistics::repository_size.eq(0),
            project_statistics::lfs_objects_size.eq(0),
            project_statistics::wiki_size.eq(0),
            project_statistics::uploads_size.eq(0),
            project_statistics::head_sha.eq(None::<String>),
        );
        let row = diesel::update(project_statistics::table.find(project)).set(nothing);
        each_backend!(self, |conn| row.execute(conn).map_err(error("Project")))?;
        let languages = project_languages::table.filter(project_languages::project_id.eq(project));
        each_backend!(self, |conn| diesel::delete(languages)
            .execute(conn)
            .map_err(error("Project")))?;
        Ok(())
    }

    fn upload_sizes(&mut self) -> Result<BTreeMap<ProjectId, i64>> {
        let some = project_statistics::table
            .filter(project_statistics::uploads_size.ne(0))
            .select((project_statistics::project_id, project_statistics::uploads_size));
        let rows: Vec<(ProjectId, i64)> =
            each_backend!(self, |conn| some.load(conn).map_err(error("Project")))?;
        Ok(rows.into_iter().collect())
    }

    fn correct_upload_size(&mut self, project: ProjectId, from: i64, to: i64) -> Result<bool> {
        let row = project_statistics::table.find(project);
        let seen = row.filter(project_statistics::uploads_size.eq(from));
        let size = project_statistics::uploads_size.eq(to);
        let changed = each_backend!(self, |conn| diesel::update(seen)
            .set(size)
            .execute(conn)
            .map_err(error("Project")))?;
        if changed == 1 {
            return Ok(true);
        }
        let there = diesel::dsl::exists(row);
        let there: bool = each_backend!(self, |conn| diesel::select(there)
            .get_result(conn)
            .map_err(error("Project")))?;
        Ok(!there)
    }

    fn note_head(
        &mut self,
        project: ProjectId,
        from: Option<&str>,
        to: Option<&str>,
        shows: &HeadFacts,
    ) -> Result<bool> {
        match &shows.figures {
            RepositoryFigures::All { commits, languages } => {
                let row = project_statistics::table.find(project);
                let figures = (
                    project_statistics::commit_count.eq(commits),
                    project_statistics::head_sha.eq(to),
                    project_statistics::updated_at.eq(self.now),
                );
                each_backend!(self, |conn| diesel::update(row)
                    .set(figures)
                    .execute(conn)
                    .map_err(error("Project")))?;
                replace_languages(self, project, languages)?;
                Ok(true)
            }
            RepositoryFigures::More { commits, languages } => {
                let row = project_statistics::table
                    .find(project)
                    .filter(project_statistics::head_sha.eq(from));
                let count = project_statistics::commit_count;
                let figures = (
                    count.eq(count + commits),
                    project_statistics::head_sha.eq(to),
                    project_statistics::updated_at.eq(self.now),
                );
                let followed = each_backend!(self, |conn| diesel::update(row)
                    .set(figures)
                    .execute(conn)
                    .map_err(error("Project")))?;
                if followed == 1 {
                    add_languages(self, project, languages)?;
                }
                Ok(followed == 1)
            }
        }
    }
}

fn replace_languages(
    tx: &mut Tx<'_>,
    project: ProjectId,
    languages: &[LanguageBytes],
) -> Result<()> {
    let old = project_languages::table.filter(project_languages::project_id.eq(project));
    each_backend!(tx, |conn| diesel::delete(old).execute(conn).map_err(error("Project")))?;
    add_languages(tx, project, languages)
}

/// Adds bytes to languages; one that has none left goes.
fn add_languages(tx: &mut Tx<'_>, project: ProjectId, more: &[LanguageBytes]) -> Result<()> {
    if more.is_empty() {
        return Ok(());
    }
    let bytes = project_languages::bytes;
    let row = |(name, more): &LanguageBytes| {
        let name: &'static str = name;
        (
            project_languages::project_id.eq(project),
            project_languages::name.eq(name),
            bytes.eq(*more),
        )
    };
    let rows: Vec<_> = more.iter().map(row).collect();
    each_backend!(tx, |conn| diesel::insert_into(project_languages::table)
        .values(rows)
        .on_conflict((project_languages::project_id, project_languages::name))
        .do_update()
        .set(bytes.eq(bytes + excluded(bytes)))
        .execute(conn)
        .map_err(error("Project")))?;
    if more.iter().all(|(_, bytes)| *bytes > 0) {
        return Ok(());
    }
    let gone = project_languages::table
        .filter(project_languages::project_id.eq(project))
        .filter(bytes.le(0));
    each_backend!(tx, |conn| diesel::delete(gone).execute(conn).map_err(error("Project")))?;
    Ok(())
}

/// Statistics read from a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Findings {
    /// The branch that was looked at.
    pub branch: Option<String>,
    /// Its newest commit.
    pub head: Option<String>,
    pub shows: HeadFacts,
    /// Bytes on disk.
    pub size: i64,
}

/// Writes down what was found, unless somebody else did so since the figures were those of `before`, or the default
/// branch is another one now: then the answer is false. When the project was last active does not change by it.
pub fn save_findings(
    tx: &mut Tx<'_>,
    project: ProjectId,
    before: Option<&str>,
    found: &Findings,
) -> Result<bool> {
    // Changes nothing, but keeps pushes away until this is over: they begin with the same row.
    let row = diesel::update(projects::table.find(project))
        .set(projects::readme_path.eq(projects::readme_path))
        .returning((projects::default_branch, projects::deleted_at));
    let known: Option<(Option<String>, Option<Ts>)> =
        each_backend!(tx, |conn| row.get_result(conn).optional().map_err(error("Project")))?;
    match known {
        Some((branch, None)) if branch != found.branch => return Ok(false),
        Some((_, None)) => {}
        // Nobody asks for it any more.
        _ => return Ok(true),
    }
    if tx.surveyed_head(project)?.as_deref() != before {
        return Ok(false);
    }
    let marks = (
        projects::readme_path.eq(&found.shows.readme),
        projects::license_path.eq(&found.shows.license),
    );
    each_backend!(tx, |conn| diesel::update(projects::table.find(project))
        .set(marks)
        .execute(conn)
        .map_err(error("Project")))?;
    tx.record_growth(project, Growth::To(found.size))?;
    tx.note_head(project, before, found.head.as_deref(), &found.shows)
}
