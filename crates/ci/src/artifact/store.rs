//! Artifacts in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    listing::{list_of, rows},
    schema::{job_artifacts as artifacts, jobs},
};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{
    Result, Ts,
    ids::{JobId, PipelineId, ProjectId},
};

use super::{Artifact, ArtifactKind, NewArtifact};
use crate::{
    Status,
    job::{Job, JobKind},
    pipeline::Source,
};

const NOUN: &str = "Artifact";
/// Projects that one statement names.
const PROJECTS_AT_ONCE: usize = 10_000;

#[derive(QueryableByName)]
struct SizeRow {
    #[diesel(sql_type = BigInt)]
    project_id: i64,
    #[diesel(sql_type = BigInt)]
    size: i64,
}

pub trait ArtifactStore {
    fn artifacts_of(&mut self, jobs: &[JobId]) -> Result<Vec<Artifact>>;
    fn find_artifact(&mut self, job: JobId, kind: ArtifactKind) -> Result<Option<Artifact>>;
    /// Those of some kinds that the jobs of a pipeline brought, but for jobs whose place a newer one took.
    fn artifacts_of_kinds(
        &mut self,
        project: ProjectId,
        pipeline: PipelineId,
        kinds: &[ArtifactKind],
    ) -> Result<Vec<Artifact>>;
    /// How many bytes the artifacts of each of these projects have together.
    fn artifact_sizes(&mut self, projects: &[ProjectId]) -> Result<HashMap<ProjectId, i64>>;
    fn insert_artifact(&mut self, job: &Job, new: &NewArtifact) -> Result<Artifact>;
    /// Takes the artifacts of a job away; the answer is what they were.
    fn delete_artifacts(&mut self, job: JobId) -> Result<Vec<Artifact>>;
    /// From now on the artifacts of a job stay.
    fn keep_artifacts(&mut self, job: JobId) -> Result<usize>;
    /// All artifacts of a project go as soon as they can.
    fn expire_artifacts(&mut self, project: ProjectId) -> Result<()>;
    /// What has expired by now, so many at most, the longest first. The answer is what was taken away.
    fn delete_expired(&mut self, most: i64) -> Result<Vec<Artifact>>;
    /// The newest successful job of that name in the newest successful pipeline of a ref.
    fn newest_success(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        name: &str,
    ) -> Result<Option<Job>>;
    /// The newest job of that name in a pipeline, where it succeeded.
    fn successful_job(&mut self, pipeline: PipelineId, name: &str) -> Result<Option<Job>>;
    /// The newest job of that name in a pipeline that a runner does.
    fn newest_named_job(&mut self, pipeline: PipelineId, name: &str) -> Result<Option<Job>>;
    /// The newest of each name among the other jobs of a job's pipeline that runners do, in stages up to this one.
    fn jobs_up_to(&mut self, job: &Job, stage_position: i64) -> Result<Vec<Job>>;
    fn stage_position(&mut self, job: JobId) -> Result<i64>;
}

