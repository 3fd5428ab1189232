//! Jobs that wait for a runner.

use std::collections::HashMap;

use db::{
    Tx, each_backend, error,
    listing::{Bind, ids, list_of, rows},
    schema::jobs,
};
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Nullable},
};
use kernel::{
    Result, Ts,
    ids::{JobId, JobSpecId, ProjectId, UserId},
};

use super::{
    End, Job, JobStore as _, Step,
    progress::{finish_unarchived, lock_job, save_job},
    token::JobToken,
};
use crate::{Status, log::LogStore as _, pipeline::advance};

/// A job that waits, as far as it decides who takes it.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct PendingJob {
    #[diesel(sql_type = BigInt)]
    pub id: JobId,
    #[diesel(sql_type = BigInt)]
    pub project_id: ProjectId,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub spec_id: Option<JobSpecId>,
    /// Whether it is of a protected branch or tag.
    #[diesel(sql_type = Bool)]
    pub protected: bool,
}

#[derive(QueryableByName)]
struct ProjectCount {
    #[diesel(sql_type = BigInt)]
    project_id: ProjectId,
    #[diesel(sql_type = BigInt)]
    number: i64,
}

pub trait QueueStore {
    /// The projects of which jobs wait, with the first of these.
    fn waiting_projects(&mut self) -> Result<Vec<(ProjectId, JobId)>>;
    /// How many jobs of which project runners of the whole installation do.
    fn running_on_instance_runners(&mut self) -> Result<HashMap<ProjectId, i64>>;
    /// Jobs of these projects that wait, the oldest first, behind this one. None that are younger than `before`, and
    /// where `starters` are given, only those that one of them has started, in pipelines that one of them has started.
    fn waiting_jobs(
        &mut self,
        projects: &[ProjectId],
        starters: Option<&[UserId]>,
        behind: JobId,
        before: Option<Ts>,
        most: i64,
    ) -> Result<Vec<PendingJob>>;
    /// Jobs that have waited since before then, by age, behind this one.
    fn waiting_since(&mut self, then: Ts, behind: JobId, most: i64) -> Result<Vec<PendingJob>>;
    /// Those of these jobs that wait.
    fn still_waiting(&mut self, jobs: &[JobId]) -> Result<Vec<PendingJob>>;
    /// The jobs that a runner has now.
    fn running_of(&mut self, runner: i64) -> Result<Vec<JobId>>;
    fn find_job_by_token(&mut self, digest: &str) -> Result<Option<Job>>;
    /// Somebody who has a job was heard of now.
    fn touch_job(&mut self, id: JobId) -> Result<()>;
    fn set_coverage(&mut self, id: JobId, coverage: f64) -> Result<()>;
}

const COLUMNS: &str = "id, project_id, spec_id, protected";
const WAITS: &str = "status = 'pending' AND kind = 'build'";

fn numbers(projects: &[ProjectId]) -> String {
    list_of(&projects.iter().map(|id| id.0).collect::<Vec<_>>())
}

fn started_by(people: &[UserId]) -> String {
    let people = list_of(&people.iter().map(|id| id.0).collect::<Vec<_>>());
    format!(
        " AND user_id IN ({people}) AND EXISTS (SELECT 1 FROM pipelines \
         WHERE pipelines.id = jobs.pipeline_id AND pipelines.user_id IN ({people}))"
    )
}

