//! What people do with jobs and schedules, with what follows at once.

use ci::{
    job::{Job, actions},
    pipeline::PipelineRef,
    policy::{CreatePipelines, UpdateJobs},
    schedule::{ScheduleStore as _, runs},
};
use kernel::{
    Error, Grant, Result,
    ids::{JobId, PipelineScheduleId},
};
use repo::git::{Reader, RefName};

use super::run_now;
use crate::{
    Forge,
    ports::ci::{Projects, Refs},
    settings::is_archived,
};

/// Does a job that has ended once more; the answer is the new one.
///
/// # Errors
/// `Forbidden` for who may not change the job, and for a job that is archived or cannot be done again.
pub async fn retry_job(forge: &Forge, grant: Grant<UpdateJobs>, id: JobId) -> Result<Job> {
    let retried = forge.db.write(move |tx| {
        if is_archived(tx, grant.project(), id)? {
            return Err(Error::forbidden().in_this_state("Job is not retryable"));
        }
        actions::retry(tx, &grant, &Refs, id)
    });
    let job = retried.await?;
    run_now(forge, job.pipeline_id).await;
    Ok(job)
}

/// Lets a job begin that waits for a person or a time, with variables beside those of its configuration.
///
/// # Errors
/// `Forbidden` for who may not change the job, `BadRequest` for a job that is archived or waits for nobody.
pub async fn play_job(
    forge: &Forge,
    grant: Grant<UpdateJobs>,
    id: JobId,
    variables: Vec<(String, String)>,
) -> Result<Job> {
    let vault = forge.vault.clone();
    let played = forge.db.write(move |tx| {
        if is_archived(tx, grant.project(), id)? {
            return Err(Error::bad_request().because("Unplayable Job"));
        }
        actions::play(tx, &grant, &Projects, &Refs, id, (&vault, &variables))
    });
    let job = played.await?;
    run_now(forge, job.pipeline_id).await;
    Ok(job)
}

/// Makes a pipeline by a schedule soon, whatever its time.
///
/// # Errors
/// `NotFound` for a schedule of another project, `Forbidden` for who may not make pipelines for its branch or tag.
pub async fn play_schedule(
    forge: &Forge,
    grant: Grant<CreatePipelines>,
    id: PipelineScheduleId,
) -> Result<()> {
    let project = grant.project();
    let schedule = forge.db.read(move |tx| tx.schedule(project, id)).await?;
    let named = schedule.ref_name;
    let place = forge.git_read(project, move |reader| place(reader, named)).await?;
    forge.db.write(move |tx| runs::play(tx, &grant, &Refs, id, &place)).await
}

/// The branch or tag with this name. A name of neither counts as a branch.
fn place(reader: &Reader, name: String) -> Result<PipelineRef> {
    let there = |found: repo::git::Result<RefName>| -> Result<bool> {
        match found {
            Ok(found) => Ok(reader.find_reference(&found)?.is_some()),
            Err(_no_name) => Ok(false),
        }
    };
    let tag = !there(RefName::branch(&name))? && there(RefName::tag(&name))?;
    Ok(PipelineRef { name, tag })
}
