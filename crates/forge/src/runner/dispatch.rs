//! A runner asks for a job.

use std::{collections::HashSet, time::Duration as Wait};

use ci::job::{
    QueueStore as _,
    queue::{Start, begin, refuse},
};
use deployments::deployment::jobs::note_terms;
use kernel::{Error, Result, ids::JobId};
use runners::{
    mailbox::{Assignment, Process},
    manager::Contact,
    matching::JobMatcher,
    runner::{Runner, RunnerStore as _, RunnerToken},
};
use secrets::Secret;
use time::Duration;

use super::{
    contact::authenticate,
    handover::{Draft, Handover, Verdict, prepare},
    logs::hidden_place,
    queue::candidates,
    reservation::{JobReservation, StartedJob},
};
use crate::{Forge, pipeline, settings::archived_before};

/// A runner's request for a job.
#[derive(Clone, Debug, Default)]
pub struct JobRequest {
    /// The cursor of its last answer.
    pub cursor: Option<String>,
    /// What it can do.
    pub features: HashSet<String>,
    /// Only jobs that have waited for so many seconds.
    pub job_age: Option<i64>,
}

/// The response to a job request.
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
/// kept waiting for as long as `hold`, and the database is asked nothing.
///
/// # Errors
/// `Forbidden` where the token is nobody's, `BadRequest` where what the runner tells of itself is too long.
pub async fn request_job(
    forge: &Forge,
    (token, contact): (&RunnerToken, Contact),
    process: &Process,
    request: &JobRequest,
    hold: Wait,
) -> Result<JobAnswer> {
    let mailbox = &forge.bell.mailbox;
    let mut errand = None;
    let now = forge.db.clock().now();
    if let Some(cursor) = request.cursor.as_ref().filter(|_| token.is_plausible())
        && let Some(id) = mailbox.unchanged(&token.digest(), process, cursor, now)
        && forge.contacts.is_noted(id, &contact, now)
    {
        errand = mailbox.wait(id, process, cursor, hold).await;
        if errand.is_none() {
            return Ok(JobAnswer::Nothing { cursor: cursor.clone() });
        }
    }
    let runner = authenticate(forge, token, contact).await?;
    Box::pin(offer_job(forge, &runner, process, request, hold, errand)).await
}

/// Looks for a job for a runner, which waits first where nothing has changed since it asked last, unless it was woken.
async fn offer_job(
    forge: &Forge,
    runner: &Runner,
    process: &Process,
    request: &JobRequest,
    hold: Wait,
    mut errand: Option<Assignment<'_>>,
) -> Result<JobAnswer> {
    forge.bell.listen(&forge.db);
    let id = runner.id;
    let projects = forge.db.peek(move |tx| tx.projects_of_runner(id)).await?;
    let taker = JobMatcher::new(runner, projects)?;
    let mut cursor = forge.bell.mailbox.cursor(&taker, process);
    if !runner.active {
        forge.bell.mailbox.found_none(id, &cursor);
        return Ok(JobAnswer::Nothing { cursor });
    }
    let mailbox = &forge.bell.mailbox;
    if errand.is_none() && request.cursor.as_deref() == Some(cursor.as_str()) {
        errand = mailbox.wait(id, process, &cursor, hold).await;
        if errand.is_none() {
            return Ok(JobAnswer::Nothing { cursor });
        }
        // Read before jobs are looked for: what arrives meanwhile changes it.
        cursor = mailbox.cursor(&taker, process);
    }
    let taken = take(forge, runner, &taker, request, errand.as_ref()).await?;
    if let Some(errand) = errand {
        errand.done(taken.job());
    }
    Ok(match taken {
        TakeResult::Job(handover) => {
            mailbox.got_job(id, process);
            JobAnswer::Job(handover)
        }
        TakeResult::Nothing => {
            mailbox.found_none(id, &cursor);
            JobAnswer::Nothing { cursor }
        }
        TakeResult::Lost => JobAnswer::Conflict,
    })
}

