//! Jobs in the database.

use std::collections::HashMap;

use db::{
    Tx, each_backend, error,
    listing::{self, Bind, Conditions, Selection, page_of_ids},
    schema::jobs,
};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{JobId, PipelineId, ProjectId, UserId},
    page::{Page, PageRequest},
};

use time::Duration;

use super::{Job, JobKind, JobListStore as _};
use crate::{Status, pipeline::Pipeline};

/// A job that begins.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub kind: JobKind,
    pub stage: &'static str,
    pub stage_position: i64,
    pub name: String,
    pub ref_name: String,
    pub user: Option<UserId>,
}

/// Which jobs and reported statuses of a commit are wanted.
#[derive(Clone, Debug)]
pub struct StatusFilter {
    pub sha: String,
    pub ref_name: Option<String>,
    pub stage: Option<String>,
    pub name: Option<String>,
    pub pipeline: Option<PipelineId>,
    /// Those, too, whose place a newer one took.
    pub retried: bool,
    pub order: StatusOrder,
    pub descending: bool,
}

kernel::text_enum! {
    pub enum StatusOrder { Id = "id", PipelineId = "pipeline_id" }
}

/// The first jobs of a partial index, whose condition stands in the text.
fn job_ids(tx: &mut Tx<'_>, which: &str, at: i64, most: i64) -> Result<Vec<JobId>> {
    let sql = format!("SELECT id FROM jobs WHERE {which} LIMIT {most}");
    let ids = listing::ids(tx, &sql, &[Bind::Number(at)])?;
    Ok(ids.into_iter().map(JobId).collect())
}

pub trait JobStore {
    fn commit_statuses(
        &mut self,
        project: ProjectId,
        filter: &StatusFilter,
        page: PageRequest,
    ) -> Result<Page<Job>>;
    /// A job of whatever project.
    fn find_any_job(&mut self, id: JobId) -> Result<Option<Job>>;
    fn job(&mut self, id: JobId) -> Result<Job>;
    fn set_job_user(&mut self, id: JobId, user: UserId) -> Result<()>;
    /// What a job left behind is gone.
    fn record_erased(&mut self, id: JobId) -> Result<()>;
    /// Delayed jobs whose time has come, longest first.
    fn jobs_due(&mut self, most: i64) -> Result<Vec<JobId>>;
    /// What waited or ran for too long, so many at most of each kind, with the reason.
    fn stale_jobs(&mut self, most: i64) -> Result<Vec<(Vec<JobId>, &'static str)>>;
    /// What somebody reported under that name, and that has not ended.
    fn find_open_status(
        &mut self,
        pipeline: PipelineId,
        name: &str,
        ref_name: &str,
        user: UserId,
    ) -> Result<Option<Job>>;
    fn insert_job(&mut self, pipeline: &Pipeline, new: &NewJob) -> Result<Job>;
    /// A newer report takes the place of all others of its name.
    fn retire_older_jobs(&mut self, newer: &Job) -> Result<()>;
    /// Writes down how far a job is and what is told of it.
    fn keep_job(&mut self, job: &Job) -> Result<()>;
}

impl JobStore for Tx<'_> {
    fn commit_statuses(
        &mut self,
        project: ProjectId,
        filter: &StatusFilter,
        page: PageRequest,
    ) -> Result<Page<Job>> {
        let mut conditions = Conditions::default();
        conditions.number("project_id = {}", project.0);
        conditions.word("sha = {}", &filter.sha);
        if !filter.retried {
            conditions.plain("retried = FALSE");
        }
        let words =
            [("ref_name", &filter.ref_name), ("stage", &filter.stage), ("name", &filter.name)];
        for (column, word) in words {
            if let Some(word) = word {
                conditions.word(&format!("{column} = {{}}"), word);
            }
        }
        if let Some(pipeline) = filter.pipeline {
            conditions.number("pipeline_id = {}", pipeline.0);
        }
        let direction = if filter.descending { "DESC" } else { "ASC" };
        let order = match filter.order {
            StatusOrder::Id => format!("id {direction}"),
            StatusOrder::PipelineId => format!("pipeline_id {direction}, id {direction}"),
        };
        let (from, binds) = (format!("jobs WHERE {}", conditions.text()), conditions.binds);
        let selection = Selection { id: "id", from: from.clone(), binds: binds.clone(), order };
        let found = page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?;
        found.try_map_all(|ids| {
            let mut jobs: HashMap<i64, Job> =
                self.jobs_by_id(&ids)?.into_iter().map(|job| (job.id.0, job)).collect();
            Ok(ids.iter().filter_map(|id| jobs.remove(id)).collect())
        })
    }

    fn find_any_job(&mut self, id: JobId) -> Result<Option<Job>> {
        each_backend!(self, |conn| jobs::table
            .find(id)
            .select(Job::as_select())
            .first(conn)
            .optional()
            .map_err(error("Job")))
    }

    fn job(&mut self, id: JobId) -> Result<Job> {
        self.find_any_job(id)?.ok_or_else(Error::missing)
    }

    fn set_job_user(&mut self, id: JobId, user: UserId) -> Result<()> {
        let update = diesel::update(jobs::table.find(id)).set(jobs::user_id.eq(user));
        each_backend!(self, |conn| update.execute(conn).map_err(error("Job")))?;
        Ok(())
    }

    fn record_erased(&mut self, id: JobId) -> Result<()> {
        let erased = (jobs::erased_at.eq(self.now), jobs::updated_at.eq(self.now));
        let update = diesel::update(jobs::table.find(id)).set(erased);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Job")))?;
        Ok(())
    }

