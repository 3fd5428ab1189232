//! A job of a pipeline, or a trigger job.

use std::sync::Arc;

use ci::{
    artifact::{Artifact, ArtifactKind},
    config::{When, options::Environment},
    job::{Job, JobKind, StageJob},
    policy::{ReadJobs, ReadPipelines},
};
use forge::runner::artifacts::lets_in;
use graphql::{Connection, Failure, Registry, Value, number_of};
use kernel::{
    TextEnum as _,
    ids::{JobId, RunnerId},
};

use super::{
    enum_names::name_of,
    loaders::CiLoaders,
    located_project::LocatedProject,
    pipeline::{self, short_sha},
    stage::stage_of,
    status::{self, JobView},
};
use crate::{
    context::Context,
    failure::failure_of,
    runners,
    values::{maybe_time, time},
};

/// A job in a project whose pipelines the caller may see.
#[derive(Debug)]
pub struct JobRecord {
    pub home: Arc<LocatedProject>,
    pub row: Arc<StageJob>,
}

pub fn job(home: Arc<LocatedProject>, row: Arc<StageJob>) -> Value {
    Value::object("CiJob", Arc::new(JobRecord { home, row }))
}

/// A job by its id; null where the caller may not see it.
///
/// # Errors
/// When the database failed.
pub async fn job_of_id(context: &Context, id: JobId) -> Result<Value, Failure> {
    let loaders = CiLoaders::of(context);
    let Some(row) = loaders.jobs.load(id).await? else { return Ok(Value::Null) };
    let home = loaders.shown_homes.load(row.job.project_id).await?;
    Ok(home.map_or(Value::Null, |home| job(home, row)))
}

/// Jobs by their rows, in their order; those that the caller may not see are null.
pub async fn jobs_of_rows(context: &Context, jobs: &[Job]) -> Result<Vec<Value>, Failure> {
    let found = jobs.iter().map(|one| job_of_id(context, one.id));
    crate::join::try_join_all(found).await
}

/// The number in the id of a job, which may be a global one.
pub(super) fn job_number(id: &str) -> Result<i64, Failure> {
    match id.parse() {
        Ok(number) => Ok(number),
        Err(_) => {
            number_of(id, &["CommitStatus", "Ci::Build", "Ci::Bridge", "GenericCommitStatus"])
        }
    }
}

/// The class of a job in global ids.
fn class(job: &Job) -> &'static str {
    match job.kind {
        JobKind::Build => "Ci::Build",
        JobKind::Bridge => "Ci::Bridge",
        JobKind::External => "GenericCommitStatus",
    }
}

type Record = Arc<JobRecord>;

impl JobRecord {
    fn job(&self) -> &Job {
        &self.row.job
    }

    fn page(&self, context: &Context) -> String {
        self.home.page(context, &format!("-/jobs/{}", self.job().id))
    }

    async fn may_change(&self, context: &Context) -> Result<bool, Failure> {
        Ok(CiLoaders::of(context).changeable.load(self.job().id).await?.is_some())
    }

    /// The newest jobs of the pipeline.
    async fn siblings(&self, context: &Context) -> Result<Vec<Arc<StageJob>>, Failure> {
        let all = CiLoaders::of(context).jobs_of_pipeline.load(self.job().pipeline_id).await?;
        let all = all.unwrap_or_default();
        Ok(all.iter().filter(|one| !one.job.retried).cloned().collect())
    }
}

pub(super) fn register(registry: &mut Registry<Context>) {
    register_record(registry);
    register_state(registry);
    register_relations(registry);
}

fn register_record(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<JobRecord>("CiJob")
        .plain("active", |record| record.job().status.is_active().into())
        .plain("allowFailure", |record| record.job().allow_failure.into())
        .plain("cancelable", |record| record.job().status.is_cancelable().into())
        .plain("coverage", |record| record.job().coverage.into())
        .plain("createdAt", |record| time(record.job().created_at))
        .plain("createdByTag", |record| record.job().tag.into())
        .plain("finishedAt", |record| maybe_time(record.job().finished_at))
        .plain("id", |record| Value::gid(class(record.job()), record.job().id))
        .plain("kind", |record| match record.job().kind {
            JobKind::Bridge => "BRIDGE".into(),
            JobKind::Build | JobKind::External => "BUILD".into(),
        })
        .plain("manualJob", |record| (record.job().run_when == When::Manual).into())
        .plain("name", |record| record.job().name.as_str().into())
        .plain("queuedAt", |record| maybe_time(record.job().queued_at))
        .plain("refName", |record| record.job().ref_name.as_str().into())
        .plain("retried", |record| record.job().retried.into())
        .plain("retryable", |record| record.job().is_retryable().into())
        .plain("scheduledAt", |record| maybe_time(record.job().scheduled_at))
        .plain("schedulingType", |record| {
            if record.row.needs.is_some() { "dag".into() } else { "stage".into() }
        })
        .plain("shortSha", |record| short_sha(&record.job().sha).into())
        .plain("startedAt", |record| maybe_time(record.job().started_at))
        .plain("status", |record| name_of(record.job().status));
}

