//! Pipelines.

use std::collections::HashMap;

use ci::{
    job::{Job, JobFilter, JobKind, JobListStore as _, StageJobStore as _},
    pipeline::{Pipeline, PipelineVariableStore as _},
};
use db::Tx;
use kernel::{
    Result,
    ids::{RunnerId, UserId},
    page::PageRequest,
};
use review::merge_request::MergeRequestStore as _;
use runners::runner::{Runner, RunnerStore as _};
use secrets::Vault;
use serde_json::{Value, json};

use super::{
    common::{People, ProjectContext, user_json, utc, utc_or_null, word},
    environment::JobSurroundings,
    job::runner_json,
    merge_request::MergeRequestPart,
};

/// Jobs that a payload names: more than pipelines have, and about as many as the largest body has room for. A statement of
/// SQLite takes 32,766 ids of jobs.
const MOST_JOBS: i64 = 30_000;

/// A pipeline; its commit is added when it was read.
pub(crate) fn pipeline(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    vault: &Vault,
    row: &Pipeline,
) -> Result<Value> {
    let jobs = latest_jobs(tx, row)?;
    let mut ids: Vec<UserId> = jobs.iter().filter_map(|job| job.user_id).collect();
    ids.extend(row.user_id);
    let people = People::load(tx, &ids)?;
    let runners: Vec<RunnerId> =
        jobs.iter().filter_map(|job| job.runner_id).map(RunnerId).collect();
    let runners = tx.runners_by_id(&runners)?;
    let runners: HashMap<i64, &Runner> = runners.iter().map(|one| (one.id.0, one)).collect();
    let (now, around) = (tx.now, JobSurroundings::load(tx, &jobs)?);
    let builds = jobs.iter().map(|job| {
        let user = job.user_id.and_then(|id| people.get(id));
        let runner = job.runner_id.and_then(|id| runners.get(&id).copied());
        build(context, (job, &around), user, (runner, now))
    });
    let builds = builds.collect::<Result<Vec<_>>>()?;
    let mut payload = json!({
        "object_kind": "pipeline",
        "object_attributes": {
            "id": row.id,
            "iid": row.iid,
            "name": row.name,
            "ref": row.ref_name,
            "tag": row.tag,
            "sha": row.sha,
            "before_sha": row.before_sha.clone().unwrap_or_else(|| "0".repeat(40)),
            "source": word(row.source),
            "status": word(row.status),
            "detailed_status": detailed(row),
            "stages": tx.stage_names(row.id)?,
            "created_at": utc(row.created_at),
            "finished_at": utc_or_null(row.finished_at),
            "duration": row.duration,
            "queued_duration": row.queued_duration(),
            "variables": variables(tx, vault, row)?,
            "url": context.at(&format!("pipelines/{}", row.id)),
        },
        "merge_request": merge_request(tx, context, row)?,
        "user": people.json(context.urls(), row.user_id),
        "project": context.project_json(),
        "commit": null,
    });
    if let Some(source) = source(tx, context, row)? {
        payload["source_pipeline"] = source;
    }
    payload["builds"] = json!(builds);
    Ok(payload)
}

fn latest_jobs(tx: &mut Tx<'_>, row: &Pipeline) -> Result<Vec<Job>> {
    let filter = JobFilter {
        kind: JobKind::Build,
        statuses: Vec::new(),
        retried: false,
        before: None,
        after: None,
        oldest_first: false,
    };
    let page = PageRequest { page: 1, per_page: MOST_JOBS };
    let mut jobs = tx.pipeline_jobs(row.id, &filter, page)?.items;
    jobs.reverse();
    Ok(jobs)
}

fn detailed(row: &Pipeline) -> &'static str {
    match word(row.status) {
        "success" if row.warnings => "passed with warnings",
        "success" => "passed",
        "waiting_for_resource" => "waiting",
        "manual" => "blocked",
        "canceled" => "canceled",
        status => status,
    }
}

fn variables(tx: &mut Tx<'_>, vault: &Vault, row: &Pipeline) -> Result<Vec<Value>> {
    let all = tx.pipeline_variables(vault, row.id)?;
    Ok(all.iter().map(|one| json!({ "key": one.key, "value": one.value })).collect())
}

fn merge_request(tx: &mut Tx<'_>, context: &ProjectContext, row: &Pipeline) -> Result<Value> {
    let Some(id) = row.merge_request_id else { return Ok(Value::Null) };
    let Some(found) = tx.merge_requests_in_order(&[id.0])?.pop() else { return Ok(Value::Null) };
    Ok(MergeRequestPart::load(tx, context, found)?.brief(context))
}

/// The pipeline that made this one.
fn source(tx: &mut Tx<'_>, context: &ProjectContext, row: &Pipeline) -> Result<Option<Value>> {
    let Some(parent) = row.parent_job_id else { return Ok(None) };
    let Some(job) = tx.jobs_by_id(&[parent.0])?.pop() else { return Ok(None) };
    let Some(from) = ProjectContext::load(tx, context.urls(), job.project_id)? else {
        return Ok(None);
    };
    Ok(Some(json!({
        "project": {
            "id": from.project.id,
            "web_url": from.url(),
            "path_with_namespace": from.project.full_path,
        },
        "job_id": job.id,
        "pipeline_id": job.pipeline_id,
    })))
}

fn build(
    context: &ProjectContext,
    (job, around): (&Job, &JobSurroundings),
    user: Option<&org::user::User>,
    (runner, now): (Option<&Runner>, kernel::Ts),
) -> Result<Value> {
    let runner = runner.map(runner_json).transpose()?;
    let mut all = json!({
        "id": job.id,
        "stage": job.stage,
        "name": job.name,
        "status": word(job.status),
        "created_at": utc(job.created_at),
        "started_at": utc_or_null(job.started_at),
        "finished_at": utc_or_null(job.finished_at),
        "duration": job.duration(now),
        "queued_duration": job.queued_duration(now),
    });
    if word(job.status) == "failed" {
        all["failure_reason"] = json!(job.failure_reason.as_deref().unwrap_or("unknown_failure"));
    }
    let more = json!({
        "when": job.run_when,
        "manual": job.is_action(),
        "allow_failure": job.allow_failure,
        "user": user.map(|user| user_json(context.urls(), user)),
        "runner": runner,
        "artifacts_file": around.archive(job),
        "environment": around.environment_with_tier(job),
    });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    Ok(all)
}
