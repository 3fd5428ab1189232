//! Pipelines in the database.

use std::collections::HashMap;

use db::{
    CountOf, Tx, each_backend, error,
    schema::{pipeline_numbers as numbers, pipelines},
};
use diesel::{dsl::max, prelude::*};
use kernel::{
    Result, Ts,
    ids::{PipelineId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Pipeline, Place, Source};
use crate::Status;

kernel::text_enum! {
    pub enum PipelineOrder {
        Id = "id",
        Status = "status",
        Ref = "ref",
        UpdatedAt = "updated_at",
        UserId = "user_id",
    }
}

/// Of each of these branches or tags only the newest.
#[derive(Clone, Debug)]
pub struct Newest {
    pub tags: bool,
    pub names: Vec<String>,
}

/// Which pipelines of a project are wanted, and in which order.
#[derive(Clone, Debug)]
pub struct PipelineFilter {
    /// Any of these; empty for all.
    pub statuses: Vec<Status>,
    pub source: Option<Source>,
    pub ref_name: Option<String>,
    pub sha: Option<String>,
    pub newest: Option<Newest>,
    /// Those whose configuration cannot be read, or those alone for which it can.
    pub yaml_errors: Option<bool>,
    /// By one of these people.
    pub users: Option<Vec<UserId>>,
    pub updated_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    pub order: PipelineOrder,
    pub descending: bool,
}

pub trait PipelineStore {
    fn find_pipeline(&mut self, project: ProjectId, id: PipelineId) -> Result<Option<Pipeline>>;
    /// The newest for a commit, of whichever branch.
    fn newest_pipeline(&mut self, project: ProjectId, sha: &str) -> Result<Option<Pipeline>>;
    /// The newest for each of these commits.
    fn newest_pipelines(
        &mut self,
        project: ProjectId,
        shas: &[String],
    ) -> Result<HashMap<String, Pipeline>>;
    /// The newest for a commit of a branch or tag.
    fn newest_pipeline_of_ref(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        sha: &str,
    ) -> Result<Option<Pipeline>>;
    /// A page of all for these commits of a branch, the newest first.
    fn pipelines_of_commits(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        shas: &[String],
        page: PageRequest,
    ) -> Result<Page<Pipeline>>;
    fn pipelines(
        &mut self,
        project: ProjectId,
        filter: &PipelineFilter,
        page: PageRequest,
    ) -> Result<Page<Pipeline>>;
    /// Keeps others from making pipelines of the project until the transaction ends.
    fn lock_pipelines(&mut self, project: ProjectId) -> Result<()>;
    /// A pipeline without jobs.
    fn insert_pipeline(
        &mut self,
        project: ProjectId,
        sha: &str,
        place: &Place,
        protected: bool,
        source: Source,
        user: Option<UserId>,
    ) -> Result<Pipeline>;
    /// Writes down how far a pipeline is.
    fn keep_pipeline(&mut self, pipeline: &Pipeline) -> Result<()>;
}

fn counted(tx: &mut Tx<'_>, project: ProjectId, by: i64) -> Result<i64> {
    let first = (numbers::project_id.eq(project), numbers::last.eq(by));
    each_backend!(tx, |conn| diesel::insert_into(numbers::table)
        .values(first)
        .on_conflict(numbers::project_id)
        .do_update()
        .set(numbers::last.eq(numbers::last + by))
        .returning(numbers::last)
        .get_result(conn)
        .map_err(error("Pipeline")))
}

impl PipelineStore for Tx<'_> {
    fn find_pipeline(&mut self, project: ProjectId, id: PipelineId) -> Result<Option<Pipeline>> {
        let query = pipelines::table.find(id).filter(pipelines::project_id.eq(project));
        each_backend!(self, |conn| query
            .select(Pipeline::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Pipeline")))
    }

    fn newest_pipeline(&mut self, project: ProjectId, sha: &str) -> Result<Option<Pipeline>> {
        each_backend!(self, |conn| pipelines::table
            .filter(pipelines::project_id.eq(project).and(pipelines::sha.eq(sha)))
            .order(pipelines::id.desc())
            .select(Pipeline::as_select())
            .first(conn)
            .optional()
            .map_err(error("Pipeline")))
    }

    fn newest_pipelines(
        &mut self,
        project: ProjectId,
        shas: &[String],
    ) -> Result<HashMap<String, Pipeline>> {
        if shas.is_empty() {
            return Ok(HashMap::new());
        }
        let newest: Vec<Option<PipelineId>> = each_backend!(self, |conn| pipelines::table
            .filter(pipelines::project_id.eq(project).and(pipelines::sha.eq_any(shas)))
            .group_by(pipelines::sha)
            .select(max(pipelines::id))
            .load(conn)
            .map_err(error("Pipeline")))?;
        let newest: Vec<PipelineId> = newest.into_iter().flatten().collect();
        let rows: Vec<Pipeline> = each_backend!(self, |conn| pipelines::table
            .filter(pipelines::id.eq_any(newest))
            .select(Pipeline::as_select())
            .load(conn)
            .map_err(error("Pipeline")))?;
        Ok(rows.into_iter().map(|pipeline| (pipeline.sha.clone(), pipeline)).collect())
    }

    fn newest_pipeline_of_ref(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        sha: &str,
    ) -> Result<Option<Pipeline>> {
        each_backend!(self, |conn| pipelines::table
            .filter(pipelines::project_id.eq(project).and(pipelines::sha.eq(sha)))
            .filter(pipelines::ref_name.eq(ref_name))
            .order(pipelines::id.desc())
            .select(Pipeline::as_select())
            .first(conn)
            .optional()
            .map_err(error("Pipeline")))
    }

    fn pipelines_of_commits(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        shas: &[String],
        page: PageRequest,
    ) -> Result<Page<Pipeline>> {
        let (items, total) = each_backend!(self, |conn| {
            let chosen = || {
                pipelines::table
                    .filter(pipelines::project_id.eq(project).and(pipelines::sha.eq_any(shas)))
                    .filter(pipelines::ref_name.eq(ref_name))
            };
            let items = chosen()
                .order(pipelines::id.desc())
                .limit(page.per_page)
                .offset(page.offset())
                .select(Pipeline::as_select())
                .load(conn)
                .map_err(error("Pipeline"))?;
            let counted = CountOf(chosen().select(pipelines::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Pipeline"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }

    #[expect(clippy::too_many_lines, reason = "a condition for each parameter")]
    fn pipelines(
        &mut self,
        project: ProjectId,
        filter: &PipelineFilter,
        page: PageRequest,
    ) -> Result<Page<Pipeline>> {
        let only = match &filter.newest {
            None => None,
            Some(newest) => Some(newest_of(self, project, newest)?),
        };
        let (items, total) = each_backend!(self, |conn| {
            let chosen = || {
                let of_project = pipelines::project_id.eq(project);
                let mut chosen = pipelines::table.filter(of_project).into_boxed();
                chosen = match filter.source {
                    Some(source) => chosen.filter(pipelines::source.eq(source)),
                    None => chosen.filter(pipelines::source.ne(Source::ParentPipeline)),
                };
                if !filter.statuses.is_empty() {
                    chosen = chosen.filter(pipelines::status.eq_any(&filter.statuses));
                }
                if let Some(name) = &filter.ref_name {
                    chosen = chosen.filter(pipelines::ref_name.eq(name));
                }
                if let Some(sha) = &filter.sha {
                    chosen = chosen.filter(pipelines::sha.eq(sha));
                }
                if let Some(ids) = &only {
                    chosen = chosen.filter(pipelines::id.eq_any(ids));
                }
                if let Some(users) = &filter.users {
                    chosen = chosen.filter(pipelines::user_id.eq_any(users));
                }
                if let Some(before) = filter.updated_before {
                    chosen = chosen.filter(pipelines::updated_at.le(before));
                }
                if let Some(after) = filter.updated_after {
                    chosen = chosen.filter(pipelines::updated_at.ge(after));
                }
                match filter.yaml_errors {
                    Some(true) => chosen.filter(pipelines::yaml_errors.is_not_null()),
                    Some(false) => chosen.filter(pipelines::yaml_errors.is_null()),
                    None => chosen,
                }
            };
            macro_rules! by {
                ($column:ident) => {
                    match filter.descending {
                        true => chosen().order((pipelines::$column.desc(), pipelines::id.desc())),
                        false => chosen().order((pipelines::$column.asc(), pipelines::id.asc())),
                    }
                };
            }
            let ordered = match filter.order {
                PipelineOrder::Id if filter.descending => chosen().order(pipelines::id.desc()),
                PipelineOrder::Id => chosen().order(pipelines::id.asc()),
                PipelineOrder::Status => by!(status),
                PipelineOrder::Ref => by!(ref_name),
                PipelineOrder::UpdatedAt => by!(updated_at),
                PipelineOrder::UserId => by!(user_id),
            };
            let items = ordered
                .limit(page.per_page)
                .offset(page.offset())
                .select(Pipeline::as_select())
                .load(conn)
                .map_err(error("Pipeline"))?;
            let counted = CountOf(chosen().select(pipelines::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error("Pipeline"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn lock_pipelines(&mut self, project: ProjectId) -> Result<()> {
        counted(self, project, 0).map(drop)
    }

    fn insert_pipeline(
        &mut self,
        project: ProjectId,
        sha: &str,
        place: &Place,
        protected: bool,
        source: Source,
        user: Option<UserId>,
    ) -> Result<Pipeline> {
        let iid = counted(self, project, 1)?;
        let row = (
            pipelines::project_id.eq(project),
            pipelines::iid.eq(iid),
            pipelines::sha.eq(sha),
            pipelines::ref_name.eq(&place.name),
            pipelines::tag.eq(place.tag),
            pipelines::protected.eq(protected),
            pipelines::source.eq(source),
            pipelines::status.eq(Status::Created),
            pipelines::user_id.eq(user),
            pipelines::created_at.eq(self.now),
            pipelines::updated_at.eq(self.now),
        );
        let row = diesel::insert_into(pipelines::table).values(row);
        each_backend!(self, |conn| row
            .returning(Pipeline::as_returning())
            .get_result(conn)
            .map_err(error("Pipeline")))
    }

    fn keep_pipeline(&mut self, pipeline: &Pipeline) -> Result<()> {
        let row = (
            pipelines::status.eq(pipeline.status),
            pipelines::warnings.eq(pipeline.warnings),
            pipelines::coverage.eq(&pipeline.coverage),
            pipelines::duration.eq(pipeline.duration),
            pipelines::updated_at.eq(pipeline.updated_at),
            pipelines::started_at.eq(pipeline.started_at),
            pipelines::finished_at.eq(pipeline.finished_at),
        );
        let update = diesel::update(pipelines::table.find(pipeline.id)).set(row);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Pipeline")))?;
        Ok(())
    }
}

/// The newest of each branch or tag.
fn newest_of(tx: &mut Tx<'_>, project: ProjectId, newest: &Newest) -> Result<Vec<PipelineId>> {
    let rows: Vec<(String, Option<PipelineId>)> = each_backend!(tx, |conn| pipelines::table
        .filter(pipelines::project_id.eq(project).and(pipelines::tag.eq(newest.tags)))
        .filter(pipelines::source.ne(Source::ParentPipeline))
        .group_by(pipelines::ref_name)
        .select((pipelines::ref_name, max(pipelines::id)))
        .load(conn)
        .map_err(error("Pipeline")))?;
    let there: std::collections::HashSet<&str> = newest.names.iter().map(String::as_str).collect();
    let of_existing = rows.into_iter().filter(|(name, _)| there.contains(name.as_str()));
    Ok(of_existing.filter_map(|(_, id)| id).collect())
}