enum TakeResult {
    Job(Box<Handover>),
    Nothing,
    Lost,
}

impl TakeResult {
    fn job(&self) -> Option<JobId> {
        match self {
            Self::Job(handover) => Some(handover.job.id),
            Self::Nothing | Self::Lost => None,
        }
    }
}

async fn take(
    forge: &Forge,
    runner: &Runner,
    taker: &JobMatcher,
    request: &JobRequest,
    errand: Option<&Assignment<'_>>,
) -> Result<TakeResult> {
    let mut lost = false;
    loop {
        let (own, taken, age) = (taker.clone(), forge.handing_over.all(), request.job_age);
        let whose = forge.built_in.whose(runner.id);
        let found = forge.db.read(move |tx| {
            let before = age.map(|seconds| tx.now.plus(-Duration::seconds(seconds.max(0))));
            candidates(tx, &own, &whose, before, &taken)
        });
        let found = found.await?;
        let mut failed = false;
        for job in &found {
            let Some(reserved) = JobReservation::new(forge, job.id) else { continue };
            if let Some(errand) = errand {
                errand.leave(job.id);
            }
            match take_one(forge, runner, request, reserved).await? {
                Step::Taken(handover) => return Ok(TakeResult::Job(handover)),
                Step::Failed => failed = true,
                Step::Lost => lost = true,
            }
        }
        // What failed may have let others go on.
        if !failed {
            return Ok(if lost && found.len() > 1 {
                TakeResult::Lost
            } else {
                TakeResult::Nothing
            });
        }
    }
}

enum Step {
    Taken(Box<Handover>),
    Failed,
    Lost,
}

async fn take_one(
    forge: &Forge,
    runner: &Runner,
    request: &JobRequest,
    reserved: JobReservation,
) -> Result<Step> {
    let id = reserved.job();
    let reason = match prepare(forge, runner, &request.features, id).await {
        Ok(Verdict::Ready(draft)) => return dispatch_job(forge, runner, *draft, reserved).await,
        Ok(Verdict::Gone) => {
            reserved.mark_taken();
            return Ok(Step::Lost);
        }
        Ok(Verdict::Failed(reason)) => reason,
        // The next one may find what the machine lacks for the moment.
        Err(failure) if failure.is_of_machine() => return Err(failure),
        Err(failure) => {
            tracing::error!(error = %failure, job = %id, "a job cannot be handed over");
            "scheduler_failure"
        }
    };
    let ended = forge
        .db
        .write(move |tx| {
            let archived_before = archived_before(tx)?;
            refuse(tx, id, reason, archived_before)
        })
        .await?;
    reserved.mark_taken();
    match ended {
        Some(job) => {
            pipeline::run_now(forge, job.pipeline_id).await;
            Ok(Step::Failed)
        }
        None => Ok(Step::Lost),
    }
}

async fn dispatch_job(
    forge: &Forge,
    runner: &Runner,
    draft: Draft,
    reserved: JobReservation,
) -> Result<Step> {
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
    let terms = draft.environment_terms();
    let own = forge.clone();
    // In a task of its own, which goes on where the runner hangs up meanwhile.
    let begun = db::spawn(async move {
        let begun = own.db.write(move |tx| {
            let Some(job) = begin(tx, id, &start)? else { return Ok(None) };
            note_terms(tx, id, &terms)?;
            let running = match shared {
                true => tx.running_on_instance_runners()?.get(&project).copied(),
                false => None,
            };
            Ok(Some((job, running)))
        });
        let begun = begun.await?;
        reserved.mark_taken();
        Ok::<_, Error>(begun.map(|(job, running)| (StartedJob::new(own, &job), job, running)))
    });
    match begun.await.map_err(Error::internal)?? {
        Some((begun, job, running)) => {
            begun.confirm();
            Ok(Step::Taken(Box::new(draft.into_handover(forge, job, running))))
        }
        None => Ok(Step::Lost),
    }
}
