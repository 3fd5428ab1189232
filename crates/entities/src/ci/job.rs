//! Jobs and bridges, as lists and single calls show them.

use std::collections::HashMap;

use ci::{
    Status,
    artifact::{Artifact, ArtifactKind},
    job::Job,
    log::JobLog,
    pipeline::Pipeline,
};
use forge::{runner::artifacts::expires_at, urls::Urls};
use kernel::{
    Ts,
    access::ProjectFacts,
    ids::{JobId, JobSpecId, PipelineId, UserId},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::pipeline::PipelineEntity;
use crate::{
    deployments::shared_json::SharedJson, org::user::SingleUser, repo::commit::CommitEntity,
    runners::runner::RunnerEntity,
};

/// Fields that jobs and trigger jobs share.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobBasicEntity {
    pub id: i64,
    #[schema(value_type = String)]
    pub status: Status,
    pub stage: String,
    pub name: String,
    #[serde(rename = "ref")]
    pub ref_name: String,
    pub tag: bool,
    pub coverage: Option<f64>,
    pub allow_failure: bool,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = Option<String>)]
    pub started_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub finished_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub erased_at: Option<Ts>,
    /// Duration in seconds; for running jobs, up to now.
    pub duration: Option<f64>,
    pub queued_duration: Option<f64>,
    /// Null if the user has been deleted.
    #[schema(value_type = Option<SingleUser>)]
    pub user: Option<SharedJson>,
    #[schema(value_type = Option<CommitEntity>)]
    pub commit: Option<SharedJson>,
    #[schema(value_type = Option<PipelineEntity>)]
    pub pipeline: Option<SharedJson>,
    /// Present for failed jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    pub web_url: String,
    pub project: JobProjectEntity,
}

/// Project settings included in jobs.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct JobProjectEntity {
    pub ci_job_token_scope_enabled: bool,
}

/// A job assigned to a runner.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobEntity {
    #[serde(flatten)]
    pub basic: JobBasicEntity,
    /// Absent without an artifacts archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifacts_file: Option<ArtifactFileEntity>,
    pub artifacts: Vec<ArtifactEntity>,
    /// Null until it is assigned.
    #[schema(value_type = Option<RunnerEntity>)]
    pub runner: Option<SharedJson>,
    #[schema(value_type = Option<String>)]
    pub artifacts_expire_at: Option<Ts>,
    pub tag_list: Vec<String>,
}

/// A file produced by a job.
#[derive(Debug, Serialize, ToSchema)]
pub struct ArtifactEntity {
    pub file_type: String,
    pub size: i64,
    pub filename: String,
    pub file_format: Option<String>,
}

/// The archive of a job.
#[derive(Debug, Serialize, ToSchema)]
pub struct ArtifactFileEntity {
    pub filename: String,
    pub size: i64,
}

impl ArtifactEntity {
    fn new(artifact: &Artifact) -> Self {
        Self {
            file_type: artifact.file_type.to_string(),
            size: artifact.size,
            filename: artifact.filename.clone(),
            file_format: Some(artifact.file_format.to_string()),
        }
    }

    /// The log, where it is complete; a job that wrote nothing has none.
    fn of_log(log: &JobLog) -> Option<Self> {
        Some(Self {
            file_type: "trace".to_owned(),
            size: log.size.filter(|size| *size > 0)?,
            filename: "job.log".to_owned(),
            file_format: Some("raw".to_owned()),
        })
    }
}

/// A job that triggers a downstream pipeline.
#[derive(Debug, Serialize, ToSchema)]
pub struct BridgeEntity {
    #[serde(flatten)]
    pub basic: JobBasicEntity,
    /// Null until it is created.
    pub downstream_pipeline: Option<PipelineEntity>,
}

/// All that records of jobs tell beside the jobs themselves, loaded and written once for all of them.
#[derive(Debug, Default)]
pub struct JobContext {
    pub pipelines: HashMap<PipelineId, SharedJson>,
    pub people: HashMap<UserId, SharedJson>,
    pub commits: HashMap<String, SharedJson>,
    pub tags: HashMap<JobSpecId, Vec<String>>,
    /// Those that are still there.
    pub artifacts: HashMap<JobId, Vec<Artifact>>,
    pub logs: HashMap<JobId, JobLog>,
    pub runners: HashMap<i64, SharedJson>,
    /// By bridge, with the address of its project's page.
    pub downstream: HashMap<JobId, (Pipeline, String)>,
    pub token_scope: bool,
    pub now: Ts,
}

impl JobBasicEntity {
    pub fn new(urls: &Urls, project: &ProjectFacts, job: &Job, around: &JobContext) -> Self {
        let url = urls.at(&project.full_path);
        Self {
            id: job.id.0,
            status: job.status,
            stage: job.stage.clone(),
            name: job.name.clone(),
            ref_name: job.ref_name.clone(),
            tag: job.tag,
            coverage: job.coverage,
            allow_failure: job.allow_failure,
            created_at: job.created_at,
            started_at: job.started_at,
            finished_at: job.finished_at,
            erased_at: job.erased_at,
            duration: job.duration(around.now),
            queued_duration: job.queued_duration(around.now),
            user: job.user_id.and_then(|id| around.people.get(&id)).cloned(),
            commit: around.commits.get(&job.sha).cloned(),
            pipeline: around.pipelines.get(&job.pipeline_id).cloned(),
            failure_reason: job.failure_reason.clone().filter(|_| job.status == Status::Failed),
            web_url: format!("{url}/-/jobs/{}", job.id),
            project: JobProjectEntity { ci_job_token_scope_enabled: around.token_scope },
        }
    }
}

impl JobEntity {
    pub fn new(urls: &Urls, project: &ProjectFacts, job: &Job, around: &JobContext) -> Self {
        let own = around.artifacts.get(&job.id).map(Vec::as_slice).unwrap_or_default();
        let archive = own.iter().find(|one| one.file_type == ArtifactKind::Archive);
        let log = around.logs.get(&job.id).and_then(ArtifactEntity::of_log);
        Self {
            basic: JobBasicEntity::new(urls, project, job, around),
            artifacts_file: archive.map(|archive| ArtifactFileEntity {
                filename: archive.filename.clone(),
                size: archive.size,
            }),
            artifacts: own.iter().map(ArtifactEntity::new).chain(log).collect(),
            runner: job.runner_id.and_then(|id| around.runners.get(&id)).cloned(),
            artifacts_expire_at: expires_at(own),
            tag_list: job.spec_id.and_then(|id| around.tags.get(&id)).cloned().unwrap_or_default(),
        }
    }
}

impl BridgeEntity {
    pub fn new(urls: &Urls, project: &ProjectFacts, job: &Job, around: &JobContext) -> Self {
        let downstream = around.downstream.get(&job.id);
        Self {
            basic: JobBasicEntity::new(urls, project, job, around),
            downstream_pipeline: downstream
                .map(|(pipeline, url)| PipelineEntity::new(pipeline, url)),
        }
    }
}
