//! Environments and artifacts of jobs in payloads, loaded for all jobs at once.

use std::collections::{BTreeSet, HashMap};

use ci::{
    artifact::{ArtifactKind, ArtifactStore as _},
    config::options::Environment as Written,
    job::{Job, SpecStore as _},
};
use db::Tx;
use deployments::environment::{EnvironmentStore as _, Tier};
use kernel::{
    Result,
    ids::{JobId, JobSpecId},
};
use serde_json::{Value, json};

use super::common::word;

/// What a job does to its environment where it does not say.
const START: &str = "start";

/// By the specification of a job, by the name of an environment, and by job.
#[derive(Debug, Default)]
pub(crate) struct JobSurroundings {
    written: HashMap<JobSpecId, Written>,
    tiers: HashMap<String, Tier>,
    archives: HashMap<JobId, (String, i64)>,
}

impl JobSurroundings {
    /// Of jobs of one project, by the same few statements however many they are.
    pub(crate) fn load(tx: &mut Tx<'_>, jobs: &[Job]) -> Result<Self> {
        let (written, tiers) = (written_environments(tx, jobs)?, tiers(tx, jobs)?);
        let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
        let now = tx.now;
        let kept = tx.artifacts_of(&ids)?.into_iter();
        let archives =
            kept.filter(|one| one.file_type == ArtifactKind::Archive && one.is_there(now));
        let archives = archives.map(|one| (one.job_id, (one.filename, one.size))).collect();
        Ok(Self { written, tiers, archives })
    }

    fn written(&self, job: &Job) -> Option<&Written> {
        self.written.get(&job.spec_id?)
    }

    fn action(&self, job: &Job) -> &str {
        self.written(job).and_then(|written| written.action.as_deref()).unwrap_or(START)
    }

    /// Name and action, as an event of the job tells them.
    pub(crate) fn environment(&self, job: &Job) -> Value {
        match &job.environment {
            Some(name) => json!({ "name": name, "action": self.action(job) }),
            None => Value::Null,
        }
    }

    /// Name, action and tier, as an event of the pipeline tells them; what was written counts until there is an
    /// environment.
    pub(crate) fn environment_with_tier(&self, job: &Job) -> Value {
        let Some(name) = &job.environment else { return Value::Null };
        let written = || self.written(job)?.deployment_tier.clone();
        let tier = self.tiers.get(name).map(|tier| word(*tier).to_owned()).or_else(written);
        json!({ "name": name, "action": self.action(job), "deployment_tier": tier })
    }

    /// The archive that a job has kept.
    pub(crate) fn archive(&self, job: &Job) -> Value {
        let found = self.archives.get(&job.id);
        json!({
            "filename": found.map(|(name, _)| name),
            "size": found.map(|(_, size)| size),
        })
    }
}

/// What is written of the environments of jobs, by their specifications.
fn written_environments(tx: &mut Tx<'_>, jobs: &[Job]) -> Result<HashMap<JobSpecId, Written>> {
    let deploying = jobs.iter().filter(|job| job.environment.is_some());
    let ids: BTreeSet<JobSpecId> = deploying.filter_map(|job| job.spec_id).collect();
    let ids: Vec<JobSpecId> = ids.into_iter().collect();
    let specs = tx.specs(&ids)?.into_iter();
    Ok(specs.map(|(id, spec)| (id, spec.options.environment.unwrap_or_default())).collect())
}

/// The tiers of the environments that are there, by name.
fn tiers(tx: &mut Tx<'_>, jobs: &[Job]) -> Result<HashMap<String, Tier>> {
    let Some(project) = jobs.first().map(|job| job.project_id) else { return Ok(HashMap::new()) };
    let names: BTreeSet<&str> = jobs.iter().filter_map(|job| job.environment.as_deref()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let found = tx.environments_named(project, &names)?.into_iter();
    Ok(found.map(|one| (one.name, one.tier)).collect())
}
