//! A pipeline is made: from a plan, or from what is wrong with its configuration.

use std::collections::HashMap;

use db::{Tx, each_backend, error, schema::jobs};
use diesel::prelude::*;
use kernel::{
    Error, Result,
    ids::{JobSpecId, ResourceGroupId},
};
use secrets::Vault;

use super::{
    NewPipeline, Pipeline, PipelineStore as _, PipelineVariable, PipelineVariableStore as _,
    Source, advance, control::cancel_for,
};
use crate::{
    Event, Status,
    config::{Kind, Plan, PlannedJob, Refusal},
    job::{JobKind, SpecStore as _, SpecText},
    resource_group::ResourceGroupStore as _,
};

/// So many rows go into one statement.
const AT_ONCE: usize = 100;

/// So many older pipelines end in one transaction.
const ENDED_AT_ONCE: i64 = 10;

/// A plan with the texts of its jobs' specs, so that the transaction has only to write them.
#[derive(Clone, Debug)]
pub struct PlanWithSpecs {
    plan: Plan,
    specs: Vec<SpecText>,
}

impl PlanWithSpecs {
    /// Writes the specs of a plan.
    ///
    /// # Errors
    /// `Invalid` where a job is so large that no archive of its project could hold it.
    pub fn new(plan: Plan) -> Result<Self, Refusal> {
        let specs = plan.jobs.iter().map(SpecText::for_storage).collect::<Result<_, _>>()?;
        Ok(Self { plan, specs })
    }

    pub fn job_count(&self) -> usize {
        self.plan.jobs.len()
    }

    pub fn jobs(&self) -> &[PlannedJob] {
        &self.plan.jobs
    }

    pub fn stages(&self) -> &[String] {
        &self.plan.stages
    }
}

/// The stages and jobs of a new pipeline.
#[derive(Clone, Debug)]
pub enum Content {
    Jobs(PlanWithSpecs),
    /// No jobs: its configuration cannot be used, or there would be more of something than there may.
    Broken {
        /// The reason for which the pipeline has failed.
        reason: &'static str,
        sentence: String,
    },
    /// No jobs: whoever pushed wanted none.
    Skipped,
}

/// Makes a pipeline with all of its jobs, and lets those begin that wait for nothing.
pub fn create(
    tx: &mut Tx<'_>,
    vault: &Vault,
    new: NewPipeline,
    content: &Content,
) -> Result<Pipeline> {
    PipelineVariable::ensure_sound(&new.variables)?;
    let new = match content {
        Content::Jobs(PlanWithSpecs { plan, .. }) => NewPipeline {
            name: plan.name.clone().filter(|name| !name.trim().is_empty()),
            auto_cancel: plan.auto_cancel.on_new_commit.clone(),
            cancel_on_failure: plan.auto_cancel.on_job_failure.as_deref() == Some("all"),
            ..new
        },
        Content::Broken { .. } | Content::Skipped => new,
    };
    let pipeline = tx.insert_pipeline(&new)?;
    tx.insert_pipeline_variables(vault, pipeline.id, &new.variables)?;
    match content {
        Content::Jobs(with_specs) => {
            insert_jobs(tx, &pipeline, with_specs)?;
            advance(tx, pipeline.id)
        }
        Content::Broken { reason, sentence } => {
            let (reason, sentence) = ((*reason).to_owned(), sentence.clone());
            let failed = Pipeline {
                status: Status::Failed,
                yaml_errors: Some(sentence),
                failure_reason: Some(reason),
                finished_at: Some(tx.now),
                ..pipeline
            };
            ended(tx, failed)
        }
        Content::Skipped => ended(tx, Pipeline { status: Status::Skipped, ..pipeline }),
    }
}

/// Keeps and announces a pipeline that ended before it began.
fn ended(tx: &mut Tx<'_>, pipeline: Pipeline) -> Result<Pipeline> {
    tx.save_pipeline(&pipeline)?;
    tx.emit(Event::changed(&pipeline, Status::Created))?;
    Ok(pipeline)
}

