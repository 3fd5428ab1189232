//! Loaders of runners.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use db::Tx;
use forge::{ports::runners::Roles, runner::jobs};
use kernel::{
    Actor, Result,
    ids::{ProjectId, RunnerId},
};
use org::access::standings_of_one;
use runners::{
    manager::{Manager, ManagerStore as _},
    runner::{Runner, RunnerStore as _, actions},
};

use crate::{context::Context, loaders::BatchLoader};

/// Jobs of one runner that are counted.
const COUNTED_JOBS: i64 = 1_001;

/// The loaders of runners.
pub(super) struct RunnerLoaders {
    /// Runners of which the caller may see all fields.
    pub readable: BatchLoader<RunnerId, Arc<Runner>>,
    /// Runners that the caller may change.
    pub updatable: BatchLoader<RunnerId, ()>,
    /// The projects to which project runners are assigned, the first one first.
    pub projects: BatchLoader<RunnerId, Arc<Vec<ProjectId>>>,
    /// To how many projects that the caller sees project runners are assigned.
    pub project_counts: BatchLoader<RunnerId, usize>,
    /// How many jobs they took that the caller may list.
    pub job_counts: BatchLoader<RunnerId, i64>,
    /// Whether they do a job that the caller may list.
    pub running: BatchLoader<RunnerId, bool>,
    /// The newest program that shares the token first.
    pub managers: BatchLoader<RunnerId, Arc<Vec<Arc<Manager>>>>,
}

impl RunnerLoaders {
    /// The loaders of this request.
    pub(super) fn of(context: &Context) -> Arc<Self> {
        let actor = context.actor();
        context.loaders.of(|db| Self {
            readable: BatchLoader::new(db, move |tx, ids| {
                let found = actions::readable(tx, actor, &Roles, ids)?.into_iter();
                Ok(found.map(|runner| (runner.id, Arc::new(runner))).collect())
            }),
            updatable: BatchLoader::new(db, move |tx, ids| {
                let runners = tx.runners_by_id(ids)?;
                let found = actions::updatable(tx, actor, &Roles, &runners)?;
                Ok(found.into_iter().map(|id| (id, ())).collect())
            }),
            projects: BatchLoader::new(db, |tx, ids| {
                let found = tx.projects_of_runners(ids)?.into_iter();
                Ok(found.map(|(id, projects)| (id, Arc::new(projects))).collect())
            }),
            project_counts: BatchLoader::new(db, move |tx, ids| project_counts(tx, actor, ids)),
            job_counts: BatchLoader::new(db, move |tx, ids| {
                jobs::counts(tx, actor, ids, COUNTED_JOBS)
            }),
            running: BatchLoader::new(db, move |tx, ids| jobs::are_busy(tx, actor, ids)),
            managers: BatchLoader::new(db, |tx, ids| {
                let mut by_runner: HashMap<RunnerId, Vec<Arc<Manager>>> = HashMap::new();
                for manager in tx.managers_of(ids)? {
                    by_runner.entry(manager.runner_id).or_default().push(Arc::new(manager));
                }
                Ok(by_runner.into_iter().map(|(id, all)| (id, Arc::new(all))).collect())
            }),
        })
    }
}

fn project_counts(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[RunnerId],
) -> Result<HashMap<RunnerId, usize>> {
    let assigned = tx.projects_of_runners(ids)?;
    let all: BTreeSet<ProjectId> = assigned.values().flatten().copied().collect();
    let seen = standings_of_one::in_projects(tx, actor, &Vec::from_iter(all))?;
    let count = |projects: Vec<ProjectId>| {
        projects.into_iter().filter(|project| seen.contains_key(project)).count()
    };
    Ok(assigned.into_iter().map(|(id, projects)| (id, count(projects))).collect())
}
