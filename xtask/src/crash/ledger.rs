//! The record of what the server acknowledged: each line was written after its response had arrived.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::runners::JobRecord;

/// A ref of a project, in full.
pub(super) type Ref = (i64, String);

#[derive(Default)]
pub(super) struct Ledger {
    /// Commits that a branch must contain.
    pub(super) commits: BTreeMap<Ref, Vec<String>>,
    /// Refs that point at an object, or are gone.
    pub(super) refs: BTreeMap<Ref, Option<String>>,
    /// How many times a push or an API call moved refs.
    pub(super) pushes: u64,
    pub(super) projects: Vec<i64>,
    pub(super) stars: Vec<i64>,
    pub(super) protected: Vec<(i64, String)>,
    /// Commits that have a pipeline, by project.
    pub(super) runs: Vec<(i64, String)>,
    /// Merge requests, by project and number.
    pub(super) merged: Vec<(i64, i64)>,
    /// Alerts, by project, number and title.
    pub(super) alerts: Vec<(i64, i64, String)>,
    /// How often an alert was reported that was known already, or became so.
    pub(super) repeats: i64,
    /// Jobs that runners were given, by their ids.
    pub(super) jobs: BTreeMap<i64, JobRecord>,
    /// Jobs that were handed over more than once.
    pub(super) twice: Vec<i64>,
    /// Answers that were neither a success nor an expected refusal.
    refused: Vec<String>,
}

#[derive(Default)]
pub(super) struct SharedLedger(Mutex<Ledger>);

impl SharedLedger {
    pub(super) fn write(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn refuse(&self, what: &str, told: &str) {
        self.write().refused.push(format!("{what}: {told}"));
    }

    pub(super) fn refused(&self) -> Vec<String> {
        self.write().refused.clone()
    }

    pub(super) fn summary(&self) -> String {
        let ledger = self.write();
        let commits = ledger.commits.values().map(Vec::len).sum::<usize>();
        let rows = ledger.projects.len() + ledger.stars.len() + ledger.protected.len();
        format!(
            "acknowledged {commits} commits, {} refs, {} pushes, {} pipelines, {} merges, {} alerts, {} jobs, {rows} rows",
            ledger.refs.len(),
            ledger.pushes,
            ledger.runs.len(),
            ledger.merged.len(),
            ledger.alerts.len(),
            ledger.jobs.len()
        )
    }

    /// Adds what a later round was told.
    pub(super) fn absorb(&self, other: Self) {
        let other = other.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut ledger = self.write();
        for (branch, commits) in other.commits {
            ledger.commits.entry(branch).or_default().extend(commits);
        }
        ledger.refs.extend(other.refs);
        ledger.pushes += other.pushes;
        ledger.projects.extend(other.projects);
        ledger.stars.extend(other.stars);
        ledger.protected.extend(other.protected);
        ledger.runs.extend(other.runs);
        ledger.merged.extend(other.merged);
        ledger.alerts.extend(other.alerts);
        ledger.repeats += other.repeats;
        ledger.twice.extend(other.twice);
        for (id, record) in other.jobs {
            ledger.add_job(id, record);
        }
    }
}
