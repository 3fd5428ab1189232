//! A pipeline.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use ci::{
    Status,
    artifact::Artifact,
    job::{JobKind, StageJob},
    pipeline::Pipeline,
    policy::{DeleteArtifacts, DeletePipelines},
};
use db::keyset::RowPosition;
use entities::ci::pipeline::DetailedStatusEntity;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{
    Ts,
    ids::{JobId, PipelineId, UserId},
};

use super::{
    enum_names::{name_of, values_of},
    job::{self, artifact_values, job_number},
    loaders::CiLoaders,
    located_project::LocatedProject,
    stage, status, test_reports,
};
use crate::{
    context::Context,
    failure::failure_of,
    join::try_join_all,
    people, projects, repository,
    values::{maybe_time, time},
    windowed_page::{CursorOrder, WindowedPage},
};

/// A pipeline of a project whose pipelines the caller may see.
#[derive(Debug)]
pub struct PipelineRecord {
    pub home: Arc<LocatedProject>,
    pub row: Pipeline,
}

pub fn pipeline(home: Arc<LocatedProject>, row: Pipeline) -> Value {
    Value::object("Pipeline", Arc::new(PipelineRecord { home, row }))
}

/// A pipeline by its id; null where the caller may not see it.
///
/// # Errors
/// When the database failed.
pub async fn of_id(context: &Context, id: PipelineId) -> Result<Value, Failure> {
    let row = CiLoaders::of(context).pipelines.load(id).await?;
    match row {
        Some(row) => shown(context, row).await,
        None => Ok(Value::Null),
    }
}

/// A pipeline of whatever project; null where the caller may not see it.
pub(super) async fn shown(context: &Context, row: Pipeline) -> Result<Value, Failure> {
    let home = CiLoaders::of(context).shown_homes.load(row.project_id).await?;
    Ok(home.map_or(Value::Null, |home| pipeline(home, row)))
}

impl PipelineRecord {
    /// All jobs, also those whose place a newer one took, in the order of stages.
    pub async fn jobs(&self, context: &Context) -> Result<Arc<Vec<Arc<StageJob>>>, Failure> {
        let found = CiLoaders::of(context).jobs_of_pipeline.load(self.row.id).await?;
        Ok(found.unwrap_or_default())
    }

    /// The newest job of each name, in the order of stages.
    pub async fn latest(&self, context: &Context) -> Result<Vec<Arc<StageJob>>, Failure> {
        let all = self.jobs(context).await?;
        Ok(all.iter().filter(|one| !one.job.retried).cloned().collect())
    }
}

type Record = Arc<PipelineRecord>;

pub(super) fn register(registry: &mut Registry<Context>) {
    register_record(registry);
    register_places(registry);
    register_jobs(registry);
    register_relations(registry);
}

fn register_record(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<PipelineRecord>("Pipeline")
        .plain("active", |record| record.row.status.is_active().into())
        .plain("beforeSha", |record| record.row.before_sha.clone().into())
        .plain("complete", |record| record.row.status.is_complete().into())
        .plain("configSource", |record| config_source(&record.row))
        .plain("coverage", |record| {
            record.row.coverage.as_deref().and_then(|text| text.parse::<f64>().ok()).into()
        })
        .plain("createdAt", |record| time(record.row.created_at))
        .plain("detailedStatus", |record| {
            let entity = DetailedStatusEntity::new(record.home.facts(), &record.row);
            status::value(entity, record.row.id.0)
        })
        .plain("duration", |record| record.row.duration.into())
        .plain("finishedAt", |record| maybe_time(record.row.finished_at))
        .plain("id", |record| Value::gid("Ci::Pipeline", record.row.id))
        .plain("iid", |record| record.row.iid.to_string().into())
        .plain("mergeRequestEventType", |record| event_type(&record.row))
        .plain("queuedDuration", |record| record.row.queued_duration().into())
        .plain("ref", |record| record.row.ref_name.as_str().into())
        .plain("startedAt", |record| maybe_time(record.row.started_at))
        .plain("status", |record| name_of(record.row.status))
        .plain("updatedAt", |record| time(record.row.updated_at))
        .plain("warnings", |record| record.row.warnings.into())
        .lookup("sha", |record: Record, arguments, _| async move {
            let sha = record.row.sha.as_str();
            let short = arguments.maybe_enum("format").as_deref() == Some("SHORT");
            Ok(if short { short_sha(sha).into() } else { sha.into() })
        });
}

