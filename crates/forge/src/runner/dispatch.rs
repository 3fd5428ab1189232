//! A runner asks for a job.

use std::{collections::HashSet, time::Duration as Wait};

use ci::job::{
    End, QueueStore as _,
    progress::finish,
    queue::{Start, begin},
};
use deployments::deployment::jobs::note_url;
use kernel::{Error, Result, ids::JobId};
use runners::{
    mailbox::Process,
    matching::Taker,
    runner::{Runner, RunnerStore as _},
};
use secrets::Secret;
use time::Duration;

use super::{
    handover::{Draft, Handover, Verdict, prepare},
    logs::hidden_place,
    queue::candidates,
};
use crate::{Forge, pipeline};

/// What a runner asks for.
#[derive(Clone, Debug, Default)]
pub struct JobRequest {
    /// The cursor of its last answer.
    pub cursor: Option<String>,
    /// What it can do.
    pub features: HashSet<String>,
    /// Only jobs that have waited for so many seconds.
    pub job_age: Option<i64>,
}

/// What a runner is told.
#[derive(Debug)]
pub enum JobAnswer {
    Job(Box<Handover>),
    /// There is none, and there will be none before the cursor changes.
    Nothing {
        cursor: String,
    },
    /// Others were faster each time.
    Conflict,
}

/// Answers a runner that asks for a job. Where there was none when it asked last, and nothing has changed since, it is
/// kept waiting for as long as `hold`.
pub async fn request_job(
    forge: &Forge,
    runner: &Runner,
    process: &Process,
    request: &JobRequest,
    hold: Wait,
) -> Result<JobAnswer> {
    forge.bell.listen(&forge.db);
    let id = runner.id;
    let projects = forge.db.peek(move |tx| tx.projects_of_runner(id)).await?;
    let taker = Taker::new(runner, projects)?;
    let mut cursor = forge.bell.mailbox.cursor(&taker, process);
    if !runner.active {
        return Ok(JobAnswer::Nothing { cursor });
    }
    if request.cursor.as_deref() == Some(cursor.as_str()) {
        if !forge.bell.mailbox.wait(id, process, &cursor, hold).await {
            return Ok(JobAnswer::Nothing { cursor });
        }
        // Read before jobs are looked for: what arrives meanwhile changes it.
        cursor = forge.bell.mailbox.cursor(&taker, process);
    }
    match take(forge, runner, &taker, request).await? {
        Taken::Job(handover) => Ok(JobAnswer::Job(handover)),
        Taken::Nothing => Ok(JobAnswer::Nothing { cursor }),
        Taken::Lost => Ok(JobAnswer::Conflict),
    }
}

enum Taken {
    Job(Box<Handover>),
    Nothing,
    Lost,
}

async fn take(
    forge: &Forge,
    runner: &Runner,
    taker: &Taker,
    request: &JobRequest,
) -> Result<Taken> {
    let mut lost = false;
    loop {
        let (own, taken, age) = (taker.clone(), forge.handing_over.all(), request.job_age);
        let found = forge.db.read(move |tx| {
            let before = age.map(|seconds| tx.now.plus(-Duration::seconds(seconds.max(0))));
            candidates(tx, &own, before, &taken)
        });
        let found = found.await?;
        let mut failed = false;
        for job in &found {
            let Some(_reserved) = forge.handing_over.reserve(job.id) else { continue };
            match take_one(forge, runner, request, job.id).await? {
                Step::Taken(handover) => return Ok(Taken::Job(handover)),
                Step::Failed => failed = true,
                Step::Lost => lost = true,
            }
        }
        // What failed may have let others go on.
        if !failed {
            return Ok(if lost && found.len() > 1 { Taken::Lost } else { Taken::Nothing });
        }
    }
}

enum Step {
    Taken(Box<Handover>),
    Failed,
    Lost,
}

async fn take_one(forge: &Forge, runner: &Runner, request: &JobRequest, id: JobId) -> Result<Step> {
    let reason = match prepare(forge, runner, &request.features, id).await {
        Ok(Verdict::Ready(draft)) => return hand_over(forge, runner, *draft).await,
        Ok(Verdict::Gone) => return Ok(Step::Lost),
        Ok(Verdict::Failed(reason)) => reason,
        // The next one may find what the machine lacks for the moment.
        Err(failure @ (Error::OutOfReach(_) | Error::Full(_))) => return Err(failure),
        Err(failure) => {
            tracing::error!(error = %failure, job = %id, "a job cannot be handed over");
            "scheduler_failure"
        }
    };
    let ended = forge.db.write(move |tx| finish(tx, id, End::failed(reason))).await;
    match ended {
        Ok(job) => {
            pipeline::hurry(forge, job.pipeline_id).await;
            Ok(Step::Failed)
        }
        Err(Error::Rejected(_)) => Ok(Step::Lost),
        Err(failure) => Err(failure),
    }
}

async fn hand_over(forge: &Forge, runner: &Runner, draft: Draft) -> Result<Step> {
    let id = draft.source.job.id;
    let hidden = serde_json::to_string(&draft.hidden()).map_err(Error::internal)?;
    let sealed = forge.vault.seal(&hidden_place(id), &Secret::new(hidden));
    let start = Start {
        runner: runner.id.0,
        on_instance_runner: runner.is_shared(),
        timeout: draft.timeout,
        token: draft.token.clone(),
        hidden: sealed.map_err(Error::internal)?,
    };
    let (shared, project) = (runner.is_shared(), draft.source.job.project_id);
    let url = draft.environment_url();
    let begun = forge.db.write(move |tx| {
        let Some(job) = begin(tx, id, &start)? else { return Ok(None) };
        if let Some(url) = &url {
            note_url(tx, id, url)?;
        }
        let running = match shared {
            true => tx.running_on_instance_runners()?.get(&project).copied(),
            false => None,
        };
        Ok(Some((job, running)))
    });
    match begun.await? {
        Some((job, running)) => Ok(Step::Taken(Box::new(draft.into_handover(forge, job, running)))),
        None => Ok(Step::Lost),
    }
}
