//! Jobs assigned and finished per second.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use super::runners::{JOBS_OF_PIPELINE, Note, Size, make_pipeline, project_of_jobs, runner_of};
use crate::{
    client::Client,
    runner::{JobAnswer, Runner},
    server::Installation,
};

/// Requests at the same time.
const AT_ONCE: usize = 8;
const PATIENCE: Duration = Duration::from_secs(600);

/// Its project is called so, and the jobs stay in it.
pub(super) const PROJECT: &str = "speed";

pub(super) fn measure(installation: &Installation, client: &Client, size: Size) -> Result<Note> {
    let project = project_of_jobs(client, PROJECT, JOBS_OF_PIPELINE)?;
    let pipelines = size.jobs / JOBS_OF_PIPELINE;
    for _ in 0..pipelines {
        make_pipeline(client, project)?;
    }
    let jobs = pipelines * JOBS_OF_PIPELINE;
    let runner = runner_of(installation, project, "r_speed")?;
    let (done, begun) = (AtomicUsize::new(0), Instant::now());
    thread::scope(|scope| {
        let all: Vec<_> =
            (0..AT_ONCE).map(|_| scope.spawn(|| work(&runner, &done, jobs))).collect();
        all.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| Ok(())))
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(done.load(Ordering::Relaxed) == jobs, "not all jobs were done");
    let rate = f64::from(u32::try_from(jobs)?) / seconds;
    Ok((
        "jobs handed over and finished, 8 requests at once",
        format!("{rate:.0} a second ({jobs} in {seconds:.1} s)"),
    ))
}

fn work(runner: &Runner, done: &AtomicUsize, jobs: usize) -> Result<()> {
    let begun = Instant::now();
    while done.load(Ordering::Relaxed) < jobs {
        ensure!(begun.elapsed() < PATIENCE, "the jobs are not done");
        match runner.request(None)? {
            JobAnswer::Job(job) => {
                job.succeed(0)?.ensure(200, "the end of a job")?;
                done.fetch_add(1, Ordering::Relaxed);
            }
            JobAnswer::Nothing(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
    Ok(())
}
