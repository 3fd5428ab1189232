//! Retry, cancellation and removal of pipelines, and cancellation of redundant ones.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    AccessLevel::Maintainer,
    Error, Grant, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::{JobId, PipelineId},
    values::length_fault,
};
use secrets::Vault;

use super::{
    Pipeline, PipelineStore as _, PipelineVariable, PipelineVariableStore as _, Source,
    actions::ensure_shown, advance,
};
use crate::{
    Event, Status,
    bridge::{end_followers, followers},
    event::JobMove,
    job::{
        Job, JobKind, JobListStore as _, Member, MotionStore as _, Step, actions::may_update,
        dependents::revive, progress::after_end, rules::is_archived,
    },
    policy::{DeletePipelines, ReadPipelines, UpdatePipelines},
    ports::{DeployRight, Projects, Refs},
    resource_group::hand_over::release_all,
};

/// Characters of a name.
const LONGEST_NAME: usize = 255;

fn find(tx: &mut Tx<'_>, grant: &Grant<UpdatePipelines>, id: PipelineId) -> Result<Pipeline> {
    tx.find_pipeline(grant.project(), id)?.ok_or_else(Error::missing)
}

/// Whether the caller may change a pipeline itself: nobody may where it is archived.
fn may_change(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdatePipelines>,
    refs: &impl Refs,
    pipeline: &Pipeline,
) -> Result<bool> {
    let archived = pipeline.is_archived(refs.archived_before(tx)?);
    Ok(!archived && may_update(tx, refs, grant.who(), pipeline)?)
}