impl ArtifactStore for Tx<'_> {
    fn artifacts_of(&mut self, jobs: &[JobId]) -> Result<Vec<Artifact>> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        each_backend!(self, |conn| artifacts::table
            .filter(artifacts::job_id.one_of(jobs))
            .order(artifacts::id)
            .select(Artifact::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn find_artifact(&mut self, job: JobId, kind: ArtifactKind) -> Result<Option<Artifact>> {
        let of_job = artifacts::job_id.eq(job).and(artifacts::file_type.eq(kind));
        each_backend!(self, |conn| artifacts::table
            .filter(of_job)
            .select(Artifact::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn artifacts_of_kinds(
        &mut self,
        project: ProjectId,
        pipeline: PipelineId,
        kinds: &[ArtifactKind],
    ) -> Result<Vec<Artifact>> {
        let of_pipeline =
            artifacts::project_id.eq(project).and(artifacts::pipeline_id.eq(pipeline));
        each_backend!(self, |conn| artifacts::table
            .inner_join(jobs::table.on(jobs::id.eq(artifacts::job_id)))
            .filter(of_pipeline.and(artifacts::file_type.one_of(kinds)))
            .filter(jobs::retried.eq(false))
            .order(artifacts::id)
            .select(Artifact::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn artifact_sizes(&mut self, projects: &[ProjectId]) -> Result<HashMap<ProjectId, i64>> {
        let mut sizes = HashMap::new();
        for some in projects.chunks(PROJECTS_AT_ONCE) {
            let ids: Vec<i64> = some.iter().map(|id| id.0).collect();
            let sql = format!(
                "SELECT a.project_id AS project_id, CAST(SUM(a.size) AS BIGINT) AS size FROM job_artifacts a \
                 WHERE a.project_id IN ({}) GROUP BY a.project_id",
                list_of(&ids)
            );
            let rows: Vec<SizeRow> = rows(self, &sql, &[])?;
            sizes.extend(rows.into_iter().map(|row| (ProjectId(row.project_id), row.size)));
        }
        Ok(sizes)
    }

    fn insert_artifact(&mut self, job: &Job, new: &NewArtifact) -> Result<Artifact> {
        let row = (
            artifacts::job_id.eq(job.id),
            artifacts::project_id.eq(job.project_id),
            artifacts::pipeline_id.eq(job.pipeline_id),
            artifacts::file_type.eq(new.kind),
            artifacts::file_format.eq(new.kind.format()),
            artifacts::filename.eq(&new.filename),
            artifacts::size.eq(new.size),
            artifacts::sha256.eq(&new.sha256),
            artifacts::location.eq(&new.location),
            artifacts::expires_at.eq(new.expires_at),
            artifacts::locked.eq(false),
            artifacts::created_at.eq(self.now),
        );
        let insert = diesel::insert_into(artifacts::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Artifact::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn delete_artifacts(&mut self, job: JobId) -> Result<Vec<Artifact>> {
        let gone = self.artifacts_of(&[job])?;
        let rows = artifacts::table.filter(artifacts::job_id.eq(job));
        each_backend!(self, |conn| diesel::delete(rows).execute(conn).map_err(error(NOUN)))?;
        Ok(gone)
    }

    fn keep_artifacts(&mut self, job: JobId) -> Result<usize> {
        let rows = diesel::update(artifacts::table.filter(artifacts::job_id.eq(job)))
            .set(artifacts::expires_at.eq(None::<Ts>));
        each_backend!(self, |conn| rows.execute(conn).map_err(error(NOUN)))
    }

    fn expire_artifacts(&mut self, project: ProjectId) -> Result<()> {
        let rows = diesel::update(artifacts::table.filter(artifacts::project_id.eq(project)))
            .set(artifacts::expires_at.eq(Some(self.now)));
        each_backend!(self, |conn| rows.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn delete_expired(&mut self, most: i64) -> Result<Vec<Artifact>> {
        let now = self.now;
        let gone: Vec<Artifact> = each_backend!(self, |conn| artifacts::table
            .filter(artifacts::expires_at.le(now).and(artifacts::locked.eq(false)))
            .order(artifacts::expires_at)
            .limit(most)
            .select(Artifact::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        let ids: Vec<i64> = gone.iter().map(|one| one.id).collect();
        let rows = artifacts::table.filter(artifacts::id.eq_any(ids));
        each_backend!(self, |conn| diesel::delete(rows).execute(conn).map_err(error(NOUN)))?;
        Ok(gone)
    }

    fn newest_success(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        name: &str,
    ) -> Result<Option<Job>> {
        use db::schema::pipelines;
        let pipeline = pipelines::table
            .filter(pipelines::project_id.eq(project).and(pipelines::ref_name.eq(ref_name)))
            .filter(pipelines::status.eq(Status::Success))
            .filter(pipelines::source.ne(Source::ParentPipeline))
            .order(pipelines::id.desc())
            .select(pipelines::id);
        let pipeline: Option<PipelineId> =
            each_backend!(self, |conn| pipeline.first(conn).optional().map_err(error("Pipeline")))?;
        match pipeline {
            Some(pipeline) => self.successful_job(pipeline, name),
            None => Ok(None),
        }
    }

    fn successful_job(&mut self, pipeline: PipelineId, name: &str) -> Result<Option<Job>> {
        let newest = self.newest_named_job(pipeline, name)?;
        Ok(newest.filter(|job| job.status == Status::Success))
    }

    fn newest_named_job(&mut self, pipeline: PipelineId, name: &str) -> Result<Option<Job>> {
        let named = jobs::pipeline_id.eq(pipeline).and(jobs::name.eq(name));
        each_backend!(self, |conn| jobs::table
            .filter(named.and(jobs::kind.eq(JobKind::Build)).and(jobs::retried.eq(false)))
            .order(jobs::id.desc())
            .select(Job::as_select())
            .first(conn)
            .optional()
            .map_err(error("Job")))
    }

    fn jobs_up_to(&mut self, job: &Job, stage_position: i64) -> Result<Vec<Job>> {
        each_backend!(self, |conn| jobs::table
            .filter(jobs::pipeline_id.eq(job.pipeline_id).and(jobs::retried.eq(false)))
            .filter(jobs::kind.eq(JobKind::Build).and(jobs::id.ne(job.id)))
            .filter(jobs::stage_position.le(stage_position))
            .order((jobs::stage_position, jobs::id))
            .select(Job::as_select())
            .load(conn)
            .map_err(error("Job")))
    }

    fn stage_position(&mut self, job: JobId) -> Result<i64> {
        let query = jobs::table.find(job).select(jobs::stage_position);
        each_backend!(self, |conn| query.first(conn).map_err(error("Job")))
    }
}
