//! Use cases of jobs.

use db::Tx;
use kernel::{
    AccessLevel::Maintainer,
    Error, Grant, Result, Standing,
    ids::{JobId, PipelineId, ProjectId},
    page::{Page, PageRequest},
};
use secrets::Vault;

use super::{
    End, Job, JobFilter, JobKind, JobListStore as _, JobStore as _, JobVariableStore as _,
    MotionStore as _, Step,
    dependents::reset_dependents,
    progress::{self, enqueue},
    rules::is_archived,
};
use crate::{
    Event, Status,
    pipeline::{Pipeline, PipelineRef, PipelineStore as _, actions::ensure_shown},
    policy::{ReadJobs, ReadPipelines, UpdateJobs, UpdatePipelines},
    ports::{DeployRight, Projects, RefAccess, Refs},
};

/// A page of a project's jobs.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadJobs>,
    projects: &impl Projects,
    filter: &JobFilter,
    page: PageRequest,
) -> Result<Page<Job>> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.project_jobs(grant.project(), filter, page)
}

/// A page of a pipeline's jobs or bridges.
pub fn list_of_pipeline(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    projects: &impl Projects,
    pipeline: PipelineId,
    filter: &JobFilter,
    page: PageRequest,
) -> Result<Page<Job>> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    let pipeline = tx.find_pipeline(grant.project(), pipeline)?.ok_or_else(Error::missing)?;
    tx.pipeline_jobs(pipeline.id, filter, page)
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadJobs>,
    projects: &impl Projects,
    id: JobId,
) -> Result<Job> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    find(tx, grant.project(), id, &[JobKind::Build])
}

fn find(tx: &mut Tx<'_>, project: ProjectId, id: JobId, kinds: &[JobKind]) -> Result<Job> {
    let found = tx.find_any_job(id)?.filter(|job| job.project_id == project);
    found.filter(|job| kinds.contains(&job.kind)).ok_or_else(Error::missing)
}

/// Whether somebody who may change pipelines may do so with this one: its branch or tag may be protected from them.
pub(crate) fn may_update(
    tx: &mut Tx<'_>,
    refs: &impl Refs,
    who: &Standing,
    pipeline: &Pipeline,
) -> Result<bool> {
    let guarded = guarded(tx, refs, who, pipeline)?;
    Ok(!guarded.protected || guarded.open)
}

/// How the branch or tag of a pipeline is protected; for a merge request that is the branch it proposes.
fn guarded(
    tx: &mut Tx<'_>,
    refs: &impl Refs,
    who: &Standing,
    pipeline: &Pipeline,
) -> Result<RefAccess> {
    let proposed = match pipeline.merge_request_id {
        Some(id) => refs.source_branch(tx, id)?,
        None => None,
    };
    let place = match proposed {
        Some(name) => PipelineRef { name, tag: false },
        None => pipeline.place(),
    };
    refs.guarded(tx, who, pipeline.project_id, &place)
}

/// A job that the caller may change, with its pipeline held.
fn changeable(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    refs: &impl Refs,
    id: JobId,
    kinds: &[JobKind],
) -> Result<Job> {
    let job = find(tx, grant.project(), id, kinds)?;
    let pipeline = tx.hold_pipeline(job.pipeline_id)?;
    match may_change(tx, grant, refs, &job, &pipeline)? {
        true => tx.job(id),
        false => Err(Error::forbidden()),
    }
}

/// Whether the caller may change a job. Nobody may where something newer is where the job would deploy to, and where the job
/// is archived; a protected environment lets in its deployers alone, whatever their role and the protection of the branch.
fn may_change(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    refs: &impl Refs,
    job: &Job,
    pipeline: &Pipeline,
) -> Result<bool> {
    if refs.is_outdated(tx, job)? || is_archived(job, refs.archived_before(tx)?) {
        return Ok(false);
    }
    match refs.deploy_right(tx, grant.who(), job)? {
        DeployRight::Open => {
            let is_developer = grant.also::<UpdatePipelines>().is_ok();
            Ok(is_developer && may_update(tx, refs, grant.who(), pipeline)?)
        }
        DeployRight::Deployer => Ok(true),
        DeployRight::Refused => Ok(false),
    }
}

/// Refuses whoever may not change a job of a project.
pub fn ensure_may_change(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    refs: &impl Refs,
    id: JobId,
) -> Result<()> {
    changeable(tx, grant, refs, id, &[JobKind::Build, JobKind::Bridge]).map(drop)
}

/// A job that a runner does, whoever asks.
pub fn build(tx: &mut Tx<'_>, project: ProjectId, id: JobId) -> Result<Job> {
    find(tx, project, id, &[JobKind::Build])
}

