//! The number of active pipelines and jobs of a project, for limits.

use db::{
    Tx, each_backend, error,
    schema::{jobs, pipelines},
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{ProjectId, UserId},
};

use super::Source;
use crate::Status;

/// Statuses of pipelines that go on without anybody's doing.
const ALIVE: [Status; 5] = [
    Status::Created,
    Status::WaitingForResource,
    Status::Preparing,
    Status::Pending,
    Status::Running,
];

pub trait ActivityStore {
    /// Jobs in the pipelines of a project that were made since then and are under way.
    fn count_active_jobs(&mut self, project: ProjectId, since: Ts) -> Result<i64>;
    /// Pipelines that somebody has for a commit of a project since then, but for the children of others.
    fn count_pipelines_for(
        &mut self,
        project: ProjectId,
        user: UserId,
        sha: &str,
        since: Ts,
    ) -> Result<i64>;
}

impl ActivityStore for Tx<'_> {
    fn count_active_jobs(&mut self, project: ProjectId, since: Ts) -> Result<i64> {
        let alive = pipelines::table
            .filter(pipelines::project_id.eq(project).and(pipelines::status.eq_any(ALIVE)))
            .filter(pipelines::created_at.ge(since))
            .select(pipelines::id);
        let count = jobs::table.filter(jobs::pipeline_id.eq_any(alive)).count();
        each_backend!(self, |conn| count.get_result(conn).map_err(error("Job")))
    }

    fn count_pipelines_for(
        &mut self,
        project: ProjectId,
        user: UserId,
        sha: &str,
        since: Ts,
    ) -> Result<i64> {
        let count = pipelines::table
            .filter(pipelines::project_id.eq(project).and(pipelines::sha.eq(sha)))
            .filter(pipelines::user_id.eq(user).and(pipelines::created_at.ge(since)))
            .filter(pipelines::source.ne(Source::ParentPipeline))
            .count();
        each_backend!(self, |conn| count.get_result(conn).map_err(error("Pipeline")))
    }
}
