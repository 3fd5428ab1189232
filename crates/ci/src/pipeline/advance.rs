//! A pipeline goes on: its jobs move as far as they can, and it says what they come to.

use std::collections::BTreeSet;

use db::Tx;
use kernel::{
    Result,
    ids::{JobId, PipelineId, ResourceGroupId},
};

use super::{
    Pipeline, PipelineStore as _,
    figures::{coverage, duration},
    state::effects,
};
use crate::{
    Event, Outcome, Status, StatusScope, bridge, composite,
    event::JobMove,
    job::{Member, MotionStore as _, Step},
    process::{Row, process},
    resource_group::next_job::start_next_job,
    status::has_warnings,
};

/// Moves a pipeline on, and others with it: those that follow it, and those that waited for what it gave back.
pub(crate) fn advance(tx: &mut Tx<'_>, id: PipelineId) -> Result<Pipeline> {
    let mut others = Vec::new();
    let pipeline = advance_one(tx, id, &mut others)?;
    advance_others(tx, others)?;
    Ok(pipeline)
}

pub(crate) fn advance_others(tx: &mut Tx<'_>, mut others: Vec<PipelineId>) -> Result<()> {
    while let Some(next) = others.pop() {
        advance_one(tx, next, &mut others)?;
    }
    Ok(())
}

fn advance_one(tx: &mut Tx<'_>, id: PipelineId, others: &mut Vec<PipelineId>) -> Result<Pipeline> {
    let pipeline = tx.hold_pipeline(id)?;
    let mut members = tx.members(id)?;
    if members.is_empty() {
        return Ok(pipeline);
    }
    let groups = move_on(tx, &pipeline, &mut members)?;
    hand_groups_on(tx, groups, &mut members, others)?;
    let before = pipeline.status;
    let after = follow_jobs(tx, pipeline, &members)?;
    others.extend(bridge::follow_downstream(tx, &after, before)?);
    others.extend(bridge::follow_upstream(tx, &after, before)?);
    Ok(after)
}

/// Moves all jobs that wait for nothing any more: one statement for each kind of step, however many do it. Returns the
/// resource groups in which somebody else may be next.
fn move_on(
    tx: &mut Tx<'_>,
    pipeline: &Pipeline,
    members: &mut [Member],
) -> Result<BTreeSet<ResourceGroupId>> {
    let mut rows = members.iter().map(Member::row).collect::<Result<Vec<Row>>>()?;
    let moves = process(&mut rows);
    let mut by_step: Vec<(Step, Status, Vec<JobId>)> = Vec::new();
    let mut groups = BTreeSet::new();
    for (index, step) in &moves {
        let (row, member) = (&rows[*index], &mut members[*index]);
        member.status = row.status;
        // Who is skipped or waits for a person lets later ones of an ordered group come first.
        if matches!(step, Step::AwaitResource | Step::Skip | Step::Actionize) {
            groups.extend(member.resource_group_id);
        }
        match by_step.iter_mut().find(|(other, _, _)| other == step) {
            Some((_, _, jobs)) => jobs.push(row.id),
            None => by_step.push((*step, row.status, vec![row.id])),
        }
    }
    for (step, to, jobs) in by_step {
        tx.move_jobs(&jobs, step, to)?;
    }
    if !moves.is_empty() {
        let jobs = moves.iter().map(|(index, _)| JobMove::of(&members[*index])).collect();
        let (project, pipeline) = (pipeline.project_id, pipeline.id);
        tx.emit(Event::JobsMoved { project, pipeline, jobs })?;
    }
    Ok(groups)
}

/// Lets the next job of each group go on, which may be one of another pipeline.
fn hand_groups_on(
    tx: &mut Tx<'_>,
    groups: BTreeSet<ResourceGroupId>,
    members: &mut [Member],
    others: &mut Vec<PipelineId>,
) -> Result<()> {
    for group in groups {
        let Some((job, pipeline)) = start_next_job(tx, group)? else { continue };
        match members.iter_mut().find(|member| member.id == job) {
            Some(member) => member.status = Status::Pending,
            None => others.push(pipeline),
        }
    }
    Ok(())
}

/// Makes a pipeline say what its jobs come to, and announces where that is something else than before.
fn follow_jobs(tx: &mut Tx<'_>, pipeline: Pipeline, jobs: &[Member]) -> Result<Pipeline> {
    let outcomes: Vec<Outcome> = jobs.iter().map(Member::outcome).collect();
    let status = composite(&outcomes, StatusScope::Whole);
    let (before, now) = (pipeline.status, tx.now);
    let effects = effects(before, status);
    let started_at = pipeline.started_at.or_else(|| effects.began.then_some(now));
    let after = Pipeline {
        status,
        warnings: has_warnings(&outcomes),
        coverage: coverage(jobs),
        started_at,
        finished_at: if effects.ended { Some(now) } else { pipeline.finished_at },
        // One that had begun, and of which no job ever ran, took no time.
        duration: match effects.measured {
            true => duration(jobs, now).or(started_at.map(|_| 0)),
            false => pipeline.duration,
        },
        auto_canceled_by: pipeline.auto_canceled_by.filter(|_| !effects.revived),
        updated_at: now,
        ..pipeline
    };
    tx.save_pipeline(&after)?;
    if status != before {
        tx.emit(Event::changed(&after, before))?;
    }
    Ok(after)
}
