//! Pipelines and their jobs.

use admin::flags::Flag;
use ci::{
    job::{Job, JobListStore as _},
    pipeline::PipelineStore as _,
};
use db::Tx;
use kernel::{
    Result,
    ids::{JobId, PipelineId, ProjectId, RunnerId, UserId},
};
use org::user::{State, store::UserStore as _};
use runners::runner::RunnerStore as _;

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News},
        gaps::Gaps,
        occasion::{occasion, pipeline_state},
        payload::{self, environment::JobSurroundings, job},
    },
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &ci::Event) -> Result<()> {
    match fact {
        ci::Event::PipelineChanged { project, pipeline, before, status, .. }
            if before != status || *status == ci::Status::Created =>
        {
            tell_pipeline(tx, by, *project, *pipeline)
        }
        ci::Event::JobsMoved { project, pipeline, jobs } => {
            let jobs: Vec<JobId> = jobs.iter().map(|moved| moved.job).collect();
            tell_jobs(tx, by, *project, *pipeline, &jobs)
        }
        ci::Event::StatusChanged { project, pipeline, job, .. } => {
            tell_jobs(tx, by, *project, *pipeline, &[*job])
        }
        _ => Ok(()),
    }
}

/// Somebody who may not act is not told of.
fn is_silent(tx: &mut Tx<'_>, user: Option<UserId>) -> Result<bool> {
    let user = user.map(|id| tx.find_user(id)).transpose()?.flatten();
    Ok(user.is_some_and(|user| user.state == State::Blocked))
}

fn tell_pipeline(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    id: PipelineId,
) -> Result<()> {
    let flag = Flag::Pipelines;
    let Some((context, audience)) = by.place(tx, project, &[flag])? else { return Ok(()) };
    let Some(row) = tx.find_pipeline(project, id)? else { return Ok(()) };
    if is_silent(tx, row.user_id)? {
        return Ok(());
    }
    let branch = (!row.tag).then_some(row.ref_name.as_str());
    let of_branch = occasion(tx, (&context, &audience), flag, branch)?;
    let state = pipeline_state(tx, &audience, &row)?;
    let occasion = EventTraits { pipeline: Some(state), ..of_branch };
    if audience.receivers(flag, &occasion).is_empty() {
        return Ok(());
    }
    let news = News {
        flag,
        header: "Pipeline Hook",
        project: Some(project),
        object: format!("pipeline/{id}"),
        payload: payload::pipeline::pipeline(tx, &context, &by.vault, &row)?,
        gaps: Some(Gaps::commit(project, &row.sha, "/commit")),
    };
    by.tell(tx, &audience, news, &occasion)
}

fn tell_jobs(
    tx: &mut Tx<'_>,
    by: &Announcer,
    project: ProjectId,
    pipeline: PipelineId,
    jobs: &[JobId],
) -> Result<()> {
    let Some((context, audience)) = by.place(tx, project, &[Flag::Jobs, Flag::ArchivedTraces])?
    else {
        return Ok(());
    };
    let Some(row) = tx.find_pipeline(project, pipeline)? else { return Ok(()) };
    let ids: Vec<i64> = jobs.iter().map(|id| id.0).collect();
    let rows = tx.jobs_by_id(&ids)?;
    let users: Vec<UserId> = rows.iter().filter_map(|job| job.user_id).collect();
    let users = tx.users_by_id(&users)?;
    let runners: Vec<RunnerId> =
        rows.iter().filter_map(|job| job.runner_id.map(RunnerId)).collect();
    let runners = tx.runners_by_id(&runners)?;
    let around = JobSurroundings::load(tx, &rows)?;
    for job in rows.iter().rev() {
        let user = job.user_id.and_then(|id| users.get(&id));
        if user.is_some_and(|user| user.state == State::Blocked) {
            continue;
        }
        let runner = runners.iter().find(|runner| Some(runner.id.0) == job.runner_id);
        let now = tx.now;
        let beside = job::JobRecords { pipeline: &row, user, runner, around: &around, now };
        let news = News {
            flag: Flag::Jobs,
            header: "Job Hook",
            project: Some(project),
            object: format!("job/{}", job.id),
            payload: job::job(&context, job, beside)?,
            gaps: Some(Gaps::job(project, &job.sha)),
        };
        by.tell(tx, &audience, news, &EventTraits::default())?;
        if job.status.is_finished() {
            by.tell(tx, &audience, finished_log(&context, job), &EventTraits::default())?;
        }
    }
    Ok(())
}

/// The log of a job that ended, of which nothing more comes.
fn finished_log(context: &payload::ProjectContext, job: &Job) -> News {
    News {
        flag: Flag::ArchivedTraces,
        header: "Archive Trace Hook",
        project: Some(job.project_id),
        object: format!("job/{}", job.id),
        payload: job::log(context, job),
        gaps: None,
    }
}
