//! Artifacts of the latest successful pipeline of a ref are kept beyond their expiry.

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{job_artifacts as artifacts, jobs, pipelines},
};
use diesel::{
    dsl::exists,
    prelude::*,
    sql_types::{BigInt, Bool, Text},
};
use kernel::{Result, ids::PipelineId};

use crate::{
    Status,
    job::JobStore as _,
    pipeline::{Pipeline, PipelineStore as _, Source},
};

/// Pipelines are followed so far up and down. None are as deep: children of children of children are not made.
const DEEPEST: usize = 10;

/// A pipeline succeeded. Where it belongs to the newest one of its ref that did, as a child or itself, the artifacts of all
/// jobs of that one and of its children stay, and those of all others of the ref need not any more.
pub fn keep_newest(tx: &mut Tx<'_>, pipeline: &Pipeline) -> Result<()> {
    let top = top(tx, pipeline)?;
    // A child alone is no success of the ref, and an older pipeline may end late.
    if top.status != Status::Success || has_newer_success(tx, &top)? {
        return Ok(());
    }
    let family = family(tx, top.id)?;
    unlock_ref(tx, &top)?;
    lock(tx, &family)
}

/// The pipeline of which this one is a child or a child's child; itself where it is none.
fn top(tx: &mut Tx<'_>, pipeline: &Pipeline) -> Result<Pipeline> {
    let mut top = pipeline.clone();
    for _ in 0..DEEPEST {
        let is_child = top.source == Source::ParentPipeline;
        let Some(bridge) = top.parent_job_id.filter(|_| is_child) else { break };
        let Some(job) = tx.find_any_job(bridge)? else { break };
        let Some(above) = tx.find_pipeline(job.project_id, job.pipeline_id)? else { break };
        top = above;
    }
    Ok(top)
}

fn has_newer_success(tx: &mut Tx<'_>, top: &Pipeline) -> Result<bool> {
    let of_ref = pipelines::ref_name.eq(&top.ref_name).and(pipelines::tag.eq(top.tag));
    let newer = pipelines::table
        .filter(pipelines::project_id.eq(top.project_id).and(of_ref))
        .filter(pipelines::id.gt(top.id).and(pipelines::status.eq(Status::Success)))
        .filter(pipelines::source.ne(Source::ParentPipeline));
    each_backend!(tx, |conn| diesel::select(exists(newer))
        .get_result(conn)
        .map_err(error("Pipeline")))
}

/// A pipeline with its children and theirs, as far as no other bridge took the place of the one that made them.
fn family(tx: &mut Tx<'_>, top: PipelineId) -> Result<Vec<PipelineId>> {
    let (mut family, mut last) = (vec![top], vec![top]);
    for _ in 0..DEEPEST {
        let bridges = jobs::table
            .filter(jobs::pipeline_id.one_of(&last).and(jobs::retried.eq(false)))
            .select(jobs::id.nullable());
        let children = pipelines::table
            .filter(pipelines::parent_job_id.is_not_null())
            .filter(pipelines::parent_job_id.eq_any(bridges))
            .filter(pipelines::source.eq(Source::ParentPipeline))
            .select(pipelines::id);
        let found: Vec<PipelineId> =
            each_backend!(tx, |conn| children.load(conn).map_err(error("Pipeline")))?;
        if found.is_empty() {
            break;
        }
        family.extend(&found);
        last = found;
    }
    Ok(family)
}

fn unlock_ref(tx: &mut Tx<'_>, top: &Pipeline) -> Result<()> {
    let unlock = diesel::sql_query(
        "UPDATE job_artifacts SET locked = FALSE WHERE project_id = $1 AND locked AND pipeline_id IN \
         (SELECT id FROM pipelines WHERE project_id = $1 AND ref_name = $2 AND tag = $3)",
    )
    .bind::<BigInt, _>(top.project_id)
    .bind::<Text, _>(&top.ref_name)
    .bind::<Bool, _>(top.tag);
    each_backend!(tx, |conn| unlock.execute(conn).map_err(error("Artifact")))?;
    Ok(())
}

/// What a job left in whose place another one came is not the newest.
fn lock(tx: &mut Tx<'_>, family: &[PipelineId]) -> Result<()> {
    let newest = jobs::table
        .filter(jobs::pipeline_id.one_of(family).and(jobs::retried.eq(false)))
        .select(jobs::id);
    let own = artifacts::table.filter(artifacts::job_id.eq_any(newest));
    let lock = diesel::update(own).set(artifacts::locked.eq(true));
    each_backend!(tx, |conn| lock.execute(conn).map_err(error("Artifact")))?;
    Ok(())
}
