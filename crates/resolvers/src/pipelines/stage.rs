//! Stages of a pipeline, and groups of jobs in them.

use std::sync::Arc;

use ci::{
    Outcome, Status, StatusScope, composite, has_warnings,
    job::{JobKind, StageJob},
    report::group_name,
};
use entities::ci::pipeline::DetailedStatusEntity;
use graphql::{Connection, Registry, Value};
use kernel::TextEnum as _;

use super::{
    job::{job, status_of},
    located_project::LocatedProject,
    pipeline::PipelineRecord,
    status,
};
use crate::context::Context;

/// Stages of one pipeline have so many numbers: those that others report are in one of their own, behind all others.
const NUMBERS: i64 = 2_000_000;

/// A stage of a pipeline with its newest jobs.
#[derive(Debug)]
pub(super) struct StageRecord {
    home: Arc<LocatedProject>,
    id: i64,
    name: String,
    /// Path of the page of the pipeline.
    pipeline_page: String,
    jobs: Vec<Arc<StageJob>>,
}

/// Jobs of a stage that differ in a number alone.
#[derive(Debug)]
struct GroupRecord {
    home: Arc<LocatedProject>,
    stage: i64,
    name: String,
    details: String,
    jobs: Vec<Arc<StageJob>>,
}

fn stage_id(one: &StageJob) -> i64 {
    one.job.pipeline_id.0.saturating_mul(NUMBERS).saturating_add(one.stage_position)
}

/// The stages of a pipeline in their order, by its newest jobs, which stand in that order.
pub(super) fn stages(record: &PipelineRecord, jobs: Vec<Arc<StageJob>>) -> Vec<Value> {
    let mut stages: Vec<StageRecord> = Vec::new();
    for one in jobs {
        let id = stage_id(&one);
        match stages.last_mut().filter(|stage| stage.id == id) {
            Some(stage) => stage.jobs.push(one),
            None => stages.push(new_stage(record.home.clone(), one)),
        }
    }
    stages.into_iter().map(|stage| Value::object("CiStage", Arc::new(stage))).collect()
}

fn new_stage(home: Arc<LocatedProject>, first: Arc<StageJob>) -> StageRecord {
    let pipeline_page =
        format!("/{}/-/pipelines/{}", home.facts().full_path, first.job.pipeline_id);
    let (id, name) = (stage_id(&first), first.job.stage.clone());
    StageRecord { home, id, name, pipeline_page, jobs: vec![first] }
}

/// The stage of a job, with all newest jobs of the pipeline.
pub(super) fn stage_of(home: Arc<LocatedProject>, of: &StageJob, all: Vec<Arc<StageJob>>) -> Value {
    let id = stage_id(of);
    let mut jobs = all.into_iter().filter(|one| stage_id(one) == id);
    let Some(first) = jobs.next() else { return Value::Null };
    let mut stage = new_stage(home, first);
    stage.jobs.extend(jobs);
    Value::object("CiStage", Arc::new(stage))
}

fn outcomes(jobs: &[Arc<StageJob>]) -> Vec<Outcome> {
    jobs.iter().map(|one| one.job.outcome()).collect()
}

/// What jobs come to, and whether something failed that may.
fn whole(jobs: &[Arc<StageJob>]) -> (Status, bool) {
    let outcomes = outcomes(jobs);
    (composite(&outcomes, StatusScope::Whole), has_warnings(&outcomes))
}

fn job_values(home: &Arc<LocatedProject>, jobs: &[Arc<StageJob>]) -> Vec<Value> {
    jobs.iter().map(|one| job(home.clone(), one.clone())).collect()
}

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .object::<StageRecord>("CiStage")
        .plain("id", |stage| Value::gid("Ci::Stage", stage.id))
        .plain("name", |stage| stage.name.as_str().into())
        .plain("status", |stage| whole(&stage.jobs).0.as_str().into())
        .plain("detailedStatus", |stage| {
            let (status, warnings) = whole(&stage.jobs);
            let path = format!("{}#{}", stage.pipeline_page, stage.name);
            status::value(DetailedStatusEntity::of(status, warnings, path), stage.id)
        })
        .lookup("jobs", |stage: Arc<StageRecord>, arguments, _| async move {
            let jobs = job_values(&stage.home, &stage.jobs);
            Ok(Connection::of_list(&arguments.page()?, jobs).into())
        })
        .lookup("groups", |stage: Arc<StageRecord>, arguments, _| async move {
            Ok(Connection::of_list(&arguments.page()?, groups(&stage)).into())
        });
    let _ = registry
        .object::<GroupRecord>("CiGroup")
        .plain("id", |group| format!("{}-{}", group.stage, group.name).into())
        .plain("name", |group| group.name.as_str().into())
        .plain("size", |group| group.jobs.len().into())
        .lookup("jobs", |group: Arc<GroupRecord>, arguments, _| async move {
            let jobs = job_values(&group.home, &group.jobs);
            Ok(Connection::of_list(&arguments.page()?, jobs).into())
        })
        .lookup("detailedStatus", |group: Arc<GroupRecord>, _, context| async move {
            if let [only] = group.jobs.as_slice() {
                return status_of(&context, &group.home, &only.job).await;
            }
            let (status, warnings) = whole(&group.jobs);
            let entity = DetailedStatusEntity::of(status, warnings, group.details.clone());
            Ok(status::value(entity, group.stage))
        });
}

/// By name; external statuses stand alone, whatever they are called.
fn groups(stage: &StageRecord) -> Vec<Value> {
    let mut groups: Vec<GroupRecord> = Vec::new();
    for one in &stage.jobs {
        let name = match one.job.kind {
            JobKind::External => one.job.name.as_str(),
            JobKind::Build | JobKind::Bridge => group_name(&one.job.name),
        };
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.jobs.push(one.clone()),
            None => groups.push(GroupRecord {
                home: stage.home.clone(),
                stage: stage.id,
                name: name.to_owned(),
                details: format!("{}#{}", stage.pipeline_page, stage.name),
                jobs: vec![one.clone()],
            }),
        }
    }
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    groups.into_iter().map(|group| Value::object("CiGroup", Arc::new(group))).collect()
}
