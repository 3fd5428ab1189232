//! Jobs.

use ci::{job::Job, pipeline::Pipeline};
use kernel::{Result, Ts};
use org::user::User;
use runners::runner::Runner;
use serde_json::{Value, json};

use super::{
    common::{ProjectContext, user_json, utc, utc_or_null, word},
    environment::JobSurroundings,
};

/// Related records of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobRecords<'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) user: Option<&'a User>,
    pub(crate) runner: Option<&'a Runner>,
    pub(crate) around: &'a JobSurroundings,
    pub(crate) now: Ts,
}

pub(crate) fn runner_json(runner: &Runner) -> Result<Value> {
    let tags: Value = serde_json::from_str(&runner.tags).map_err(kernel::Error::internal)?;
    Ok(json!({
        "id": runner.id,
        "description": runner.description,
        "runner_type": word(runner.runner_type),
        "active": runner.active,
        "is_shared": runner.runner_type == runners::runner::RunnerType::Instance,
        "tags": tags,
    }))
}

/// The log of a job that ended.
pub(crate) fn log(context: &ProjectContext, row: &Job) -> Value {
    let place = format!("api/v4/projects/{}/jobs/{}/trace", context.project.id, row.id);
    json!({
        "object_kind": "archive_trace",
        "trace_url": context.urls().at(&place),
        "build_id": row.id,
        "pipeline_id": row.pipeline_id,
        "project": context.project_json(),
    })
}

/// A job that moved; what its commit says is added when it was read.
pub(crate) fn job(context: &ProjectContext, row: &Job, beside: JobRecords<'_>) -> Result<Value> {
    let pipeline = beside.pipeline;
    let runner = beside.runner.map(runner_json).transpose()?;
    let reason = row.failure_reason.as_deref().unwrap_or("unknown_failure");
    Ok(json!({
        "object_kind": "build",
        "ref": row.ref_name,
        "tag": row.tag,
        "before_sha": pipeline.before_sha.clone().unwrap_or_else(|| "0".repeat(40)),
        "sha": row.sha,
        "retries_count": row.attempt,
        "build_id": row.id,
        "build_name": row.name,
        "build_stage": row.stage,
        "build_status": word(row.status),
        "build_created_at": utc(row.created_at),
        "build_started_at": utc_or_null(row.started_at),
        "build_finished_at": utc_or_null(row.finished_at),
        "build_duration": row.duration(beside.now),
        "build_queued_duration": row.queued_duration(beside.now),
        "build_allow_failure": row.allow_failure,
        "build_failure_reason": reason,
        "pipeline_id": row.pipeline_id,
        "runner": runner,
        "project_id": context.project.id,
        "project_name": context.project.full_name,
        "user": beside.user.map(|user| user_json(context.urls(), user)),
        "commit": {
            "id": pipeline.id,
            "name": pipeline.name,
            "sha": row.sha,
            "message": null,
            "author_name": null,
            "author_email": null,
            "author_url": null,
            "status": word(pipeline.status),
            "duration": pipeline.duration,
            "started_at": utc_or_null(pipeline.started_at),
            "finished_at": utc_or_null(pipeline.finished_at),
        },
        "repository": context.repository(),
        "project": context.project_json(),
        "environment": beside.around.environment(row),
    }))
}
