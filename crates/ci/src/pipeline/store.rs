//! Pipelines in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx,
    archive::ensure_number,
    each_backend, error,
    schema::{pipeline_numbers as numbers, pipelines},
};
use diesel::{
    dsl::{exists, max, sql},
    prelude::*,
    sql_types::BigInt,
};
use kernel::{
    Result, Ts,
    ids::{JobId, MergeRequestId, PipelineId, ProjectId},
};

use super::{NewPipeline, Pipeline, Source, auto_cancel};
use crate::Status;

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
    /// The newest of a branch that is no child and of no merge request.
    fn newest_of_branch(&mut self, project: ProjectId, branch: &str) -> Result<Option<Pipeline>>;
    /// Whether a push to the branch or tag made a pipeline for the commit since then.
    fn has_push_pipeline(&mut self, new: &NewPipeline, since: Ts) -> Result<bool>;
    /// Keeps others from making pipelines of the project until the transaction ends.
    fn lock_pipelines(&mut self, project: ProjectId) -> Result<()>;
    /// Takes the next number of the project's pipelines, for one that is made later.
    fn reserve_pipeline_iid(&mut self, project: ProjectId) -> Result<i64>;
    /// A pipeline without jobs.
    fn insert_pipeline(&mut self, new: &NewPipeline) -> Result<Pipeline>;
    /// Keeps others from moving a pipeline until the transaction ends, and tells how far it is.
    fn hold_pipeline(&mut self, id: PipelineId) -> Result<Pipeline>;
    fn pipelines_by_id(&mut self, ids: &[PipelineId]) -> Result<HashMap<PipelineId, Pipeline>>;
    /// The newest for a commit; one that was made for the merge request comes before all others.
    fn head_pipeline(
        &mut self,
        project: ProjectId,
        sha: &str,
        merge_request: MergeRequestId,
    ) -> Result<Option<Pipeline>>;
    /// The newest that was made for a merge request.
    fn newest_for_merge_request(&mut self, id: MergeRequestId) -> Result<Option<Pipeline>>;
    /// Those that were made by these bridges.
    fn pipelines_of_bridges(&mut self, bridges: &[JobId]) -> Result<Vec<Pipeline>>;
    /// Pipelines of the same ref that are under way, were made before this one for another commit than its own and the
    /// one at which the ref is (`tip`), and in which no job has begun that must not be interrupted; of those that say that
    /// only single jobs are interrupted, the ones with such a job. The oldest first.
    fn outdated_pipelines(
        &mut self,
        by: &Pipeline,
        tip: Option<&str>,
        most: i64,
    ) -> Result<Vec<Pipeline>>;
    /// Gives a pipeline another name.
    fn rename_pipeline(&mut self, id: PipelineId, name: &str) -> Result<Pipeline>;
    /// How many pipelines made one another, together with that one at the top.
    fn family_size(&mut self, root: PipelineId) -> Result<i64>;
    fn delete_pipeline(&mut self, id: PipelineId) -> Result<()>;
    /// Writes down how far a pipeline is.
    fn save_pipeline(&mut self, pipeline: &Pipeline) -> Result<()>;
}

