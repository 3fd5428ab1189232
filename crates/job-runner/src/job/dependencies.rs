//! Fetches what other jobs have left behind, before the commands of a job run.

use anyhow::anyhow;

use super::{Failure, Job};
use crate::{
    api::{Download, JobCall, payload::Dependency},
    files::archive::{LARGEST_UNPACKED, unpack},
    trace::{NOTICE, WARNING},
};

const ATTEMPTS: u32 = 3;

pub(super) fn dependencies_to_fetch(job: &Job) -> impl Iterator<Item = &Dependency> {
    job.payload.dependencies.iter().filter(|dependency| {
        dependency.artifacts_file.as_ref().is_some_and(|file| !file.filename.is_empty())
    })
}

/// Fetches and unpacks all of them, in order.
pub(super) fn download(job: &Job) -> Result<(), Failure> {
    for dependency in dependencies_to_fetch(job) {
        let (id, name) = (dependency.id, &dependency.name);
        job.trace.styled(NOTICE, &format!("Downloading artifacts for {name} ({id})..."));
        let mut file = tempfile::tempfile()?;
        let size = fetch(job, dependency, &mut file)?;
        let count = unpack(file, job.layout.target())
            .map_err(|error| Failure::Result(format!("artifacts of {name}: {error:#}")))?;
        job.trace.line(&format!("Unpacked {count} files from {size} bytes"));
    }
    Ok(())
}

fn fetch(job: &Job, dependency: &Dependency, file: &mut std::fs::File) -> Result<u64, Failure> {
    let call = JobCall { client: &job.client, id: dependency.id, token: &dependency.token };
    let asked = job.variables.number("ARTIFACT_DOWNLOAD_ATTEMPTS").unwrap_or(ATTEMPTS);
    let (most, mut wait) = (asked.clamp(1, 10), job.retry);
    for attempt in 1.. {
        job.ensure_wanted()?;
        let message = match call.download(file, LARGEST_UNPACKED) {
            Ok(Download::Done(size)) => return Ok(size),
            Ok(Download::Refused(message)) => {
                return Err(Failure::System(anyhow!(
                    "artifacts of {}: {message}",
                    dependency.name
                )));
            }
            Ok(Download::Unwell(message)) => message,
            Err(error) => format!("{error:#}"),
        };
        if attempt >= most {
            return Err(Failure::System(anyhow!("artifacts of {}: {message}", dependency.name)));
        }
        job.trace.styled(WARNING, &format!("Downloading artifacts failed, retrying: {message}"));
        job.control.pause(wait);
        wait *= 2;
    }
    Ok(0)
}
