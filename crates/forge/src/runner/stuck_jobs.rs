//! Jobs that wait and that no runner takes which is online.

use std::collections::{BTreeSet, HashMap, HashSet};

use ci::{
    Status,
    job::{Job, JobKind, SpecStore as _},
};
use db::Tx;
use kernel::{
    Result,
    ids::{JobId, ProjectId},
};
use org::runner_places::job_homes;
use runners::{
    matching::{JobMatcher, QueueProject},
    runner::RunnerStore as _,
};

use super::queue::home;

/// Those of these jobs that wait for a runner although none is online that takes them; a fixed number of statements.
///
/// # Errors
/// When the database cannot be read.
pub fn stuck_jobs(tx: &mut Tx<'_>, jobs: &[Job]) -> Result<HashSet<JobId>> {
    let waiting: Vec<&Job> = (jobs.iter())
        .filter(|job| job.status == Status::Pending && job.kind == JobKind::Build)
        .collect();
    if waiting.is_empty() {
        return Ok(HashSet::new());
    }
    let projects: BTreeSet<ProjectId> = waiting.iter().map(|job| job.project_id).collect();
    let specs: BTreeSet<_> = waiting.iter().filter_map(|job| job.spec_id).collect();
    let tags = tx.tags_of(&Vec::from_iter(specs))?;
    let homes = job_homes(tx, &Vec::from_iter(projects))?.into_iter();
    let homes: HashMap<ProjectId, QueueProject> = homes.map(|of| (of.project, home(of))).collect();
    let now = tx.now;
    let online = tx.active_runners()?.into_iter().filter(|(runner, _)| runner.is_online(now));
    let takers = online.map(|(runner, projects)| JobMatcher::new(&runner, projects));
    let takers = takers.collect::<Result<Vec<_>>>()?;
    let is_taken = |job: &Job| {
        let tags = job.spec_id.and_then(|spec| tags.get(&spec)).map(Vec::as_slice);
        let home = homes.get(&job.project_id);
        takers.iter().any(|taker| {
            home.is_some_and(|home| taker.serves(home))
                && taker.takes(tags.unwrap_or_default(), job.protected)
        })
    };
    Ok(waiting.into_iter().filter(|job| !is_taken(job)).map(|job| job.id).collect())
}
