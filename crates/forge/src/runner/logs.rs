//! Writing of job logs from runners to disk.

use bytes::Bytes;
use ci::{
    job::Job,
    log::{AppendResult, LogKey, LogStore as _, Mask},
};
use kernel::{Error, Result, ids::JobId, task::spawn_blocking};
use org::settings::store::SettingsStore as _;

use super::artifacts::MEGABYTE;
use crate::Forge;

/// Every log may have so many bytes: what is set is told in megabytes.
const ALWAYS: u64 = MEGABYTE;

/// Whether a log of so many bytes is longer than logs may be.
pub(super) async fn is_too_long(forge: &Forge, length: u64) -> Result<bool> {
    if length <= ALWAYS {
        return Ok(false);
    }
    let most = forge.db.peek(|tx| Ok(tx.settings()?.plan_limits.ci_jobs_trace_size_limit)).await?;
    let most = u64::try_from(most).unwrap_or_default().saturating_mul(MEGABYTE);
    Ok(most > 0 && length > most)
}

/// For what the secrets of a log are sealed.
pub(super) fn hidden_place(job: JobId) -> String {
    format!("job-log/{job}")
}

/// Where the log of a job lies.
pub fn log_place(job: &Job) -> LogKey {
    LogKey { project: job.project_id, pipeline: job.pipeline_id, job: job.id }
}

/// Adds a piece that begins at `start`.
pub async fn append(forge: &Forge, job: &Job, start: u64, piece: Bytes) -> Result<AppendResult> {
    let id = job.id;
    ensure_open(forge, job).await?;
    let own = forge.clone();
    let done = spawn_blocking(move || own.logs.append(id, start, &piece));
    // Somebody has completed it meanwhile.
    let appended = done.await.map_err(Error::internal)??.ok_or_else(Error::forbidden)?;
    forge.followers.grew(id);
    Ok(appended)
}

/// After a restart it is read again what to hide.
async fn ensure_open(forge: &Forge, job: &Job) -> Result<()> {
    let (id, place) = (job.id, log_place(job));
    if forge.logs.is_open(id) {
        return Ok(());
    }
    let kept = forge.db.peek(move |tx| tx.find_log(id)).await?;
    let own = forge.clone();
    let done = spawn_blocking(move || {
        // Nothing is written of which it is not known what to hide: the job has ended, or its secrets were given up.
        let sealed = kept.and_then(|kept| kept.hidden).ok_or_else(Error::forbidden)?;
        let clear = own.vault.unseal(&hidden_place(id), &sealed).map_err(Error::internal)?;
        let hidden: Vec<String> = serde_json::from_str(clear.reveal()).map_err(Error::internal)?;
        own.logs.open(place, Mask::new(&hidden)?)
    });
    done.await.map_err(Error::internal)?
}

/// How long the log is by now.
pub async fn length(forge: &Forge, job: &Job) -> Result<u64> {
    ensure_open(forge, job).await?;
    Ok(forge.logs.length(job.id).unwrap_or_default())
}

/// Closes a log, all of which is on the disk from then on. With its length, and the coverage that it tells.
pub(super) async fn complete(
    forge: &Forge,
    job: &Job,
    pattern: Option<String>,
) -> Result<(u64, Option<f64>)> {
    let (own, place) = (forge.clone(), log_place(job));
    let done = spawn_blocking(move || {
        let length = own.logs.complete(place)?;
        let told = match pattern {
            Some(pattern) => ci::log::coverage(&own.logs.path(place), &pattern),
            None => Ok(None),
        };
        Ok::<_, Error>((length, told.map_err(Error::internal)?))
    });
    let completed = done.await.map_err(Error::internal)??;
    forge.followers.grew(job.id);
    Ok(completed)
}

/// Closes the log of a job that ended without its runner's word.
pub async fn close(forge: &Forge, job: &Job) -> Result<()> {
    if forge.logs.is_open(job.id) {
        let (id, (length, _)) = (job.id, complete(forge, job, None).await?);
        let size = i64::try_from(length).unwrap_or(i64::MAX);
        forge.db.write(move |tx| tx.complete_log(id, size)).await?;
    }
    Ok(())
}

/// Removes the log of a job.
pub async fn remove(forge: &Forge, place: LogKey) -> Result<()> {
    let own = forge.clone();
    spawn_blocking(move || own.logs.remove(place)).await.map_err(Error::internal)?
}