fn register_state(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<JobRecord>("CiJob")
        .lookup("duration", |record: Record, _, context| async move {
            let seconds = record.job().duration(context.forge.db.clock().now());
            Ok(seconds.map(whole_seconds).into())
        })
        .lookup("queuedDuration", |record: Record, _, context| async move {
            Ok(record.job().queued_duration(context.forge.db.clock().now()).into())
        })
        .lookup("commitPath", |record: Record, _, context| async move {
            Ok(record.home.page(&context, &format!("-/commit/{}", record.job().sha)).into())
        })
        .lookup("refPath", |record: Record, _, context| async move {
            Ok(record.home.page(&context, &format!("-/commits/{}", record.job().ref_name)).into())
        })
        .lookup(
            "webPath",
            |record: Record, _, context| async move { Ok(record.page(&context).into()) },
        )
        .lookup("artifacts", |record: Record, arguments, context| async move {
            let all = artifact_values(&context, &record.home, record.job()).await?;
            Ok(Connection::of_list(&arguments.page()?, all).into())
        })
        .lookup("browseArtifactsPath", |record: Record, _, context| async move {
            let loaded = CiLoaders::of(&context).artifacts.load(record.job().id).await?;
            let files = loaded.unwrap_or_default();
            let archive = files.iter().find(|file| file.file_type == ArtifactKind::Archive);
            let page = || format!("{}/artifacts/browse", record.page(&context));
            Ok(archive.map(|_| page()).into())
        })
        .lookup("playable", |record: Record, _, context| async move {
            let loaders = CiLoaders::of(&context);
            let playable = record.job().is_playable();
            let waits = playable
                && record.job().environment.is_some()
                && loaders.blocked.load(record.job().id).await?.is_some();
            Ok((playable && !waits).into())
        })
        .lookup("stuck", |record: Record, _, context| async move {
            Ok(CiLoaders::of(&context).stuck.load(record.job().id).await?.is_some().into())
        })
        .lookup("tags", |record: Record, _, context| async move {
            let Some(spec) = record.job().spec_id else { return Ok(Value::List(Vec::new())) };
            Ok(CiLoaders::of(&context).tags.load(spec).await?.unwrap_or_default().into())
        })
        .lookup("triggered", |record: Record, _, context| async move {
            let found = CiLoaders::of(&context).pipelines.load(record.job().pipeline_id).await?;
            Ok(found.map(|pipeline| pipeline.trigger_id.is_some()).into())
        })
        .lookup("detailedStatus", |record: Record, _, context| async move {
            status_of(&context, &record.home, record.job()).await
        });
}

