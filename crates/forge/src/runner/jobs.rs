//! The jobs that a runner took.

use ci::job::{Job, JobListStore as _, RunnerJobFilter};
use db::Tx;
use kernel::{
    AccessLevel::Reporter,
    Grant, Result,
    ids::RunnerId,
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
    let actor = grant.actor();
    let projects = match actor.admin {
        true => None,
        false => Some(Roles.projects(tx, actor, Reporter)?),
    };
    let filter = RunnerJobFilter { projects, ..filter.clone() };
    let jobs = tx.runner_jobs(id, &filter, page)?;
    Ok((runner, jobs))
}
