//! Corrections of an archive's rows by what is here: schedules of others, deployments whose jobs do not go on, findings with
//! another identity, threads with another name, merge requests of forks, and pictures whose files lie elsewhere.

use std::collections::{HashMap, HashSet};

use ci::{
    archive::has_work,
    job::{Job, StageJobStore as _},
};
use db::{
    Tx,
    archive::{ArchiveRow, Names, Relation},
};
use deployments::{
    deployment::{DeploymentStatus, DeploymentStore as _},
    environment::EnvironmentStore as _,
};
use kernel::{
    Result, TextEnum as _,
    ids::{DeploymentId, EnvironmentId, JobId, ProjectId, UserId},
};
use org::user::store::UserStore as _;
use security::archive::uuid_of_copy;
use serde_json::{Value, json};

use super::rows::Context;

/// What rows of one page are corrected by; ids are those of the archive.
#[derive(Debug, Default)]
pub(super) struct Corrections {
    /// Whether whoever imports is an administrator, who knows all people here.
    by_administrator: bool,
    /// Jobs that have not ended for good.
    open_jobs: HashMap<i64, OpenJob>,
    /// Names of environments.
    environments: HashMap<i64, String>,
    /// Deployments whose jobs have ended for good.
    ended_deployments: HashSet<i64>,
}

/// A job that may begin.
#[derive(Debug)]
struct OpenJob {
    /// False for one that was skipped: it begins only where others do once more.
    waits: bool,
    /// Whether somebody is known for whom it begins.
    has_user: bool,
    /// Where it deploys to.
    environment: Option<String>,
}

impl Corrections {
    /// Reads what is here of the rows that a page of a relation names, by a fixed number of statements.
    pub(super) fn read(tx: &mut Tx<'_>, relation: &Relation, names: &Names) -> Result<Self> {
        Ok(match relation.name {
            "pipeline_schedules" => {
                let by_administrator = tx.user(UserId(names.importer))?.admin;
                Self { by_administrator, ..Self::default() }
            }
            "deployments" => {
                let open_jobs = open_jobs(tx, &pairs(names, "jobs"))?;
                let environments = environment_names(tx, &pairs(names, "environments"))?;
                Self { open_jobs, environments, ..Self::default() }
            }
            "deployment_approvals" => {
                let ended_deployments = ended_deployments(tx, &pairs(names, "deployments"))?;
                Self { ended_deployments, ..Self::default() }
            }
            _ => Self::default(),
        })
    }

    /// Makes a row fit what is here; false for one that is left out.
    pub(super) fn apply(
        &self,
        context: &Context,
        relation: &Relation,
        names: &Names,
        row: &mut ArchiveRow,
    ) -> bool {
        match relation.name {
            "pipeline_schedules" => {
                self.calm_schedule(names, row);
                true
            }
            "jobs" => has_work(row),
            "deployments" => {
                self.fit_deployment(names, row);
                true
            }
            // For what is still to be deployed, people here are asked.
            "deployment_approvals" => {
                number(row, "deployment_id").is_some_and(|id| self.ended_deployments.contains(&id))
            }
            "vulnerabilities" => {
                identify(context, names, row);
                true
            }
            "alert_metric_images" => find_file(context, row),
            "merge_requests" => {
                forget_fork(names, row);
                review::archive::correct(relation, row);
                true
            }
            _ => {
                review::archive::correct(relation, row);
                rename_discussion(context, row);
                true
            }
        }
    }

    /// Pipelines of a schedule run for its owner. An administrator would have code of others run for people who do not
    /// know of it, or with the rights of an administrator: such a schedule rests until its owner wants it to run.
    fn calm_schedule(&self, names: &Names, row: &mut ArchiveRow) {
        let owner = number(row, "owner_id").and_then(|id| names.people.get(&id));
        if self.by_administrator && owner != Some(&names.importer) {
            row.insert("active".to_owned(), Value::Bool(false));
        }
    }

    /// Whoever lets a job begin needs the approvals of the environment that it deploys to, and of no other one. A
    /// deployment that waits is over where its job does not begin, and where it is over, a job that begins later deploys
    /// anew. Nobody approves what they deploy themselves, so one whose job is for nobody waits for whoever plays that.
    fn fit_deployment(&self, names: &Names, row: &mut ArchiveRow) {
        let job = number(row, "job_id").and_then(|job| self.open_jobs.get(&job));
        let environment = number(row, "environment_id").and_then(|id| self.environments.get(&id));
        let is_there =
            |job: &OpenJob| environment.is_some() && job.environment.as_ref() == environment;
        let fits = job.is_none_or(is_there);
        let begins = fits && job.is_some_and(|job| job.waits);
        let status = row.get("status").and_then(Value::as_str).and_then(DeploymentStatus::find);
        let Some(status) = status else { return };
        let is_known = number(row, "user_id").is_some_and(|id| names.people.contains_key(&id));
        let has_user = is_known && job.is_some_and(|job| job.has_user);
        let new = match status {
            // Nobody goes on with it here.
            DeploymentStatus::Running => DeploymentStatus::Canceled,
            DeploymentStatus::Created | DeploymentStatus::Blocked if !begins => {
                DeploymentStatus::Canceled
            }
            DeploymentStatus::Blocked if !has_user => DeploymentStatus::Created,
            status => status,
        };
        if !fits || job.is_some() && new.is_finished() {
            row.insert("job_id".to_owned(), Value::Null);
        }
        row.insert("status".to_owned(), json!(new));
    }
}

