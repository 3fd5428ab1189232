//! Loaders of runners.

use std::{collections::HashMap, sync::Arc};

use ci::job::JobListStore as _;
use forge::ports::runners::Roles;
use kernel::ids::{ProjectId, RunnerId};
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
    pub job_counts: BatchLoader<RunnerId, i64>,
    pub running: BatchLoader<RunnerId, ()>,
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
            job_counts: BatchLoader::new(db, |tx, ids| tx.runner_job_counts(ids, COUNTED_JOBS)),
            running: BatchLoader::new(db, |tx, ids| {
                Ok(tx.busy_runners(ids)?.into_iter().map(|id| (id, ())).collect())
            }),
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
