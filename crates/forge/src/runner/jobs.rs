//! The jobs that a runner took.

use std::collections::{HashMap, HashSet};

use ci::job::{Job, JobListStore as _, RunnerJobFilter};
use db::Tx;
use kernel::{
    AccessLevel::Reporter,
    Actor, Grant, Result,
    ids::{ProjectId, RunnerId},
    page::{Page, PageRequest},
};
use runners::{
    policy::UseRunners,
    ports::Roles as _,
    runner::{Runner, actions},
};

use crate::ports::runners::Roles;

/// A runner with a page of its jobs; who is no administrator sees those of projects in which they are at least a reporter.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<UseRunners>,
    id: RunnerId,
    filter: &RunnerJobFilter,
    page: PageRequest,
) -> Result<(Runner, Page<Job>)> {
    let runner = actions::read_with_jobs(tx, grant, &Roles, id)?;
    let projects = listed_projects(tx, grant.actor())?;
    let filter = RunnerJobFilter { projects, ..filter.clone() };
    let jobs = tx.runner_jobs(id, &filter, page)?;
    Ok((runner, jobs))
}

/// The projects whose jobs somebody is told of; all, where nothing is said.
fn listed_projects(tx: &mut Tx<'_>, actor: Actor) -> Result<Option<Vec<ProjectId>>> {
    match actor.admin {
        true => Ok(None),
        false => Ok(Some(Roles.projects(tx, actor, Reporter)?)),
    }
}

/// How many jobs these runners took, each counted up to `limit`, of those that [`list`] tells the caller.
/// Runners whose jobs they may not list are left out.
///
/// # Errors
/// When the database cannot be read.
pub fn counts(
    tx: &mut Tx<'_>,
    actor: Actor,
    runners: &[RunnerId],
    limit: i64,
) -> Result<HashMap<RunnerId, i64>> {
    let runners = actions::readable_with_jobs(tx, actor, &Roles, runners)?;
    let projects = listed_projects(tx, actor)?;
    tx.runner_job_counts(&runners, projects.as_deref(), limit)
}

/// Whether these runners do a job now that [`list`] tells the caller. Runners whose jobs they may not list are
/// left out.
///
/// # Errors
/// When the database cannot be read.
pub fn are_busy(
    tx: &mut Tx<'_>,
    actor: Actor,
    runners: &[RunnerId],
) -> Result<HashMap<RunnerId, bool>> {
    let runners = actions::readable_with_jobs(tx, actor, &Roles, runners)?;
    let projects = listed_projects(tx, actor)?;
    let busy: HashSet<RunnerId> =
        tx.busy_runners(&runners, projects.as_deref())?.into_iter().collect();
    Ok(runners.into_iter().map(|id| (id, busy.contains(&id))).collect())
}