fn register_places(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<PipelineRecord>("Pipeline")
        .lookup("commitPath", |record: Record, _, context| async move {
            Ok(record.home.page(&context, &format!("-/commit/{}", record.row.sha)).into())
        })
        .lookup("path", |record: Record, _, context| async move {
            Ok(record.home.page(&context, &format!("-/pipelines/{}", record.row.id)).into())
        })
        .lookup("refPath", |record: Record, _, context| async move {
            Ok(record.home.page(&context, &format!("-/commits/{}", record.row.ref_name)).into())
        })
        .lookup("committedAt", |record: Record, _, context| async move {
            let (project, sha) = (record.home.id(), &record.row.sha);
            let found = repository::readable_commit(&context, project, sha).await?;
            Ok(found.map(|(_, commit)| time(Ts::from_unix(commit.committer.at))).into())
        })
        .lookup("commit", |record: Record, _, context| async move {
            repository::commit_of(&context, record.home.id(), &record.row.sha).await
        })
        .lookup("project", |record: Record, _, context| async move {
            projects::of_id(&context, record.home.id()).await
        })
        .lookup("user", |record: Record, _, context| async move {
            person(&context, record.row.user_id).await
        });
}

fn register_jobs(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<PipelineRecord>("Pipeline")
        .lookup("cancelable", |record: Record, _, context| async move {
            let all = record.latest(&context).await?;
            Ok(all.iter().any(|one| one.job.status.is_cancelable()).into())
        })
        .lookup("retryable", |record: Record, _, context| async move {
            let failed = |status| matches!(status, Status::Failed | Status::Canceled);
            let all = record.latest(&context).await?;
            let again = |one: &Arc<StageJob>| {
                failed(one.job.status)
                    && one.job.kind != JobKind::External
                    && one.job.is_retryable()
            };
            Ok(all.iter().any(again).into())
        })
        .lookup("usesNeeds", |record: Record, _, context| async move {
            Ok(record.latest(&context).await?.iter().any(|one| one.needs.is_some()).into())
        })
        .lookup("stages", |record: Record, arguments, context| async move {
            let stages = stage::stages(&record, record.latest(&context).await?);
            Ok(Connection::of_list(&arguments.page()?, stages).into())
        })
        .lookup("jobs", |record: Record, arguments, context| async move {
            jobs(&record, &arguments, &context).await
        })
        .lookup("job", |record: Record, arguments, context| async move {
            one_job(&record, &arguments, &context).await
        })
        .lookup("jobArtifacts", |record: Record, _, context| async move {
            let jobs = record.jobs(&context).await?;
            let files = jobs.iter().map(|one| artifact_values(&context, &record.home, &one.job));
            Ok(Value::List(try_join_all(files).await?.concat()))
        });
}

