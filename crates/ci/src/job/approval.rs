//! Jobs that wait until people approve what they do.

use db::{Tx, each_backend, error, schema::jobs};
use diesel::prelude::*;
use kernel::{Result, ids::JobId};

use super::{
    Job, JobStore as _, Step,
    progress::{after_end, enqueue, lock_job, save_job},
};
use crate::{Status, config::When};

/// Makes a job that is about to run wait for a person instead. What it held goes to the next one.
pub fn hold(tx: &mut Tx<'_>, id: JobId) -> Result<Job> {
    let job = lock_job(tx, id)?;
    let status = job.status.after(Step::Actionize)?;
    let job = Job { status, run_when: When::Manual, queued_at: None, ..job };
    // It is played once it is approved.
    run_when(tx, id, When::Manual)?;
    save_job(tx, &job)?;
    after_end(tx, &[job])?;
    tx.job(id)
}

fn run_when(tx: &mut Tx<'_>, id: JobId, when: When) -> Result<()> {
    let change = diesel::update(jobs::table.find(id)).set(jobs::run_when.eq(when));
    each_backend!(tx, |conn| change.execute(conn).map_err(error("Job")))?;
    Ok(())
}

/// Lets a job begin that waited for approvals, unless it does not wait any more.
pub fn release(tx: &mut Tx<'_>, id: JobId) -> Result<Job> {
    let job = lock_job(tx, id)?;
    match job.status {
        Status::Manual => enqueue(tx, job)?,
        // It waits for others again, and nobody has to play it once they have ended.
        Status::Created => run_when(tx, id, When::OnSuccess)?,
        _ => {}
    }
    tx.job(id)
}