fn ensure_may_change(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdatePipelines>,
    refs: &impl Refs,
    pipeline: &Pipeline,
) -> Result<()> {
    match may_change(tx, grant, refs, pipeline)? {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}

/// Gives a pipeline another name, without the blanks around it.
///
/// # Errors
/// `Forbidden` for who may not change the pipeline, `BadRequest` for a name that is blank or too long.
pub fn rename(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdatePipelines>,
    refs: &impl Refs,
    id: PipelineId,
    name: &str,
) -> Result<Pipeline> {
    let pipeline = find(tx, grant, id)?;
    ensure_may_change(tx, grant, refs, &pipeline)?;
    let name = name.trim();
    let flaw = match name.is_empty() {
        true => Some("is too short (minimum is 1 character)".to_owned()),
        false => length_fault(name, LONGEST_NAME),
    };
    match flaw {
        None => tx.rename_pipeline(id, name),
        Some(flaw) => {
            Err(Error::bad_request().whole(format!("Failed to update pipeline - Name {flaw}")))
        }
    }
}

/// Does everything of a pipeline once more that failed or was canceled, and what was skipped therefore.
pub fn retry(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdatePipelines>,
    refs: &impl Refs,
    id: PipelineId,
) -> Result<Pipeline> {
    let pipeline = find(tx, grant, id)?;
    ensure_may_change(tx, grant, refs, &pipeline)?;
    tx.hold_pipeline(id)?;
    let members = tx.members(id)?;
    let again = |member: &&Member| {
        matches!(member.status, Status::Failed | Status::Canceled)
            && member.kind != JobKind::External
    };
    let ids: Vec<i64> = members.iter().filter(again).map(|member| member.id.0).collect();
    let retryable = retryable(tx, grant, refs, &ids)?;
    if !retryable.is_empty() {
        tx.clone_jobs(&retryable, Some(grant.user()?))?;
    }
    let skipped =
        |member: &&Member| member.status == Status::Skipped && member.kind != JobKind::External;
    let skipped: Vec<&Member> = members.iter().filter(skipped).collect();
    revive(tx, (pipeline.project_id, id), &skipped, Some(grant.user()?))?;
    let pipeline = advance(tx, id)?;
    // Until a runner has taken one of its jobs it is told to wait for that, whatever of it had succeeded before.
    let runs = tx.members(id)?.iter().any(|member| member.status == Status::Running);
    let status = match pipeline.status {
        Status::Running if !runs => Status::Pending,
        status => status,
    };
    Ok(Pipeline { status, ..pipeline })
}

/// Those of these jobs that may be done once more, where they deploy also by the caller.
fn retryable(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdatePipelines>,
    refs: &impl Refs,
    ids: &[i64],
) -> Result<Vec<JobId>> {
    let mut found = Vec::new();
    let mut rights = HashMap::new();
    let before = refs.archived_before(tx)?;
    let may_run = |job: &Job| job.is_retryable() && !is_archived(job, before);
    for job in tx.jobs_by_id(ids)?.into_iter().filter(may_run) {
        let right = match rights.get(&job.environment) {
            Some(known) => *known,
            None => refs.deploy_right(tx, grant.who(), &job)?,
        };
        if right != DeployRight::Refused {
            found.push(job.id);
        }
        rights.insert(job.environment, right);
    }
    Ok(found)
}

/// Ends everything of a pipeline that has not ended, and the children that it made.
pub fn cancel(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdatePipelines>,
    refs: &impl Refs,
    id: PipelineId,
) -> Result<Pipeline> {
    let pipeline = find(tx, grant, id)?;
    ensure_may_change(tx, grant, refs, &pipeline)?;
    cancel_family(tx, id)?;
    let kept = find(tx, grant, id)?;
    // Whoever cancels is told so, whatever jobs that had ended before or wait for somebody make of the whole.
    let status = if pipeline.status.is_complete() { kept.status } else { Status::Canceled };
    Ok(Pipeline { status, ..kept })
}

/// Ends the rest of a pipeline where one of these jobs failed that must not, and its configuration wants that
/// (`workflow:auto_cancel:on_job_failure`).
pub fn cancel_after_failure(tx: &mut Tx<'_>, id: PipelineId, moved: &[JobMove]) -> Result<()> {
    let failed = moved.iter().filter(|one| one.status == Status::Failed);
    let failed: Vec<i64> = failed.map(|one| one.job.0).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let pipeline = tx.pipelines_by_id(&[id])?.remove(&id);
    if !pipeline.is_some_and(|pipeline| pipeline.cancel_on_failure) {
        return Ok(());
    }
    // One in whose place another is tried does no harm yet.
    let harms = |job: &Job| job.status == Status::Failed && !job.retried && !job.allow_failure;
    match tx.jobs_by_id(&failed)?.iter().any(harms) {
        true => cancel_family(tx, id),
        false => Ok(()),
    }
}

/// Ends everything of a pipeline and of the children that it made.
fn cancel_family(tx: &mut Tx<'_>, id: PipelineId) -> Result<()> {
    let mut open = vec![id];
    while let Some(next) = open.pop() {
        open.extend(cancel_one(tx, next, |_| true)?);
    }
    Ok(())
}

/// Ends an older pipeline for the sake of a newer one; where it says so, only what may be interrupted. Its children are
/// judged by themselves.
pub(crate) fn cancel_for(tx: &mut Tx<'_>, outdated: &Pipeline, by: PipelineId) -> Result<()> {
    let partly = outdated.auto_cancel.as_deref() == Some("interruptible");
    let held = tx.hold_pipeline(outdated.id)?;
    tx.save_pipeline(&Pipeline { auto_canceled_by: Some(by), ..held })?;
    cancel_one(tx, outdated.id, |member| !partly || member.interruptible).map(drop)
}

/// Ends jobs of one pipeline; tells the children that its bridges made.
fn cancel_one(
    tx: &mut Tx<'_>,
    id: PipelineId,
    chosen: impl Fn(&Member) -> bool,
) -> Result<Vec<PipelineId>> {
    let pipeline = tx.hold_pipeline(id)?;
    let members = tx.members(id)?;
    let bridges: Vec<JobId> = members
        .iter()
        .filter(|member| member.kind == JobKind::Bridge && chosen(member))
        .map(|member| member.id)
        .collect();
    // A bridge that waits for somebody as its pipeline does has begun, and may hold a resource.
    let waiting = members.iter().filter(|member| {
        member.kind == JobKind::Bridge && member.status == Status::Manual && chosen(member)
    });
    let waiting: Vec<JobId> = waiting.map(|member| member.id).collect();
    let followers = followers(tx, &waiting)?;
    let under_way =
        |member: &Member| member.status.is_cancelable() || followers.contains(&member.id);
    let ends: Vec<&Member> =
        members.iter().filter(|member| under_way(member) && chosen(member)).collect();
    let ids: Vec<JobId> = ends.iter().map(|member| member.id).collect();
    if !ids.is_empty() {
        tx.move_jobs(&ids, Step::Cancel, Status::Canceled)?;
        let moved = |member: &&Member| JobMove {
            job: member.id,
            kind: member.kind,
            status: Status::Canceled,
        };
        let jobs = ends.iter().map(moved).collect();
        tx.emit(Event::JobsMoved { project: pipeline.project_id, pipeline: id, jobs })?;
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let ended: Vec<Job> = tx.jobs_by_id(&ids)?;
        after_end(tx, &ended)?;
    }
    let children = tx.pipelines_of_bridges(&bridges)?.into_iter();
    let children = children.filter(|child| child.source == Source::ParentPipeline);
    Ok(children.filter(|child| !child.status.is_complete()).map(|child| child.id).collect())
}

/// Takes a pipeline away with all that belongs to it. What runs in it ends first, so that whoever waits for it or for what
/// it holds goes on.
pub fn delete(
    tx: &mut Tx<'_>,
    grant: &Grant<DeletePipelines>,
    id: PipelineId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let pipeline = tx.find_pipeline(grant.project(), id)?.ok_or_else(Error::missing)?;
    pipeline.updated_at.ensure_unchanged_since(unmodified_since)?;
    cancel_family(tx, id)?;
    end_followers(tx, &pipeline)?;
    release_all(tx, id)?;
    tx.delete_pipeline(id)?;
    let place = AuditPlace::Project(pipeline.project_id);
    let removed = AuditRecord::removal("destroy_pipeline", place, "pipeline");
    tx.mention(removed.target("Ci::Pipeline", id.0, pipeline.ref_name.as_str()));
    tx.emit(Event::PipelineRemoved { project: pipeline.project_id, pipeline: id })
}

/// What was set for a pipeline: for maintainers, and for who asked for it and may still change it.
pub fn variables(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    (projects, refs): (&impl Projects, &impl Refs),
    vault: &Vault,
    id: PipelineId,
) -> Result<Vec<PipelineVariable>> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    let pipeline = tx.find_pipeline(grant.project(), id)?.ok_or_else(Error::missing)?;
    if !grant.who().is(Maintainer) {
        let own = grant.actor().id.is_some() && pipeline.user_id == grant.actor().id;
        let update: Grant<UpdatePipelines> = grant.also()?;
        if !own || !may_change(tx, &update, refs, &pipeline)? {
            return Err(Error::forbidden());
        }
    }
    tx.pipeline_variables(vault, id)
}

/// The pipelines that bridges made, by bridge.
pub fn downstream(tx: &mut Tx<'_>, bridges: &[JobId]) -> Result<Vec<Pipeline>> {
    tx.pipelines_of_bridges(bridges)
}