fn counted(tx: &mut Tx<'_>, project: ProjectId, by: i64) -> Result<i64> {
    let first = (numbers::project_id.eq(project), numbers::last.eq(by));
    let next: i64 = each_backend!(tx, |conn| diesel::insert_into(numbers::table)
        .values(first)
        .on_conflict(numbers::project_id)
        .do_update()
        .set(numbers::last.eq(numbers::last + by))
        .returning(numbers::last)
        .get_result(conn)
        .map_err(error("Pipeline")))?;
    ensure_number(next)
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
            .filter(pipelines::source.ne(Source::ParentPipeline))
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
            .filter(pipelines::project_id.eq(project).and(pipelines::sha.one_of(shas)))
            .filter(pipelines::source.ne(Source::ParentPipeline))
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
            .filter(pipelines::source.ne(Source::ParentPipeline))
            .order(pipelines::id.desc())
            .select(Pipeline::as_select())
            .first(conn)
            .optional()
            .map_err(error("Pipeline")))
    }

    fn newest_of_branch(&mut self, project: ProjectId, branch: &str) -> Result<Option<Pipeline>> {
        let of_branch = pipelines::ref_name.eq(branch).and(pipelines::tag.eq(false));
        let own = pipelines::source.ne(Source::ParentPipeline);
        each_backend!(self, |conn| pipelines::table
            .filter(pipelines::project_id.eq(project).and(of_branch).and(own))
            .filter(pipelines::merge_request_id.is_null())
            .order(pipelines::id.desc())
            .select(Pipeline::as_select())
            .first(conn)
            .optional()
            .map_err(error("Pipeline")))
    }

    fn has_push_pipeline(&mut self, new: &NewPipeline, since: Ts) -> Result<bool> {
        let of_ref = pipelines::ref_name.eq(&new.place.name).and(pipelines::tag.eq(new.place.tag));
        let made = pipelines::table
            .filter(pipelines::project_id.eq(new.project).and(pipelines::sha.eq(&new.sha)))
            .filter(of_ref.and(pipelines::source.eq(Source::Push)))
            .filter(pipelines::created_at.ge(since));
        each_backend!(self, |conn| diesel::select(exists(made))
            .get_result(conn)
            .map_err(error("Pipeline")))
    }

    fn lock_pipelines(&mut self, project: ProjectId) -> Result<()> {
        counted(self, project, 0).map(drop)
    }

    fn reserve_pipeline_iid(&mut self, project: ProjectId) -> Result<i64> {
        counted(self, project, 1)
    }

    fn insert_pipeline(&mut self, new: &NewPipeline) -> Result<Pipeline> {
        let iid = match new.iid {
            Some(reserved) => reserved,
            None => self.reserve_pipeline_iid(new.project)?,
        };
        let row = (
            (
                pipelines::project_id.eq(new.project),
                pipelines::iid.eq(iid),
                pipelines::sha.eq(&new.sha),
                pipelines::before_sha.eq(&new.before_sha),
                pipelines::ref_name.eq(&new.place.name),
                pipelines::tag.eq(new.place.tag),
                pipelines::protected.eq(new.protected),
                pipelines::source.eq(new.source),
                pipelines::status.eq(Status::Created),
                pipelines::user_id.eq(new.user),
                pipelines::created_at.eq(self.now),
                pipelines::updated_at.eq(self.now),
            ),
            (
                pipelines::name.eq(&new.name),
                pipelines::root_id.eq(new.parent.map(|parent| parent.root)),
                pipelines::parent_job_id.eq(new.parent.map(|parent| parent.bridge)),
                pipelines::merge_request_id.eq(new.merge_request),
                pipelines::schedule_id.eq(new.schedule),
                pipelines::schedule_run.eq(new.schedule_run),
                pipelines::trigger_id.eq(new.trigger),
                pipelines::auto_cancel.eq(&new.auto_cancel),
                pipelines::cancel_on_failure.eq(new.cancel_on_failure),
                pipelines::config_source.eq(new.config_source),
            ),
        );
        let row = diesel::insert_into(pipelines::table).values(row);
        each_backend!(self, |conn| row
            .returning(Pipeline::as_returning())
            .get_result(conn)
            .map_err(error("Pipeline")))
    }

    fn hold_pipeline(&mut self, id: PipelineId) -> Result<Pipeline> {
        let same = pipelines::status.eq(pipelines::status);
        let hold = diesel::update(pipelines::table.find(id)).set(same);
        each_backend!(self, |conn| hold
            .returning(Pipeline::as_returning())
            .get_result(conn)
            .map_err(error("Pipeline")))
    }

    fn pipelines_by_id(&mut self, ids: &[PipelineId]) -> Result<HashMap<PipelineId, Pipeline>> {
        let rows: Vec<Pipeline> = each_backend!(self, |conn| pipelines::table
            .filter(pipelines::id.one_of(ids))
            .select(Pipeline::as_select())
            .load(conn)
            .map_err(error("Pipeline")))?;
        Ok(rows.into_iter().map(|pipeline| (pipeline.id, pipeline)).collect())
    }

    fn head_pipeline(
        &mut self,
        project: ProjectId,
        sha: &str,
        merge_request: MergeRequestId,
    ) -> Result<Option<Pipeline>> {
        let others_last = sql::<BigInt>("CASE WHEN merge_request_id = ")
            .bind::<BigInt, _>(merge_request)
            .sql(" THEN 0 ELSE 1 END");
        each_backend!(self, |conn| pipelines::table
            .filter(pipelines::project_id.eq(project).and(pipelines::sha.eq(sha)))
            .filter(pipelines::source.ne(Source::ParentPipeline))
            .order((others_last, pipelines::id.desc()))
            .select(Pipeline::as_select())
            .first(conn)
            .optional()
            .map_err(error("Pipeline")))
    }

    fn newest_for_merge_request(&mut self, id: MergeRequestId) -> Result<Option<Pipeline>> {
        each_backend!(self, |conn| pipelines::table
            .filter(pipelines::merge_request_id.is_not_null())
            .filter(pipelines::merge_request_id.eq(id))
            .filter(pipelines::source.ne(Source::ParentPipeline))
            .order(pipelines::id.desc())
            .select(Pipeline::as_select())
            .first(conn)
            .optional()
            .map_err(error("Pipeline")))
    }

    fn pipelines_of_bridges(&mut self, bridges: &[JobId]) -> Result<Vec<Pipeline>> {
        if bridges.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Option<JobId>> = bridges.iter().copied().map(Some).collect();
        each_backend!(self, |conn| pipelines::table
            .filter(pipelines::parent_job_id.is_not_null())
            .filter(pipelines::parent_job_id.one_of(&ids))
            .order(pipelines::id)
            .select(Pipeline::as_select())
            .load(conn)
            .map_err(error("Pipeline")))
    }

    fn outdated_pipelines(
        &mut self,
        by: &Pipeline,
        tip: Option<&str>,
        most: i64,
    ) -> Result<Vec<Pipeline>> {
        let ids = auto_cancel::ids(self, by, tip, most)?;
        each_backend!(self, |conn| pipelines::table
            .filter(pipelines::id.one_of(&ids))
            .order(pipelines::id)
            .select(Pipeline::as_select())
            .load(conn)
            .map_err(error("Pipeline")))
    }

    fn rename_pipeline(&mut self, id: PipelineId, name: &str) -> Result<Pipeline> {
        let rename = diesel::update(pipelines::table.find(id)).set(pipelines::name.eq(name));
        each_backend!(self, |conn| rename
            .returning(Pipeline::as_returning())
            .get_result(conn)
            .map_err(error("Pipeline")))
    }

    fn family_size(&mut self, root: PipelineId) -> Result<i64> {
        let descendants = pipelines::table.filter(pipelines::root_id.eq(root)).count();
        let descendants: i64 =
            each_backend!(self, |conn| descendants.get_result(conn).map_err(error("Pipeline")))?;
        Ok(descendants + 1)
    }

    fn delete_pipeline(&mut self, id: PipelineId) -> Result<()> {
        let row = pipelines::table.find(id);
        each_backend!(self, |conn| diesel::delete(row).execute(conn).map_err(error("Pipeline")))?;
        Ok(())
    }

    fn save_pipeline(&mut self, pipeline: &Pipeline) -> Result<()> {
        let row = (
            pipelines::status.eq(pipeline.status),
            pipelines::warnings.eq(pipeline.warnings),
            pipelines::coverage.eq(&pipeline.coverage),
            pipelines::duration.eq(pipeline.duration),
            pipelines::updated_at.eq(pipeline.updated_at),
            pipelines::started_at.eq(pipeline.started_at),
            pipelines::finished_at.eq(pipeline.finished_at),
            pipelines::yaml_errors.eq(&pipeline.yaml_errors),
            pipelines::failure_reason.eq(&pipeline.failure_reason),
            pipelines::auto_canceled_by.eq(pipeline.auto_canceled_by),
        );
        let update = diesel::update(pipelines::table.find(pipeline.id)).set(row);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Pipeline")))?;
        Ok(())
    }
}
