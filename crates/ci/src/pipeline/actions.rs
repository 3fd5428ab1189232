//! Looking at pipelines, and keeping them up to their jobs.

use db::Tx;
use kernel::{
    AccessLevel::Reporter,
    Error, Grant, Result, Standing,
    ids::{PipelineId, ProjectId},
    page::{Page, PageRequest},
};

use super::{
    Pipeline, PipelineFilter, PipelineStore as _,
    figures::{coverage, duration},
};
use crate::{
    Event, Extent, Outcome, Status, composite,
    job::{Job, JobStore as _},
    policy::ReadPipelines,
    ports::Projects,
    status::has_warnings,
};

/// Whether pipelines are shown to a caller whose ability to read them was checked: below a reporter only where the
/// project shows its jobs to everybody.
pub fn is_shown(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    who: &Standing,
    project: ProjectId,
) -> Result<bool> {
    Ok(who.is(Reporter) || projects.has_public_jobs(tx, project)?)
}

pub(crate) fn ensure_shown(
    tx: &mut Tx<'_>,
    projects: &impl Projects,
    who: &Standing,
    project: ProjectId,
) -> Result<()> {
    if is_shown(tx, projects, who, project)? { Ok(()) } else { Err(Error::Forbidden) }
}

/// A page of a project's pipelines.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    projects: &impl Projects,
    filter: &PipelineFilter,
    page: PageRequest,
) -> Result<Page<Pipeline>> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.pipelines(grant.project(), filter, page)
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    projects: &impl Projects,
    id: PipelineId,
) -> Result<Pipeline> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.find_pipeline(grant.project(), id)?.ok_or(Error::Missing)
}

/// The newest pipeline of the commit at which a branch is.
pub fn newest_at(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadPipelines>,
    projects: &impl Projects,
    branch: &str,
    tip: &str,
) -> Result<Pipeline> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.newest_pipeline_of_ref(grant.project(), branch, tip)?.ok_or(Error::Forbidden)
}

/// Makes a pipeline say what its jobs come to, and announces where that is something else than before.
pub(crate) fn follow_jobs(tx: &mut Tx<'_>, pipeline: Pipeline) -> Result<Pipeline> {
    let jobs = tx.latest_jobs(pipeline.id)?;
    let outcomes: Vec<Outcome> = jobs.iter().map(Job::outcome).collect();
    let status = composite(&outcomes, Extent::Whole);
    let before = pipeline.status;
    let mut after = Pipeline {
        status,
        warnings: has_warnings(&outcomes),
        coverage: coverage(&jobs),
        ..pipeline
    };
    if status != before {
        note_times(&mut after, before, &jobs, tx.now);
    }
    after.updated_at = tx.now;
    tx.keep_pipeline(&after)?;
    if status != before {
        tx.emit(Event::PipelineChanged {
            project: after.project_id,
            pipeline: after.id,
            sha: after.sha.clone(),
            ref_name: after.ref_name.clone(),
            tag: after.tag,
            source: after.source,
            before,
            status,
        })?;
    }
    Ok(after)
}

fn note_times(pipeline: &mut Pipeline, before: Status, jobs: &[Job], now: kernel::Ts) {
    match pipeline.status {
        Status::Running => {
            let first = matches!(
                before,
                Status::Created | Status::WaitingForResource | Status::Preparing | Status::Pending
            );
            if first && pipeline.started_at.is_none() {
                pipeline.started_at = Some(now);
            }
        }
        Status::Success | Status::Failed | Status::Canceled => {
            pipeline.finished_at = Some(now);
            pipeline.duration = duration(jobs, now);
        }
        Status::Manual => pipeline.duration = duration(jobs, now),
        _ => {}
    }
}