    fn jobs_due(&mut self, most: i64) -> Result<Vec<JobId>> {
        let now = self.now.0;
        job_ids(
            self,
            "status = 'scheduled' AND scheduled_at <= $1 ORDER BY scheduled_at",
            now,
            most,
        )
    }

    fn stale_jobs(&mut self, most: i64) -> Result<Vec<(Vec<JobId>, &'static str)>> {
        let ago = |span: Duration| self.now.plus(-span).0;
        let (day, hour) = (ago(Duration::days(1)), ago(Duration::hours(1)));
        let now = self.now.0;
        Ok(vec![
            (
                job_ids(
                    self,
                    "status = 'pending' AND updated_at < $1 AND created_at < $1 AND kind = 'build' ORDER BY updated_at",
                    day,
                    most,
                )?,
                "stuck_or_timeout_failure",
            ),
            (
                job_ids(
                    self,
                    // Of a job that an older version began only `timeout` is known.
                    "status = 'running' AND kind = 'build' \
                     AND started_at + COALESCE(running_timeout, timeout) * 1000000 < $1 ORDER BY updated_at",
                    now,
                    most,
                )?,
                "job_execution_timeout",
            ),
            (
                job_ids(
                    self,
                    "status = 'running' AND updated_at < $1 AND kind = 'build' ORDER BY updated_at",
                    hour,
                    most,
                )?,
                "stuck_or_timeout_failure",
            ),
            (
                job_ids(
                    self,
                    "status = 'scheduled' AND scheduled_at < $1 ORDER BY scheduled_at",
                    hour,
                    most,
                )?,
                "stale_schedule",
            ),
            (
                // Its pipeline could not be made, or is gone: there is nothing that would move it any more.
                job_ids(
                    self,
                    "status IN ('pending', 'running') AND updated_at < $1 AND kind = 'bridge' AND NOT EXISTS (\
                     SELECT 1 FROM pipelines WHERE pipelines.parent_job_id = jobs.id) AND NOT EXISTS (\
                     SELECT 1 FROM mirrored_pipelines WHERE mirrored_pipelines.job_id = jobs.id) ORDER BY updated_at",
                    hour,
                    most,
                )?,
                "downstream_pipeline_creation_failed",
            ),
        ])
    }

    fn find_open_status(
        &mut self,
        pipeline: PipelineId,
        name: &str,
        ref_name: &str,
        user: UserId,
    ) -> Result<Option<Job>> {
        each_backend!(self, |conn| jobs::table
            .filter(jobs::pipeline_id.eq(pipeline).and(jobs::kind.eq(JobKind::External)))
            .filter(jobs::name.eq(name).and(jobs::ref_name.eq(ref_name)))
            .filter(jobs::user_id.eq(user))
            .filter(jobs::status.eq_any([Status::Running, Status::Pending]))
            .order(jobs::id)
            .select(Job::as_select())
            .first(conn)
            .optional()
            .map_err(error("Status")))
    }

    fn insert_job(&mut self, pipeline: &Pipeline, new: &NewJob) -> Result<Job> {
        let row = (
            jobs::project_id.eq(pipeline.project_id),
            jobs::pipeline_id.eq(pipeline.id),
            jobs::kind.eq(new.kind),
            jobs::stage.eq(new.stage),
            jobs::stage_position.eq(new.stage_position),
            jobs::name.eq(&new.name),
            jobs::sha.eq(&pipeline.sha),
            jobs::ref_name.eq(&new.ref_name),
            jobs::tag.eq(pipeline.tag),
            jobs::protected.eq(pipeline.protected),
            jobs::status.eq(Status::Created),
            jobs::retried.eq(false),
            jobs::allow_failure.eq(false),
            jobs::user_id.eq(new.user),
            jobs::created_at.eq(self.now),
            jobs::updated_at.eq(self.now),
        );
        let row = diesel::insert_into(jobs::table).values(row);
        each_backend!(self, |conn| row
            .returning(Job::as_returning())
            .get_result(conn)
            .map_err(error("Status")))
    }

    fn retire_older_jobs(&mut self, newer: &Job) -> Result<()> {
        // What runs here under that name runs on, and its pipeline waits for it.
        let same = jobs::pipeline_id
            .eq(newer.pipeline_id)
            .and(jobs::name.eq(&newer.name).and(jobs::kind.eq(JobKind::External)));
        let older =
            jobs::table.filter(same.and(jobs::retried.eq(false)).and(jobs::id.ne(newer.id)));
        let retired = (jobs::retried.eq(true), jobs::updated_at.eq(self.now));
        let update = diesel::update(older).set(retired);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Status")))?;
        Ok(())
    }

    fn keep_job(&mut self, job: &Job) -> Result<()> {
        let row = (
            jobs::status.eq(job.status),
            jobs::failure_reason.eq(&job.failure_reason),
            jobs::target_url.eq(&job.target_url),
            jobs::description.eq(&job.description),
            jobs::coverage.eq(job.coverage),
            jobs::queued_at.eq(job.queued_at),
            jobs::started_at.eq(job.started_at),
            jobs::finished_at.eq(job.finished_at),
            jobs::updated_at.eq(self.now),
            jobs::allow_failure.eq(job.allow_failure),
            jobs::runner_id.eq(job.runner_id),
            jobs::scheduled_at.eq(job.scheduled_at),
        );
        let one: JobId = job.id;
        let update = diesel::update(jobs::table.find(one)).set(row);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Status")))?;
        Ok(())
    }
}