/// Ends older pipelines of the same ref for the sake of this one, but for those of `tip`, the commit at which the ref is.
/// Returns whether there may be more of them.
pub fn cancel_outdated(tx: &mut Tx<'_>, by: &Pipeline, tip: Option<&str>) -> Result<bool> {
    if by.source == Source::ParentPipeline {
        return Ok(false);
    }
    let outdated = tx.outdated_pipelines(by, tip, ENDED_AT_ONCE)?;
    let more = i64::try_from(outdated.len()).is_ok_and(|found| found >= ENDED_AT_ONCE);
    for one in outdated {
        cancel_for(tx, &one, by.id)?;
    }
    Ok(more)
}

fn insert_jobs(tx: &mut Tx<'_>, pipeline: &Pipeline, with_specs: &PlanWithSpecs) -> Result<()> {
    let PlanWithSpecs { plan, specs } = with_specs;
    let ids = tx.save_specs(pipeline.project_id, specs)?;
    let mut keys: Vec<&str> =
        plan.jobs.iter().filter_map(|job| job.resource_group.as_deref()).collect();
    keys.sort_unstable();
    keys.dedup();
    let groups = tx.save_resource_groups(pipeline.project_id, &keys)?;
    let rows = RowIds { stages: &plan.stages, ids: &ids, groups: &groups };
    let jobs: Vec<(usize, (&PlannedJob, &SpecText))> =
        plan.jobs.iter().zip(specs).enumerate().collect();
    for some in jobs.chunks(AT_ONCE) {
        insert_some(tx, pipeline, &rows, some)?;
    }
    if plan.jobs.iter().any(|job| job.environment.is_some()) {
        let (project, pipeline) = (pipeline.project_id, pipeline.id);
        tx.mention(Event::EnvironmentsNamed { project, pipeline });
    }
    Ok(())
}

struct RowIds<'k> {
    stages: &'k [String],
    ids: &'k HashMap<String, JobSpecId>,
    groups: &'k HashMap<String, ResourceGroupId>,
}

fn insert_some(
    tx: &mut Tx<'_>,
    pipeline: &Pipeline,
    rows: &RowIds<'_>,
    some: &[(usize, (&PlannedJob, &SpecText))],
) -> Result<()> {
    let now = tx.now;
    let row = |(position, (job, spec)): &(usize, (&PlannedJob, &SpecText))| {
        let group = job.resource_group.as_ref().and_then(|key| rows.groups.get(key)).copied();
        let environment = job.environment.as_ref().map(|one| one.name.clone());
        let kind = match job.kind {
            Kind::Build => JobKind::Build,
            Kind::Bridge => JobKind::Bridge,
        };
        let names = job.needs.as_ref().map(|needs| needs.iter().map(|need| need.name.as_str()));
        let needs = names.map(|names| serde_json::to_string(&names.collect::<Vec<_>>()));
        Ok((
            (
                jobs::project_id.eq(pipeline.project_id),
                jobs::pipeline_id.eq(pipeline.id),
                jobs::kind.eq(kind),
                jobs::stage.eq(rows.stages.get(job.stage).cloned().unwrap_or_default()),
                jobs::stage_position.eq(number(job.stage)),
                jobs::name.eq(job.name.to_string()),
                jobs::sha.eq(&pipeline.sha),
                jobs::ref_name.eq(&pipeline.ref_name),
                jobs::tag.eq(pipeline.tag),
                jobs::protected.eq(pipeline.protected),
                jobs::status.eq(Status::Created),
                jobs::retried.eq(false),
                jobs::allow_failure.eq(job.allow_failure),
            ),
            (
                jobs::user_id.eq(pipeline.user_id),
                jobs::created_at.eq(now),
                jobs::updated_at.eq(now),
                jobs::spec_id.eq(rows.ids.get(&spec.digest).copied()),
                jobs::position.eq(number(*position)),
                jobs::run_when.eq(job.when),
                jobs::needs.eq(needs.transpose().map_err(Error::internal)?),
                jobs::interruptible.eq(job.interruptible.unwrap_or_default()),
                jobs::environment.eq(environment),
                jobs::resource_group_id.eq(group),
                jobs::start_in.eq(job.start_in.and_then(|seconds| i64::try_from(seconds).ok())),
                jobs::timeout.eq(job.timeout().and_then(|seconds| i64::try_from(seconds).ok())),
            ),
        ))
    };
    let rows = some.iter().map(row).collect::<Result<Vec<_>>>()?;
    each_backend!(tx, |conn| diesel::insert_into(jobs::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("Job")))?;
    Ok(())
}

fn number(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}
