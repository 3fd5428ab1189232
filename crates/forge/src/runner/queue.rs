//! The jobs that a runner may take, in order.

use std::collections::{BTreeMap, HashMap, HashSet};

use ci::job::{PendingJob, QueueStore as _, SpecStore as _};
use db::Tx;
use kernel::{
    Result, Ts,
    ids::{JobId, ProjectId, UserId},
};
use org::runner_places::{JobHome, job_homes};
use runners::{
    matching::{JobMatcher, QueueProject},
    runner::{RunnerStore as _, RunnerType},
};

use super::built_in_rule::JobOwners;

/// So many jobs are looked at by one question.
const AT_ONCE: i64 = 100;
/// So many that fit are told: others may be faster with the first of them.
const MOST: usize = 10;

pub(super) fn home(of: JobHome) -> QueueProject {
    QueueProject {
        project: of.project,
        groups: of.groups,
        instance_runners: of.instance_runners,
        group_runners: of.group_runners,
        runs_jobs: of.runs_jobs,
    }
}

/// The first jobs that wait and that this runner takes; `whose` is the rule of the built-in one.
pub(super) fn candidates(
    tx: &mut Tx<'_>,
    taker: &JobMatcher,
    whose: &JobOwners,
    before: Option<Ts>,
    taken: &HashSet<JobId>,
) -> Result<Vec<PendingJob>> {
    let waiting: HashMap<ProjectId, JobId> = tx.waiting_projects()?.into_iter().collect();
    if waiting.is_empty() || !taker.active {
        return Ok(Vec::new());
    }
    let ids: Vec<ProjectId> = waiting.keys().copied().collect();
    let homes = job_homes(tx, &ids)?.into_iter().map(home);
    let served: Vec<ProjectId> = homes
        .filter(|home| taker.serves(home) && whose.serves(home))
        .map(|home| home.project)
        .collect();
    let starters = whose.starters(tx)?;
    let look = QueueSearch { taker, starters: starters.as_deref(), before, taken };
    let mut found = Vec::new();
    for projects in turns(tx, taker, served)? {
        look.gather(tx, &projects, &mut found)?;
        if found.len() >= MOST {
            break;
        }
    }
    Ok(found)
}

/// All runners that are not paused.
pub(crate) fn active_takers(tx: &mut Tx<'_>) -> Result<Vec<JobMatcher>> {
    let runners = tx.active_runners()?.into_iter();
    runners.map(|(runner, projects)| JobMatcher::new(&runner, projects)).collect()
}

/// Those of these jobs that none of these runners takes, as things are.
pub(crate) fn without_runner(
    tx: &mut Tx<'_>,
    takers: &[JobMatcher],
    jobs: &[PendingJob],
) -> Result<Vec<JobId>> {
    let mut projects: Vec<ProjectId> = jobs.iter().map(|job| job.project_id).collect();
    projects.sort_unstable();
    projects.dedup();
    let homes = job_homes(tx, &projects)?.into_iter().map(home);
    let homes: HashMap<ProjectId, QueueProject> = homes.map(|home| (home.project, home)).collect();
    let specs: Vec<_> = jobs.iter().filter_map(|job| job.spec_id).collect();
    let tags = tx.tags_of(&specs)?;
    let has_taker = |job: &PendingJob| {
        let tags = job.spec_id.and_then(|spec| tags.get(&spec));
        let tags = tags.map(Vec::as_slice).unwrap_or_default();
        let takes =
            |taker: &JobMatcher, home| taker.serves(home) && taker.takes(tags, job.protected);
        let home = homes.get(&job.project_id);
        home.is_some_and(|home| takers.iter().any(|taker| takes(taker, home)))
    };
    Ok(jobs.iter().filter(|job| !has_taker(job)).map(|job| job.id).collect())
}

/// Projects whose jobs are looked at together. Runners of the installation first do those of projects of which they do
/// few.
fn turns(
    tx: &mut Tx<'_>,
    taker: &JobMatcher,
    projects: Vec<ProjectId>,
) -> Result<Vec<Vec<ProjectId>>> {
    if taker.runner_type != RunnerType::Instance {
        return Ok(vec![projects]);
    }
    let running = tx.running_on_instance_runners()?;
    let mut by_number: BTreeMap<i64, Vec<ProjectId>> = BTreeMap::new();
    for project in projects {
        let number = running.get(&project).copied().unwrap_or_default();
        by_number.entry(number).or_default().push(project);
    }
    Ok(by_number.into_values().collect())
}

/// The runners and jobs that a search matches.
struct QueueSearch<'l> {
    taker: &'l JobMatcher,
    starters: Option<&'l [UserId]>,
    before: Option<Ts>,
    taken: &'l HashSet<JobId>,
}

impl QueueSearch<'_> {
    /// Adds what fits.
    fn gather(
        &self,
        tx: &mut Tx<'_>,
        projects: &[ProjectId],
        found: &mut Vec<PendingJob>,
    ) -> Result<()> {
        let mut behind = JobId(0);
        while found.len() < MOST && !projects.is_empty() {
            let jobs = tx.waiting_jobs(projects, self.starters, behind, self.before, AT_ONCE)?;
            let Some(last) = jobs.last() else { break };
            behind = last.id;
            let more = i64::try_from(jobs.len()).is_ok_and(|number| number >= AT_ONCE);
            let specs: Vec<_> = jobs.iter().filter_map(|job| job.spec_id).collect();
            let tags = tx.tags_of(&specs)?;
            let fits = |job: &PendingJob| {
                let tags = job.spec_id.and_then(|spec| tags.get(&spec));
                let tags = tags.map(Vec::as_slice).unwrap_or_default();
                !self.taken.contains(&job.id) && self.taker.takes(tags, job.protected)
            };
            found.extend(jobs.into_iter().filter(fits));
            if !more {
                break;
            }
        }
        Ok(())
    }
}