impl QueueStore for Tx<'_> {
    fn waiting_projects(&mut self) -> Result<Vec<(ProjectId, JobId)>> {
        let sql = format!(
            "SELECT project_id, MIN(id) AS number FROM jobs WHERE {WAITS} GROUP BY project_id"
        );
        let found: Vec<ProjectCount> = rows(self, &sql, &[])?;
        Ok(found.into_iter().map(|row| (row.project_id, JobId(row.number))).collect())
    }

    fn running_on_instance_runners(&mut self) -> Result<HashMap<ProjectId, i64>> {
        let sql = "SELECT project_id, COUNT(*) AS number FROM jobs \
                   WHERE status = 'running' AND on_instance_runner GROUP BY project_id";
        let found: Vec<ProjectCount> = rows(self, sql, &[])?;
        Ok(found.into_iter().map(|row| (row.project_id, row.number)).collect())
    }

    fn waiting_jobs(
        &mut self,
        projects: &[ProjectId],
        starters: Option<&[UserId]>,
        behind: JobId,
        before: Option<Ts>,
        most: i64,
    ) -> Result<Vec<PendingJob>> {
        let mut binds = vec![Bind::Number(behind.0)];
        let mut aged = "";
        if let Some(before) = before {
            binds.push(Bind::Number(before.0));
            aged = " AND queued_at <= $2";
        }
        let by = starters.map(started_by).unwrap_or_default();
        let sql = format!(
            "SELECT {COLUMNS} FROM jobs WHERE {WAITS} AND project_id IN ({}) AND id > $1{aged}{by} \
             ORDER BY id LIMIT {most}",
            numbers(projects)
        );
        rows(self, &sql, &binds)
    }

    fn waiting_since(&mut self, then: Ts, behind: JobId, most: i64) -> Result<Vec<PendingJob>> {
        // The unary plus keeps SQLite from walking all jobs there are by their ids: few wait.
        let sql = format!(
            "SELECT {COLUMNS} FROM jobs WHERE {WAITS} AND updated_at < $1 AND created_at < $1 AND +id > $2 \
             ORDER BY +id LIMIT {most}"
        );
        rows(self, &sql, &[Bind::Number(then.0), Bind::Number(behind.0)])
    }

    fn still_waiting(&mut self, jobs: &[JobId]) -> Result<Vec<PendingJob>> {
        let ids: Vec<i64> = jobs.iter().map(|id| id.0).collect();
        let sql = format!("SELECT {COLUMNS} FROM jobs WHERE {WAITS} AND id IN ({})", list_of(&ids));
        rows(self, &sql, &[])
    }

    fn running_of(&mut self, runner: i64) -> Result<Vec<JobId>> {
        let sql = "SELECT id FROM jobs WHERE runner_id = $1 AND status = 'running'";
        Ok(ids(self, sql, &[Bind::Number(runner)])?.into_iter().map(JobId).collect())
    }

    fn find_job_by_token(&mut self, digest: &str) -> Result<Option<Job>> {
        each_backend!(self, |conn| jobs::table
            .filter(jobs::token_digest.eq(digest))
            .select(Job::as_select())
            .first(conn)
            .optional()
            .map_err(error("Job")))
    }

    fn touch_job(&mut self, id: JobId) -> Result<()> {
        let update = diesel::update(jobs::table.find(id)).set(jobs::updated_at.eq(self.now));
        each_backend!(self, |conn| update.execute(conn).map_err(error("Job")))?;
        Ok(())
    }

    fn set_coverage(&mut self, id: JobId, coverage: f64) -> Result<()> {
        let update = diesel::update(jobs::table.find(id)).set(jobs::coverage.eq(Some(coverage)));
        each_backend!(self, |conn| update.execute(conn).map_err(error("Job")))?;
        Ok(())
    }
}

/// The runner that takes a job, and the job's timeout and token.
#[derive(Clone, Debug)]
pub struct Start {
    pub runner: i64,
    pub on_instance_runner: bool,
    /// Seconds that it may run, here.
    pub timeout: i64,
    pub token: JobToken,
    /// What is to be hidden in the log, sealed.
    pub hidden: String,
}

/// Nobody can do a job that waits: it fails. `None` where it does not wait any more, since somebody has it. Jobs that were
/// made until `archived_before` are archived.
pub fn refuse(
    tx: &mut Tx<'_>,
    id: JobId,
    reason: &str,
    archived_before: Option<Ts>,
) -> Result<Option<Job>> {
    match lock_job(tx, id)?.status {
        Status::Pending => {
            finish_unarchived(tx, id, End::failed(reason), archived_before).map(Some)
        }
        _ => Ok(None),
    }
}

/// A runner takes a job; `None` where it does not wait any more.
pub fn begin(tx: &mut Tx<'_>, id: JobId, start: &Start) -> Result<Option<Job>> {
    let job = lock_job(tx, id)?;
    let Ok(status) = job.status.after(Step::Run) else { return Ok(None) };
    let job = Job { status, runner_id: Some(start.runner), started_at: Some(tx.now), ..job };
    save_job(tx, &job)?;
    let taken = (
        jobs::running_timeout.eq(Some(start.timeout)),
        jobs::token_digest.eq(Some(start.token.digest())),
        jobs::on_instance_runner.eq(start.on_instance_runner),
    );
    let update = diesel::update(jobs::table.find(id)).set(taken);
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Job")))?;
    tx.begin_log(id, &start.hidden)?;
    advance(tx, job.pipeline_id)?;
    tx.job(id).map(Some)
}

/// A job waits again whose runner went away before it knew of it.
pub fn give_back(tx: &mut Tx<'_>, id: JobId) -> Result<()> {
    let job = lock_job(tx, id)?;
    if job.status != Status::Running {
        return Ok(());
    }
    // No step of a job's life leads back: for everybody else it has never begun.
    let job = Job { status: Status::Pending, runner_id: None, started_at: None, ..job };
    let never_taken = (
        jobs::running_timeout.eq(None::<i64>),
        jobs::token_digest.eq(None::<String>),
        jobs::on_instance_runner.eq(false),
    );
    let update = diesel::update(jobs::table.find(id)).set(never_taken);
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Job")))?;
    tx.delete_log(id)?;
    save_job(tx, &job)?;
    advance(tx, job.pipeline_id).map(drop)
}
