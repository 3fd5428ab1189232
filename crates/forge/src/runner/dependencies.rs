//! The jobs whose artifacts a job downloads before it starts.

use std::collections::HashMap;

use ci::{
    artifact::{Artifact, ArtifactKind, ArtifactStore as _},
    job::{Job, JobStore as _},
    pipeline::actions::is_shown,
    policy::ReadPipelines,
};
use db::Tx;
use kernel::{Ability as _, Error, Result, ids::JobId};
use org::access::IdOrPath;

use super::artifacts::archive;
use crate::{job_token::person_for_job, pipeline::JobSource, ports::ci::Projects};

/// A job whose artifacts are fetched.
#[derive(Clone, Debug)]
pub struct Dependency {
    pub job: JobId,
    pub name: String,
    pub filename: String,
    pub size: i64,
}

/// The jobs whose artifacts a job fetches. `None` where one that it names has lost its artifacts, or is not there.
pub(super) fn dependencies(tx: &mut Tx<'_>, source: &JobSource) -> Result<Option<Vec<Dependency>>> {
    let upstream = &source.upstream;
    if upstream.is_incomplete {
        return Ok(None);
    }
    let all = tx.artifacts_of(&upstream.ids())?;
    let is_archive = |one: &Artifact| one.file_type == ArtifactKind::Archive;
    let archives: HashMap<JobId, Artifact> =
        all.into_iter().filter(is_archive).map(|one| (one.job_id, one)).collect();
    // What was erased or has expired cannot be fetched, and whoever names or needs it counts on it.
    let names_them = source.spec.options.dependencies.is_some() || source.spec.needs.is_some();
    let lost = |job: &Job| {
        let expired = archives.get(&job.id).is_some_and(|archive| !archive.is_there(tx.now));
        names_them && (expired || job.erased_at.is_some())
    };
    if upstream.jobs.iter().any(lost) {
        return Ok(None);
    }
    let found = upstream.jobs.iter().filter_map(|job| {
        let archive = archives.get(&job.id).filter(|archive| archive.is_there(tx.now))?;
        let (name, filename) = (job.name.clone(), archive.filename.clone());
        Some(Dependency { job: job.id, name, filename, size: archive.size })
    });
    Ok(Some(found.collect()))
}

/// The archive of a job, for a job that runs: of its own pipeline, or where whoever began it may read it, in another project
/// as far as that one lets the job in.
///
/// # Errors
/// `NotFound` where there is none, `Forbidden` where it is not for them.
pub fn archive_for_job(tx: &mut Tx<'_>, own: &Job, id: JobId) -> Result<Artifact> {
    let job = tx.find_any_job(id)?.ok_or_else(Error::hidden)?;
    if job.pipeline_id == own.pipeline_id {
        return archive(tx, None, &job);
    }
    let person = person_for_job(tx, own, &IdOrPath::Id(job.project_id.0))?;
    let person =
        person.filter(|person| ReadPipelines::allows(&person.who)).ok_or_else(Error::hidden)?;
    match is_shown(tx, &Projects, &person.who, job.project_id)? {
        true => archive(tx, Some(&person.who), &job),
        false => Err(Error::hidden()),
    }
}
