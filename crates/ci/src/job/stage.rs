//! Jobs with their stages, for many pipelines or by many ids at once.

use db::{OneOf as _, Tx, each_backend, error, schema::jobs};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{JobId, PipelineId},
};

use super::Job;

/// Jobs read for one request at most, whatever their pipelines.
const LIMIT: i64 = 50_000;

/// A job with its place in the order of stages, and the jobs for which it waits.
#[derive(Clone, Debug)]
pub struct StageJob {
    pub job: Job,
    pub stage_position: i64,
    /// A JSON list of names; `None` where it waits for the stages before its own.
    pub needs: Option<String>,
}

/// The columns of a [`StageJob`] beside those of its job.
const STAGE_COLUMNS: (jobs::stage_position, jobs::needs) = (jobs::stage_position, jobs::needs);

impl StageJob {
    fn new((job, (stage_position, needs)): (Job, (i64, Option<String>))) -> Self {
        Self { job, stage_position, needs }
    }

    /// The names of the jobs for which it waits; `None` where it waits for the stages before its own.
    pub fn needed_names(&self) -> Result<Option<Vec<String>>> {
        self.needs.as_deref().map(serde_json::from_str).transpose().map_err(Error::internal)
    }
}

pub trait StageJobStore {
    /// All jobs of these pipelines, also those whose place a newer one took, in the order of stages and then of ids.
    fn jobs_of_pipelines(&mut self, pipelines: &[PipelineId]) -> Result<Vec<StageJob>>;
    /// These jobs, in no order.
    fn stage_jobs(&mut self, ids: &[JobId]) -> Result<Vec<StageJob>>;
    /// The stages of a pipeline that have jobs of any kind, in their order.
    fn stage_names(&mut self, pipeline: PipelineId) -> Result<Vec<String>>;
}

impl StageJobStore for Tx<'_> {
    fn jobs_of_pipelines(&mut self, pipelines: &[PipelineId]) -> Result<Vec<StageJob>> {
        if pipelines.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<_> = each_backend!(self, |conn| jobs::table
            .filter(jobs::pipeline_id.one_of(pipelines))
            .order((jobs::pipeline_id, jobs::stage_position, jobs::id))
            .limit(LIMIT)
            .select((Job::as_select(), STAGE_COLUMNS))
            .load(conn)
            .map_err(error("Job")))?;
        Ok(rows.into_iter().map(StageJob::new).collect())
    }

    fn stage_jobs(&mut self, ids: &[JobId]) -> Result<Vec<StageJob>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows: Vec<_> = each_backend!(self, |conn| jobs::table
            .filter(jobs::id.one_of(ids))
            .select((Job::as_select(), STAGE_COLUMNS))
            .load(conn)
            .map_err(error("Job")))?;
        Ok(rows.into_iter().map(StageJob::new).collect())
    }

    fn stage_names(&mut self, pipeline: PipelineId) -> Result<Vec<String>> {
        let stages = jobs::table
            .filter(jobs::pipeline_id.eq(pipeline))
            .order((jobs::stage_position, jobs::stage))
            .select((jobs::stage_position, jobs::stage))
            .distinct();
        let rows: Vec<(i64, String)> =
            each_backend!(self, |conn| stages.load(conn).map_err(error("Job")))?;
        Ok(rows.into_iter().map(|(_, name)| name).collect())
    }
}
