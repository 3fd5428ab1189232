//! Removal of the files of jobs, after the rows that name them.

use ci::{
    Status,
    artifact::ArtifactStore as _,
    event::JobMove,
    job::{Job as CiJob, JobKind, JobStore as _},
    log::{LogKey, LogStore as _},
};
use db::Tx;
use kernel::{
    Error, Result,
    ids::{JobId, PipelineId, ProjectId},
    task::spawn_blocking,
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::pipeline_refs::drop_commit;
use crate::Forge;

/// Removes the files of a job, or of all jobs of a pipeline that is gone, and the ref that kept its commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RemoveJobFiles {
    project: ProjectId,
    pipeline: PipelineId,
    job: Option<JobId>,
}

impl Job for RemoveJobFiles {
    const KIND: &'static str = "job.remove_files";

    fn unique_key(&self) -> Option<String> {
        Some(match self.job {
            Some(job) => format!("{}:{job}", self.pipeline),
            None => format!("{}:all", self.pipeline),
        })
    }
}

/// In the transaction in which a job was erased.
pub(crate) fn erased(tx: &mut Tx<'_>, id: JobId) -> Result<()> {
    let job = tx.job(id)?;
    tx.delete_log(id)?;
    tx.delete_artifacts(id)?;
    let (project, pipeline) = (job.project_id, job.pipeline_id);
    tx.enqueue(&RemoveJobFiles { project, pipeline, job: Some(id) })
}

/// In the transaction in which a pipeline was removed.
pub(crate) fn pipeline_removed(
    tx: &mut Tx<'_>,
    project: ProjectId,
    pipeline: PipelineId,
) -> Result<()> {
    tx.enqueue(&RemoveJobFiles { project, pipeline, job: None })
}

/// In the transaction in which jobs ended: what was to be hidden in their logs need not be known any more.
pub(crate) fn forget_secrets(tx: &mut Tx<'_>, moves: &[JobMove]) -> Result<()> {
    let ended = |one: &&JobMove| {
        one.kind == JobKind::Build && matches!(one.status, Status::Canceled | Status::Failed)
    };
    let ended: Vec<JobId> = moves.iter().filter(ended).map(|one| one.job).collect();
    if ended.is_empty() { Ok(()) } else { tx.forget_hidden(&ended) }
}

pub(crate) async fn remove_job_files(forge: Forge, work: RemoveJobFiles) -> Result<()> {
    let RemoveJobFiles { project, pipeline, job } = work;
    let folder = format!("{project}/{pipeline}");
    let below = job.map_or(folder.clone(), |job| format!("{folder}/{job}"));
    forge.artifacts.remove_below(&below).await?;
    if job.is_none() {
        drop_commit(&forge, project, pipeline).await?;
    }
    let done = spawn_blocking(move || match job {
        Some(job) => forge.logs.remove(LogKey { project, pipeline, job }),
        None => forge.logs.remove_pipeline(project, pipeline),
    });
    done.await.map_err(Error::internal)?
}

/// Removes what an erased job left behind before whoever erased it is answered.
pub async fn run_now(forge: &Forge, job: &CiJob) -> Result<()> {
    let key = format!("{}:{}:{}", RemoveJobFiles::KIND, job.pipeline_id, job.id);
    forge.worker().run_now(vec![key]).await
}

/// Removes what the jobs of a project left behind that goes.
pub(crate) async fn remove_project(forge: &Forge, project: ProjectId) -> Result<()> {
    forge.artifacts.remove_below(&project.to_string()).await?;
    let own = forge.clone();
    spawn_blocking(move || own.logs.remove_project(project)).await.map_err(Error::internal)?
}