/// A job that a runner does and the caller may change.
pub fn changeable_build(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    refs: &impl Refs,
    id: JobId,
) -> Result<Job> {
    changeable(tx, grant, refs, id, &[JobKind::Build])
}

/// Ends a job; one that has ended stays as it is.
pub fn cancel(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    refs: &impl Refs,
    id: JobId,
) -> Result<Job> {
    let job = changeable(tx, grant, refs, id, &[JobKind::Build])?;
    match job.status.is_cancelable() || job.status == Status::Manual {
        true => progress::finish(tx, id, End::Canceled),
        false => Ok(job),
    }
}

/// Does a job that has ended once more; the answer is the new one.
pub fn retry(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    refs: &impl Refs,
    id: JobId,
) -> Result<Job> {
    let job = changeable(tx, grant, refs, id, &[JobKind::Build, JobKind::Bridge])?;
    if !job.is_retryable() {
        return Err(Error::forbidden().in_this_state("Job is not retryable"));
    }
    clone_and_start(tx, grant, &job, |_, _| Ok(()))
}

/// Lets a job begin that waits for a person or a time, or begin once more.
pub fn play(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    projects: &impl Projects,
    refs: &impl Refs,
    id: JobId,
    (vault, variables): (&Vault, &[(String, String)]),
) -> Result<Job> {
    let job = changeable(tx, grant, refs, id, &[JobKind::Build, JobKind::Bridge])?;
    if !job.is_playable() || refs.awaits_approval(tx, &job)? {
        return Err(Error::bad_request().because("Unplayable Job"));
    }
    let may_set = variables.is_empty() || grant.who().is(Maintainer);
    if !may_set && projects.restricts_variables(tx, grant.project())? {
        return Err(Error::forbidden());
    }
    if job.status.is_finished() {
        return clone_and_start(tx, grant, &job, |tx, new| {
            tx.insert_job_variables(vault, new, variables)
        });
    }
    tx.insert_job_variables(vault, id, variables)?;
    tx.set_job_user(id, grant.user()?)?;
    enqueue(tx, Job { user_id: Some(grant.user()?), ..job })?;
    tx.job(id)
}

/// Takes a delayed job from its schedule: it waits for a person from now on.
///
/// # Errors
/// `BadRequest` for a job that is not scheduled.
pub fn unschedule(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    refs: &impl Refs,
    id: JobId,
) -> Result<Job> {
    let job = changeable(tx, grant, refs, id, &[JobKind::Build])?;
    let status = job.status.after(Step::Unschedule)?;
    let job = Job { status, scheduled_at: None, ..job };
    progress::save_job(tx, &job)?;
    crate::pipeline::advance(tx, job.pipeline_id)?;
    tx.job(id)
}

/// Ensures that the pipelines and jobs of a project are shown to a caller, whose ability to read them was checked.
///
/// # Errors
/// `Forbidden` where they are not.
pub fn ensure_readable(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadJobs>,
    projects: &impl Projects,
) -> Result<()> {
    ensure_shown(tx, projects, grant.who(), grant.project())
}

/// A job in the place of one that has ended. What begins by hand begins at once.
fn clone_and_start(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdateJobs>,
    job: &Job,
    set: impl FnOnce(&mut Tx<'_>, JobId) -> Result<()>,
) -> Result<Job> {
    let made = tx.clone_jobs(&[job.id], Some(grant.user()?))?;
    let new = *made.first().ok_or_else(Error::missing)?;
    set(tx, new)?;
    let again = tx.job(new)?;
    if job.is_action() {
        enqueue(tx, again)?;
    } else {
        let user = Some(grant.user()?);
        reset_dependents(tx, (job.project_id, job.pipeline_id), &[new], user)?;
        crate::pipeline::advance(tx, job.pipeline_id)?;
    }
    tx.job(new)
}

/// Takes away what a job left behind.
pub fn erase(
    tx: &mut Tx<'_>,
    grant: &Grant<UpdatePipelines>,
    refs: &impl Refs,
    id: JobId,
) -> Result<Job> {
    let job = find(tx, grant.project(), id, &[JobKind::Build])?;
    let pipeline = tx.find_pipeline(job.project_id, job.pipeline_id)?.ok_or_else(Error::missing)?;
    let protected = guarded(tx, refs, grant.who(), &pipeline)?.protected;
    let own = job.user_id == grant.actor().id && !protected;
    if !grant.who().is(Maintainer) && !own {
        return Err(Error::forbidden());
    }
    if !job.is_erasable() {
        return Err(Error::forbidden().in_this_state("Job is not erasable!"));
    }
    tx.record_erased(id)?;
    tx.emit(Event::JobErased { project: job.project_id, job: id })?;
    tx.job(id)
}
