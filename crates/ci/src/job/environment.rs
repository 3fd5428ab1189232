//! Jobs that have an environment.

use db::{Tx, each_backend, error, schema::jobs};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{JobId, PipelineId},
};

use super::Job;

/// So many are looked for by one statement.
const AT_ONCE: usize = 1_000;

pub trait EnvironmentJobStore {
    /// Those of these jobs that have an environment, the oldest first.
    fn jobs_with_environment(&mut self, ids: &[JobId]) -> Result<Vec<Job>>;
    /// All jobs of a pipeline that have one.
    fn environment_jobs(&mut self, pipeline: PipelineId) -> Result<Vec<Job>>;
}

impl EnvironmentJobStore for Tx<'_> {
    fn jobs_with_environment(&mut self, ids: &[JobId]) -> Result<Vec<Job>> {
        let mut found = Vec::new();
        for some in ids.chunks(AT_ONCE) {
            let rows: Vec<Job> = each_backend!(self, |conn| jobs::table
                .filter(jobs::id.eq_any(some).and(jobs::environment.is_not_null()))
                .order(jobs::id)
                .select(Job::as_select())
                .load(conn)
                .map_err(error("Job")))?;
            found.extend(rows);
        }
        Ok(found)
    }

    fn environment_jobs(&mut self, pipeline: PipelineId) -> Result<Vec<Job>> {
        each_backend!(self, |conn| jobs::table
            .filter(jobs::pipeline_id.eq(pipeline).and(jobs::environment.is_not_null()))
            .order(jobs::id)
            .select(Job::as_select())
            .load(conn)
            .map_err(error("Job")))
    }
}
