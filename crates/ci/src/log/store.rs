//! Job log metadata in the database.

use db::{OneOf as _, Tx, each_backend, error, schema::job_logs};
use diesel::prelude::*;
use kernel::{Result, ids::JobId};

const NOUN: &str = "Log";

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = job_logs, check_for_backend(db::AnyBackend))]
pub struct JobLog {
    pub job_id: JobId,
    /// Bytes, once it is complete.
    pub size: Option<i64>,
    /// Whether only developers may see it.
    pub restricted: bool,
    /// Sealed; only while the job runs.
    pub hidden: Option<String>,
}

pub trait LogStore {
    fn find_log(&mut self, job: JobId) -> Result<Option<JobLog>>;
    /// The logs of a page of jobs.
    fn logs_of(&mut self, jobs: &[JobId]) -> Result<Vec<JobLog>>;
    /// A job begins to write, and this is to be hidden.
    fn begin_log(&mut self, job: JobId, hidden: &str) -> Result<()>;
    fn restrict_log(&mut self, job: JobId) -> Result<()>;
    fn complete_log(&mut self, job: JobId, size: i64) -> Result<()>;
    /// What was to be hidden in the logs of these jobs need not be known any more.
    fn forget_hidden(&mut self, jobs: &[JobId]) -> Result<()>;
    fn delete_log(&mut self, job: JobId) -> Result<()>;
}

impl LogStore for Tx<'_> {
    fn find_log(&mut self, job: JobId) -> Result<Option<JobLog>> {
        each_backend!(self, |conn| job_logs::table
            .find(job)
            .select(JobLog::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn logs_of(&mut self, jobs: &[JobId]) -> Result<Vec<JobLog>> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        each_backend!(self, |conn| job_logs::table
            .filter(job_logs::job_id.one_of(jobs))
            .select(JobLog::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn begin_log(&mut self, job: JobId, hidden: &str) -> Result<()> {
        let row = (
            job_logs::job_id.eq(job),
            job_logs::restricted.eq(false),
            job_logs::hidden.eq(Some(hidden)),
        );
        let insert = diesel::insert_into(job_logs::table).values(row).on_conflict_do_nothing();
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn restrict_log(&mut self, job: JobId) -> Result<()> {
        let row = diesel::update(job_logs::table.find(job)).set(job_logs::restricted.eq(true));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn complete_log(&mut self, job: JobId, size: i64) -> Result<()> {
        let complete = (job_logs::size.eq(Some(size)), job_logs::hidden.eq(None::<String>));
        let row = diesel::update(job_logs::table.find(job)).set(complete);
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn forget_hidden(&mut self, jobs: &[JobId]) -> Result<()> {
        let rows = job_logs::table.filter(job_logs::job_id.one_of(jobs));
        let rows = diesel::update(rows).set(job_logs::hidden.eq(None::<String>));
        each_backend!(self, |conn| rows.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_log(&mut self, job: JobId) -> Result<()> {
        let row = diesel::delete(job_logs::table.find(job));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