fn register_relations(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<JobRecord>("CiJob")
        .lookup("downstreamPipeline", |record: Record, _, context| async move {
            if record.job().kind != JobKind::Bridge {
                return Ok(Value::Null);
            }
            match CiLoaders::of(&context).downstream.load(record.job().id).await? {
                Some(row) => pipeline::shown(&context, row).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("pipeline", |record: Record, _, context| async move {
            let found = CiLoaders::of(&context).pipelines.load(record.job().pipeline_id).await?;
            Ok(found.map_or(Value::Null, |row| pipeline::pipeline(record.home.clone(), row)))
        })
        .lookup("stage", |record: Record, _, context| async move {
            let siblings = record.siblings(&context).await?;
            Ok(stage_of(record.home.clone(), &record.row, siblings))
        })
        .lookup("needs", |record: Record, arguments, _| async move {
            let names = record.row.needed_names().map_err(failure_of)?;
            let needs = needs(&record, names.unwrap_or_default());
            Ok(Connection::of_list(&arguments.page()?, needs).into())
        })
        .lookup("previousStageJobsOrNeeds", |record: Record, arguments, context| async move {
            let page = arguments.page()?;
            if let Some(names) = record.row.needed_names().map_err(failure_of)? {
                return Ok(Connection::of_list(&page, needs(&record, names)).into());
            }
            let siblings = record.siblings(&context).await?;
            let before = siblings.iter().map(|one| one.stage_position);
            let before = before.filter(|place| *place < record.row.stage_position).max();
            let jobs = siblings.iter().filter(|one| Some(one.stage_position) == before);
            let jobs = jobs.map(|one| job(record.home.clone(), one.clone())).collect();
            Ok(Connection::of_list(&page, jobs).into())
        })
        .lookup("manualVariables", |record: Record, arguments, context| async move {
            let values = manual_variables(&record, &context).await?;
            Ok(Connection::of_list(&arguments.page()?, values).into())
        })
        .lookup("runner", |record: Record, _, context| async move {
            match record.job().runner_id {
                Some(id) => runners::of_id(&context, RunnerId(id)).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("userPermissions", |record: Record, _, context| async move {
            permissions(&record, &context).await
        });
}

fn whole_seconds(seconds: f64) -> i64 {
    let whole = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default().as_secs();
    i64::try_from(whole).unwrap_or(i64::MAX)
}

fn needs(record: &JobRecord, names: Vec<String>) -> Vec<Value> {
    let need = |name: String| {
        let id = format!("{}-{name}", record.job().id);
        Value::fields(
            "CiBuildNeed",
            [("id", Value::gid("Ci::BuildNeed", id)), ("name", name.into())],
        )
    };
    names.into_iter().map(need).collect()
}

/// The status of a job, with what the caller can do about it.
pub(super) async fn status_of(
    context: &Context,
    home: &Arc<LocatedProject>,
    job: &Job,
) -> Result<Value, Failure> {
    let loaders = CiLoaders::of(context);
    let may_change = loaders.changeable.load(job.id).await?.is_some();
    let spec = match job.spec_id.filter(|_| job.environment.is_some()) {
        Some(spec) => loaders.specs.load(spec).await?,
        None => None,
    };
    let environment: Option<&Environment> =
        spec.as_ref().and_then(|spec| spec.options.environment.as_ref());
    let stops = environment.is_some_and(|one| one.action.as_deref() == Some("stop"));
    let page = home.page(context, &format!("-/jobs/{}", job.id));
    Ok(status::of_job(&JobView { job, page, may_change, stops }))
}

/// The files of a job, the log at the end.
pub(super) async fn artifact_values(
    context: &Context,
    home: &Arc<LocatedProject>,
    job: &Job,
) -> Result<Vec<Value>, Failure> {
    let loaders = CiLoaders::of(context);
    let files = loaders.artifacts.load(job.id).await?.unwrap_or_default();
    let page = home.page(context, &format!("-/jobs/{}", job.id));
    let mut values: Vec<Value> = files.iter().map(|file| artifact(file, &page)).collect();
    let log = loaders.logs.load(job.id).await?.and_then(|log| log.size);
    if let Some(size) = log.filter(|size| *size > 0) {
        values.push(Value::fields(
            "CiJobArtifact",
            [
                ("downloadPath", format!("{page}/raw").into()),
                ("expireAt", Value::Null),
                ("fileType", "TRACE".into()),
                ("id", Value::gid("Ci::JobArtifact", format!("log-{}", job.id))),
                ("name", "job.log".into()),
                ("size", size.into()),
            ],
        ));
    }
    Ok(values)
}

fn artifact(file: &Artifact, page: &str) -> Value {
    let kind = file.file_type.as_str();
    Value::fields(
        "CiJobArtifact",
        [
            ("downloadPath", format!("{page}/artifacts/download?file_type={kind}").into()),
            ("expireAt", maybe_time(file.expires_at)),
            ("fileType", name_of(file.file_type)),
            ("id", Value::gid("Ci::JobArtifact", file.id)),
            ("name", file.filename.as_str().into()),
            ("size", file.size.into()),
        ],
    )
}

/// For those alone who may change the job.
async fn manual_variables(record: &JobRecord, context: &Context) -> Result<Vec<Value>, Failure> {
    let waits_for_people = record.job().run_when == When::Manual;
    if !waits_for_people || !record.may_change(context).await? {
        return Ok(Vec::new());
    }
    let id = record.job().id;
    let all = CiLoaders::of(context).manual_variables.load(id).await?.unwrap_or_default();
    let value = |(key, value): &(String, String)| {
        Value::fields(
            "CiManualVariable",
            [
                ("environmentScope", Value::Null),
                ("id", Value::gid("Ci::JobVariable", format!("{id}-{key}"))),
                ("key", key.as_str().into()),
                ("raw", false.into()),
                ("value", value.as_str().into()),
                ("variableType", "ENV_VAR".into()),
            ],
        )
    };
    Ok(all.iter().map(value).collect())
}

async fn permissions(record: &JobRecord, context: &Context) -> Result<Value, Failure> {
    let update = record.may_change(context).await?;
    let read = record.home.may::<ReadJobs>() || record.home.may::<ReadPipelines>();
    let spec = match record.job().spec_id {
        Some(spec) => CiLoaders::of(context).specs.load(spec).await?,
        None => None,
    };
    let files = read && spec.is_none_or(|spec| lets_in(&record.home.who, &spec));
    Ok(Value::fields(
        "JobPermissions",
        [
            ("cancelBuild", update.into()),
            ("readBuild", read.into()),
            ("readJobArtifacts", files.into()),
            ("updateBuild", update.into()),
        ],
    ))
}
