//! Whose artifacts a job fetches before it begins.

use std::collections::{HashMap, HashSet};

use ci::{
    artifact::{Artifact, ArtifactKind, ArtifactStore as _},
    job::Job,
};
use db::Tx;
use kernel::{Result, ids::JobId};

use crate::pipeline::JobSource;

/// A job whose artifacts are fetched.
#[derive(Clone, Debug)]
pub struct Dependency {
    pub job: JobId,
    pub name: String,
    pub filename: String,
    pub size: i64,
}

/// The jobs whose artifacts a job fetches: those that it needs, or all of earlier stages, as far as it does not name some
/// of them. `None` where one that it names has lost its artifacts.
pub(super) fn dependencies(tx: &mut Tx<'_>, source: &JobSource) -> Result<Option<Vec<Dependency>>> {
    let options = &source.spec.options;
    let named: Option<HashSet<&str>> =
        options.dependencies.as_ref().map(|names| names.iter().map(String::as_str).collect());
    if named.as_ref().is_some_and(HashSet::is_empty) {
        return Ok(Some(Vec::new()));
    }
    let position = tx.stage_position(source.job.id)?;
    let jobs: Vec<Job> = match &source.spec.needs {
        Some(needs) => {
            let fetched = needs.iter().filter(|need| need.artifacts);
            let names: HashSet<&str> = fetched.map(|need| need.name.as_str()).collect();
            let all = tx.jobs_up_to(&source.job, position)?;
            all.into_iter().filter(|job| names.contains(job.name.as_str())).collect()
        }
        None => tx.jobs_up_to(&source.job, position - 1)?,
    };
    let wanted = |job: &Job| named.as_ref().is_none_or(|named| named.contains(job.name.as_str()));
    let jobs: Vec<Job> = jobs.into_iter().filter(wanted).collect();
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    let mut archives: HashMap<JobId, Artifact> = HashMap::new();
    let all = tx.artifacts_of(&ids)?;
    archives.extend(
        all.into_iter()
            .filter(|one| one.file_type == ArtifactKind::Archive)
            .map(|one| (one.job_id, one)),
    );
    // What was erased or has expired cannot be fetched, and whoever named it counts on it.
    let lost = |job: &Job| {
        let expired = archives.get(&job.id).is_some_and(|archive| !archive.is_there(tx.now));
        named.is_some() && (expired || job.erased_at.is_some())
    };
    if jobs.iter().any(lost) {
        return Ok(None);
    }
    let found = jobs.iter().filter_map(|job| {
        let archive = archives.get(&job.id).filter(|archive| archive.is_there(tx.now))?;
        let (name, filename) = (job.name.clone(), archive.filename.clone());
        Some(Dependency { job: job.id, name, filename, size: archive.size })
    });
    Ok(Some(found.collect()))
}