fn register_relations(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<PipelineRecord>("Pipeline")
        .lookup("sourceJob", |record: Record, _, context| async move {
            match record.row.parent_job_id {
                Some(id) => job::job_of_id(&context, id).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("upstream", |record: Record, _, context| async move {
            let loaders = CiLoaders::of(&context);
            let Some(id) = record.row.parent_job_id else { return Ok(Value::Null) };
            match loaders.jobs.load(id).await? {
                Some(job) => of_id(&context, job.job.pipeline_id).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("downstream", |record: Record, arguments, context| async move {
            let loaders = CiLoaders::of(&context);
            let all = record.jobs(&context).await?;
            let bridges = all.iter().filter(|one| one.job.kind == JobKind::Bridge);
            let made =
                bridges.map(async |bridge| match loaders.downstream.load(bridge.job.id).await? {
                    Some(row) => shown(&context, row).await,
                    None => Ok(Value::Null),
                });
            let mut made = try_join_all(made).await?;
            made.retain(|one| !one.is_null());
            Ok(Connection::of_list(&arguments.page()?, made).into())
        })
        .lookup("testReportSummary", |record: Record, _, context| async move {
            test_reports::summary(&record, &context).await
        })
        .lookup("testSuite", |record: Record, arguments, context| async move {
            test_reports::suite(&record, &arguments, &context).await
        })
        .lookup("userPermissions", |record: Record, _, context| async move {
            permissions(&record, &context).await
        })
        .none(&["codeQualityReports", "dastProfile", "warningMessages"]);
}

/// The first digits of a commit's id.
pub(super) fn short_sha(sha: &str) -> &str {
    sha.get(..8).unwrap_or(sha)
}

/// A person, where there still is one.
pub(super) async fn person(context: &Context, id: Option<UserId>) -> Result<Value, Failure> {
    match id {
        Some(id) => people::of_id(context, id).await,
        None => Ok(Value::Null),
    }
}

/// Unknown, too, where the pipeline has no configuration, such as those of statuses from elsewhere.
fn config_source(row: &Pipeline) -> Value {
    row.config_source.map_or_else(|| "UNKNOWN_SOURCE".into(), name_of)
}

fn event_type(row: &Pipeline) -> Value {
    match row.merge_request_id {
        Some(_) if row.ref_name.ends_with("/merge") => "MERGED_RESULT".into(),
        Some(_) => "DETACHED".into(),
        None => Value::Null,
    }
}

async fn jobs(
    record: &PipelineRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let statuses: Vec<Status> = values_of(&arguments.texts("statuses"));
    let retried = arguments.maybe_bool("retried");
    // No report of a scanner belongs to a job here before it is imported.
    let of_scanners = arguments.maybe_texts("securityReportTypes");
    let kinds: BTreeSet<String> =
        of_scanners.iter().flatten().map(|name| name.to_lowercase()).collect();
    let all = record.jobs(context).await?;
    let fits = |one: &&Arc<StageJob>| {
        (statuses.is_empty() || statuses.contains(&one.job.status))
            && retried.is_none_or(|retried| retried == one.job.retried)
    };
    let mut wanted: Vec<Arc<StageJob>> = all.iter().filter(fits).cloned().collect();
    if of_scanners.is_some() {
        wanted = with_reports(context, wanted, &kinds).await?;
    }
    // By their ids: a job that is done again between two pages moves no other one.
    wanted.sort_unstable_by_key(|one| std::cmp::Reverse(one.job.id));
    let page = WindowedPage::new(arguments.page()?, CursorOrder::Id)?;
    let ids: Vec<i64> = wanted.iter().map(|one| one.job.id.0).collect();
    let rows = page.read_descending(&ids).map_err(failure_of)?;
    let by_id: HashMap<i64, Arc<StageJob>> =
        wanted.into_iter().map(|one| (one.job.id.0, one)).collect();
    let value =
        |id: i64| by_id.get(&id).map(|one| job::job(record.home.clone(), one.clone())).into();
    Ok(page.connection(rows, |id| RowPosition { value: None, id: *id }, value).into())
}

/// Those of these jobs that brought a report of one of these kinds.
async fn with_reports(
    context: &Context,
    jobs: Vec<Arc<StageJob>>,
    kinds: &BTreeSet<String>,
) -> Result<Vec<Arc<StageJob>>, Failure> {
    let loaders = CiLoaders::of(context);
    let files = try_join_all(jobs.iter().map(|one| loaders.artifacts.load(one.job.id))).await?;
    let has = |files: &Option<Arc<Vec<Artifact>>>| {
        let mut files = files.iter().flat_map(|files| files.iter());
        files.any(|file| kinds.contains(&file.file_type.to_string()))
    };
    let found = jobs.into_iter().zip(files).filter(|(_, files)| has(files));
    Ok(found.map(|(job, _)| job).collect())
}

async fn one_job(
    record: &PipelineRecord,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let id = arguments.maybe_text("id").map(|id| job_number(&id)).transpose()?;
    let name = arguments.maybe_text("name");
    let all = record.jobs(context).await?;
    let found = match (id, name) {
        (Some(id), None) => all.iter().find(|one| one.job.id == JobId(id)),
        (None, Some(name)) => all.iter().find(|one| !one.job.retried && one.job.name == name),
        _ => return Err(Failure::one_of(&["id", "name"])),
    };
    Ok(found.map_or(Value::Null, |one| job::job(record.home.clone(), one.clone())))
}

async fn permissions(record: &PipelineRecord, context: &Context) -> Result<Value, Failure> {
    let update = CiLoaders::of(context).updatable.load(record.row.id).await?.is_some();
    let admin = update && record.home.may::<DeleteArtifacts>();
    Ok(Value::fields(
        "PipelinePermissions",
        [
            ("adminPipeline", admin.into()),
            ("cancelPipeline", update.into()),
            ("destroyPipeline", record.home.may::<DeletePipelines>().into()),
            ("updatePipeline", update.into()),
        ],
    ))
}

/// The pipelines of a project whose pipelines are shown to the caller, or nothing.
pub async fn shown_home(
    context: &Context,
    home: &Arc<LocatedProject>,
) -> Result<Option<Arc<LocatedProject>>, Failure> {
    CiLoaders::of(context).shown_homes.load(home.id()).await
}