fn number(row: &ArchiveRow, name: &str) -> Option<i64> {
    row.get(name).and_then(Value::as_i64)
}

/// The ids of a relation's rows in the archive and here.
fn pairs(names: &Names, relation: &str) -> Vec<(i64, i64)> {
    let own = names.rows.iter().filter(|((of, _), _)| *of == relation);
    own.map(|((_, source), target)| (*source, *target)).collect()
}

fn open_jobs(tx: &mut Tx<'_>, jobs: &[(i64, i64)]) -> Result<HashMap<i64, OpenJob>> {
    let ids: Vec<JobId> = jobs.iter().map(|(_, here)| JobId(*here)).collect();
    let found = tx.stage_jobs(&ids)?.into_iter().map(|found| found.job);
    let found = found.filter(|job| !job.status.is_finished());
    let open = |job: Job| {
        let (waits, has_user) = (!job.status.is_complete(), job.user_id.is_some());
        (job.id.0, OpenJob { waits, has_user, environment: job.environment })
    };
    let mut found: HashMap<i64, OpenJob> = found.map(open).collect();
    Ok(jobs.iter().filter_map(|(source, here)| Some((*source, found.remove(here)?))).collect())
}

fn environment_names(tx: &mut Tx<'_>, all: &[(i64, i64)]) -> Result<HashMap<i64, String>> {
    let ids: Vec<EnvironmentId> = all.iter().map(|(_, here)| EnvironmentId(*here)).collect();
    let found = tx.environments_by_id(&ids)?.into_iter();
    let mut found: HashMap<i64, String> = found.map(|one| (one.id.0, one.name)).collect();
    Ok(all.iter().filter_map(|(source, here)| Some((*source, found.remove(here)?))).collect())
}

/// A job that was skipped may begin once more, and another one takes the place of one that has ended.
fn ended_deployments(tx: &mut Tx<'_>, all: &[(i64, i64)]) -> Result<HashSet<i64>> {
    let ids: Vec<DeploymentId> = all.iter().map(|(_, here)| DeploymentId(*here)).collect();
    let found = tx.deployments_by_id(&ids)?;
    let jobs: Vec<JobId> = found.values().filter_map(|one| one.job_id).collect();
    let jobs = tx.stage_jobs(&jobs)?.into_iter().map(|found| found.job);
    let open: HashSet<JobId> =
        jobs.filter(|job| !job.status.is_finished()).map(|job| job.id).collect();
    let source = |(source, here): &(i64, i64)| {
        let deployment = found.get(&DeploymentId(*here))?;
        let is_open = deployment.job_id.is_some_and(|job| open.contains(&job));
        (!is_open).then_some(*source)
    };
    Ok(all.iter().filter_map(source).collect())
}

/// Gives a vulnerability the identity that its finding has here, and takes away what is said of a pipeline that is gone.
fn identify(context: &Context, names: &Names, row: &mut ArchiveRow) {
    let (source, copy) = (ProjectId(context.source_home), ProjectId(context.home));
    let uuid = uuid_of_copy(row, source, copy);
    row.insert("uuid".to_owned(), json!(uuid));
    let pipeline = number(row, "pipeline_id").unwrap_or_default();
    if !names.rows.contains_key(&("pipelines", pipeline)) {
        row.insert("pipeline_id".to_owned(), json!(0));
    }
}

/// Forks are not in an archive: what came from one says so before it is decided whether it can be merged.
fn forget_fork(names: &Names, row: &mut ArchiveRow) {
    let source = number(row, "source_project_id").unwrap_or_default();
    if !names.rows.contains_key(&("projects", source)) {
        row.insert("source_project_id".to_owned(), Value::Null);
    }
}

/// Gives a thread of notes the name that it has here: threads are found by it alone, and the one of the archive may be here
/// as well.
fn rename_discussion(context: &Context, row: &mut ArchiveRow) {
    if let Some(Value::String(name)) = row.get_mut("discussion") {
        *name = context.import.discussion(name);
    }
}

/// Names the file of a picture as it is called here; false where the archive does not have it.
fn find_file(context: &Context, row: &mut ArchiveRow) -> bool {
    let secret = row.get("secret").and_then(Value::as_str).unwrap_or_default();
    let Some(upload) = context.uploads.get(secret) else { return false };
    let Some(bytes) = upload.bytes else { return false };
    let secret = context.import.upload_secret(secret);
    row.insert("secret".to_owned(), json!(secret));
    row.insert("filename".to_owned(), json!(upload.name));
    row.insert("bytes".to_owned(), json!(bytes));
    true
}
