//! Jobs whose logs and artifacts go into an archive or come out of one.

use std::{collections::HashMap, io, path::Path};

use admin::archive::{ArchiveIdStore as _, ArchiveImport};
use ci::{
    job::{Job, JobKind, JobListStore as _},
    job_files::{JobFileLimits, JobFileStore as _, JobFiles},
};
use db::Tx;
use kernel::{
    Result,
    ids::{JobId, ProjectId},
};

use super::{failure::ArchiveError, layout::MOST_JOB_FILES, rows::PAGE};
use crate::Forge;

/// The jobs of a project that have such files, page by page. Where these are too many or too large for an archive, those
/// of the oldest jobs are left out.
pub(super) struct JobPages {
    project: ProjectId,
    files: JobFiles,
    after: JobId,
}

impl JobPages {
    /// Those whose files have so many bytes at most.
    pub(super) async fn within(
        forge: &Forge,
        project: ProjectId,
        files: JobFiles,
        bytes: u64,
    ) -> Result<Self> {
        let limits = JobFileLimits { files: MOST_JOB_FILES, bytes };
        let first = move |tx: &mut Tx<'_>| tx.job_before_newest_files(project, files, limits);
        Ok(Self { project, files, after: forge.db.read(first).await? })
    }

    /// None at the end.
    pub(super) async fn next(&mut self, forge: &Forge) -> Result<Option<Vec<JobId>>> {
        let (project, files, after) = (self.project, self.files, self.after);
        let read = move |tx: &mut Tx<'_>| tx.jobs_with_files(project, files, after, PAGE);
        let jobs = forge.db.read(read).await?;
        let Some(last) = jobs.last() else { return Ok(None) };
        self.after = *last;
        Ok(Some(jobs))
    }
}

/// Jobs of an archive as they are here, by their ids in the archive: those that a runner has done, and no others.
pub(super) fn jobs_here(
    tx: &mut Tx<'_>,
    import: &ArchiveImport,
    sources: &[i64],
) -> Result<HashMap<i64, Job>> {
    let ids = tx.archive_ids(import.id, "jobs", sources)?;
    let targets: Vec<i64> = ids.values().copied().collect();
    let found = tx.jobs_by_id(&targets)?.into_iter().map(|job| (job.id.0, job));
    let found: HashMap<i64, Job> = found
        .filter(|(_, job)| Some(job.project_id) == import.project_id)
        .filter(|(_, job)| job.kind == JobKind::Build && job.status.is_complete())
        .collect();
    let here = |(source, target): (i64, i64)| Some((source, found.get(&target)?.clone()));
    Ok(ids.into_iter().filter_map(here).collect())
}

/// Bytes of a content in an unpacked archive.
pub(super) fn length_of(folder: &Path, path: &str) -> Result<u64, ArchiveError> {
    match std::fs::metadata(folder.join(path)) {
        Ok(about) => Ok(about.len()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            Err(ArchiveError::Flawed(format!("The archive lacks the content {path}.")))
        }
        Err(cause) => Err(cause.into()),
    }
}
