//! Logs and artifacts of a project's jobs, many at once, as archives of projects take and bring them.

use db::{
    Tx, each_backend, error,
    listing::{Bind, ids},
    schema::{job_artifacts as artifacts, job_logs as logs},
};
use diesel::prelude::*;
use kernel::{
    Result, TextEnum as _, Ts,
    ids::{JobId, PipelineId, ProjectId},
};

use crate::{Status, artifact::NewArtifact, log::JobLog};

/// Rows of one statement, below what both databases allow.
const AT_ONCE: usize = 100;

/// The kind of files that a job leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobFiles {
    /// Logs of jobs that have ended.
    Logs,
    Artifacts,
}

/// How many such files of a project are wanted, the newest.
#[derive(Clone, Copy, Debug)]
pub struct JobFileLimits {
    pub files: usize,
    /// Of all of them.
    pub bytes: u64,
}

/// An artifact of a job that comes from elsewhere, whose content is kept.
#[derive(Clone, Debug)]
pub struct ArtifactCopy {
    pub job_id: JobId,
    pub project_id: ProjectId,
    pub pipeline_id: PipelineId,
    pub artifact: NewArtifact,
    pub locked: bool,
    pub created_at: Ts,
}

pub trait JobFileStore {
    /// The next jobs of a project after one that have such files, so many at most, by their ids.
    fn jobs_with_files(
        &mut self,
        project: ProjectId,
        files: JobFiles,
        after: JobId,
        most: usize,
    ) -> Result<Vec<JobId>>;
    /// The job after which a project has no more such files than `limits` allow; no job's id where it has no more of
    /// them at all. A log of which nobody knows how long it is counts as an empty one.
    fn job_before_newest_files(
        &mut self,
        project: ProjectId,
        files: JobFiles,
        limits: JobFileLimits,
    ) -> Result<JobId>;
    /// Notes logs of jobs that have none.
    fn insert_logs(&mut self, all: &[JobLog]) -> Result<()>;
    /// Notes artifacts in this order.
    fn insert_artifact_copies(&mut self, all: &[ArtifactCopy]) -> Result<()>;
}

impl JobFiles {
    /// Whether a job `j` has some, in SQL.
    fn condition(self) -> String {
        match self {
            Self::Logs => {
                let ended = Status::ALL.iter().filter(|status| status.is_complete());
                let ended: Vec<String> = ended.map(|status| format!("'{status}'")).collect();
                format!(
                    "j.status IN ({}) AND EXISTS (SELECT 1 FROM job_logs l WHERE l.job_id = j.id)",
                    ended.join(", ")
                )
            }
            Self::Artifacts => {
                "EXISTS (SELECT 1 FROM job_artifacts a WHERE a.job_id = j.id)".to_owned()
            }
        }
    }
}

fn bind(count: usize) -> Bind {
    Bind::Number(i64::try_from(count).unwrap_or(i64::MAX))
}

impl JobFileStore for Tx<'_> {
    fn jobs_with_files(
        &mut self,
        project: ProjectId,
        files: JobFiles,
        after: JobId,
        most: usize,
    ) -> Result<Vec<JobId>> {
        let sql = format!(
            "SELECT j.id AS id FROM jobs j WHERE j.project_id = $1 AND j.kind = 'build' AND j.id > $2 AND {} \
             ORDER BY j.id LIMIT $3",
            files.condition()
        );
        let binds = [Bind::Number(project.0), Bind::Number(after.0), bind(most)];
        Ok(ids(self, &sql, &binds)?.into_iter().map(JobId).collect())
    }

    fn job_before_newest_files(
        &mut self,
        project: ProjectId,
        files: JobFiles,
        limits: JobFileLimits,
    ) -> Result<JobId> {
        let sizes = match files {
            JobFiles::Logs => format!(
                "SELECT j.id AS job_id, j.id AS id, COALESCE(own.size, 0) AS size FROM jobs j \
                 JOIN job_logs own ON own.job_id = j.id \
                 WHERE j.project_id = $1 AND j.kind = 'build' AND {}",
                files.condition()
            ),
            JobFiles::Artifacts => {
                "SELECT a.job_id AS job_id, a.id AS id, a.size AS size FROM job_artifacts a \
                                    WHERE a.project_id = $1"
                    .to_owned()
            }
        };
        let sql = format!(
            "SELECT summed.job_id AS id FROM (SELECT job_id, \
             ROW_NUMBER() OVER (ORDER BY job_id DESC, id DESC) AS place, \
             SUM(size) OVER (ORDER BY job_id DESC, id DESC) AS bytes FROM ({sizes}) AS sized) AS summed \
             WHERE summed.place > $2 OR summed.bytes > $3 ORDER BY summed.job_id DESC LIMIT 1"
        );
        let bytes = Bind::Number(i64::try_from(limits.bytes).unwrap_or(i64::MAX));
        let found = ids(self, &sql, &[Bind::Number(project.0), bind(limits.files), bytes])?;
        Ok(JobId(found.first().copied().unwrap_or_default()))
    }

    fn insert_logs(&mut self, all: &[JobLog]) -> Result<()> {
        for some in all.chunks(AT_ONCE) {
            let rows: Vec<_> = some
                .iter()
                .map(|log| {
                    (
                        logs::job_id.eq(log.job_id),
                        logs::size.eq(log.size),
                        logs::restricted.eq(log.restricted),
                        logs::hidden.eq(log.hidden.as_deref()),
                    )
                })
                .collect();
            each_backend!(self, |conn| diesel::insert_into(logs::table)
                .values(&rows)
                .execute(conn)
                .map_err(error("Log")))?;
        }
        Ok(())
    }

    fn insert_artifact_copies(&mut self, all: &[ArtifactCopy]) -> Result<()> {
        for some in all.chunks(AT_ONCE) {
            let rows: Vec<_> = some
                .iter()
                .map(|one| {
                    (
                        artifacts::job_id.eq(one.job_id),
                        artifacts::project_id.eq(one.project_id),
                        artifacts::pipeline_id.eq(one.pipeline_id),
                        artifacts::file_type.eq(one.artifact.kind),
                        artifacts::file_format.eq(one.artifact.kind.format()),
                        artifacts::filename.eq(&one.artifact.filename),
                        artifacts::size.eq(one.artifact.size),
                        artifacts::sha256.eq(&one.artifact.sha256),
                        artifacts::location.eq(&one.artifact.location),
                        artifacts::expires_at.eq(one.artifact.expires_at),
                        artifacts::locked.eq(one.locked),
                        artifacts::created_at.eq(one.created_at),
                    )
                })
                .collect();
            each_backend!(self, |conn| diesel::insert_into(artifacts::table)
                .values(&rows)
                .execute(conn)
                .map_err(error("Artifact")))?;
        }
        Ok(())
    }
}
