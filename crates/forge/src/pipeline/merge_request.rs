//! Pipelines of merge requests: made when their commits change, and when somebody asks for one.

use std::sync::Arc;

use ci::{
    config::input::RefKind,
    pipeline::{NewPipeline, Pipeline, PipelineRef, PipelineStore as _, Source},
    policy::CreatePipelines,
    ports::Refs as _,
};
use db::Tx;
use kernel::{
    Ability as _, Error, Result, Standing,
    access::ProjectFacts,
    ids::{MergeRequestId, UserId},
};
use org::access::IdOrPath;
use repo::{
    git::{Oid, Reader},
    push::journal::JournalStore as _,
};
use review::merge_request::{MergeRequest, MergeRequestState, MergeRequestStore as _};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::{
    compile::{CompileResult, RunContext, compile_config},
    make::{create_checked, kept_content, new_pipeline, refusal},
    push::says_skip,
    remote_files::{CompilePass, in_passes},
    validation::validated,
};
use crate::{Forge, ports::ci::Refs, user::standing::person_in_project};

/// Makes the pipeline of a merge request that has other commits than before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MakeForMergeRequest {
    pub merge_request: MergeRequestId,
    /// The newest commit that is meant. Should there be a newer one by now, that has work of its own.
    #[serde(default)]
    head: String,
    /// Who opened it with that commit; `None` where somebody pushed the commit.
    #[serde(default)]
    opener: Option<UserId>,
}

impl Job for MakeForMergeRequest {
    const KIND: &'static str = "pipeline.make_for_merge_request";

    fn unique_key(&self) -> Option<String> {
        Some(format!("{}:{}", self.merge_request, self.head))
    }
}

impl MakeForMergeRequest {
    /// For who opens a merge request with this head.
    pub fn opened(merge_request: MergeRequestId, head: &str, opener: UserId) -> Self {
        Self { merge_request, head: head.to_owned(), opener: Some(opener) }
    }
}

/// In the transaction in which its commits changed.
pub(crate) fn enqueue_for_merge_request(
    tx: &mut Tx<'_>,
    merge_request: MergeRequestId,
    head: Option<&str>,
    opener: Option<UserId>,
) -> Result<()> {
    match head {
        Some(head) => {
            tx.enqueue(&MakeForMergeRequest { merge_request, head: head.to_owned(), opener })
        }
        None => Ok(()),
    }
}

/// The ref of the pipelines of a merge request.
pub(crate) fn merge_request_ref(row: &MergeRequest) -> String {
    format!("refs/merge-requests/{}/head", row.iid)
}

/// What the pipeline of a merge request is called.
fn place(row: &MergeRequest) -> PipelineRef {
    PipelineRef { name: merge_request_ref(row), tag: false }
}

/// As whoever opened it or pushed the commit, where that has no pipeline yet and something is to run for merge requests.
/// Nobody else will do: the configuration is the pusher's, and what it reads and starts is what that one may.
pub async fn make_for_merge_request(forge: Forge, job: MakeForMergeRequest) -> Result<()> {
    let Some((row, user)) = forge.db.read(move |tx| awaited(tx, &job)).await? else {
        return Ok(());
    };
    match run(&forge, row, user, Start::Automatic).await {
        Err(failure) if failure.is_invalid() || failure.is_gone() => Ok(()),
        made => made.map(drop),
    }
}

/// The merge request where the pipeline is still to be made, and for whom.
fn awaited(tx: &mut Tx<'_>, job: &MakeForMergeRequest) -> Result<Option<(MergeRequest, UserId)>> {
    let Some(row) = tx.merge_requests_in_order(&[job.merge_request.0])?.pop() else {
        return Ok(None);
    };
    let is_meant = row.head_sha.as_ref() == Some(&job.head);
    if !is_meant || row.state != MergeRequestState::Opened || is_made(tx, &row)? {
        return Ok(None);
    }
    let user = match (job.opener, row.source_project_id) {
        (Some(opener), _) => Some(opener),
        (None, Some(source)) => {
            tx.find_pusher(source, &format!("refs/heads/{}", row.source_branch), &job.head)?
        }
        (None, None) => None,
    };
    Ok(user.map(|user| (row, user)))
}

/// Whether its newest commit has a pipeline of its own.
fn is_made(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<bool> {
    let known = tx.newest_for_merge_request(row.id)?;
    Ok(known.is_some_and(|known| Some(known.sha) == row.head_sha))
}

/// Because somebody asks for it.
///
/// # Errors
/// `BadRequest` on `base` with the sentence, where there is to be none; `NotAllowed` where it has no commits.
pub async fn run_for(forge: &Forge, row: MergeRequest, user: UserId) -> Result<Pipeline> {
    run(forge, row, user, Start::Manual).await
}

/// Why nothing runs by itself: nobody is told.
const SKIPPED: &str = "The message of the commit skips pipelines";
const MADE: &str = "The commit has a pipeline already";

#[derive(Clone, Copy, PartialEq)]
enum Start {
    Manual,
    Automatic,
}

async fn run(forge: &Forge, row: MergeRequest, user: UserId, by: Start) -> Result<Pipeline> {
    let seen = row.clone();
    let (facts, who) = forge.db.read(move |tx| runner(tx, &seen, user)).await?;
    if by == Start::Manual && (row.head_sha.is_none() || row.head_sha == row.base_sha) {
        // There are no commits for which something could run.
        return Err(Error::not_allowed());
    }
    let head = row.head_sha.as_deref().ok_or_else(|| refusal("Commit not found"))?;
    let head: Oid = head.parse()?;
    let read = in_passes(forge, who.actor, |pass| {
        let (own, asked, at) = (forge.clone(), row.clone(), Arc::clone(&facts));
        forge.git_read(facts.id, move |reader| {
            if by == Start::Automatic && says_skip(&reader.commit(head)?.message) {
                return Err(refusal(SKIPPED));
            }
            content(&own, reader, &pass, asked, (at, who, head))
        })
    });
    let (context, compiled) = read.await?;
    let new: NewPipeline = new_pipeline(&context);
    // What nobody asked for, and nobody is told of, leaves no pipeline without jobs.
    let compiled = match by {
        Start::Automatic => kept_content(compiled, false).map(CompileResult::Content)?,
        Start::Manual => compiled,
    };
    let compiled = validated(forge, &context.facts, &new, compiled).await?;
    let content = kept_content(compiled, true)?;
    let place = context.guarded_place();
    let vault = forge.vault.clone();
    let made = forge.db.write(move |tx| {
        if by == Start::Automatic {
            // Who makes pipelines of a project waits here for who does so already, and sees what that one made.
            tx.lock_pipelines(new.project)?;
            if is_made(tx, &row)? {
                return Err(refusal(MADE));
            }
        }
        create_checked(tx, &vault, (&who, &place), new.clone(), &content)
    });
    made.await
}

/// The project that the commits come from, and how whoever it runs for stands there.
fn runner(
    tx: &mut Tx<'_>,
    row: &MergeRequest,
    user: UserId,
) -> Result<(Arc<ProjectFacts>, Standing)> {
    let source = row.source_project_id.ok_or_else(|| Error::not_found("Project"))?;
    let person = person_in_project(tx, user, &IdOrPath::Id(source.0))?;
    let person = person.ok_or_else(|| Error::not_found("Project"))?;
    if !CreatePipelines::allows(&person.who) {
        return Err(refusal("Insufficient permissions to create a new pipeline"));
    }
    Ok((person.facts, person.who))
}

fn content(
    forge: &Forge,
    reader: &Reader,
    pass: &CompilePass,
    row: MergeRequest,
    (facts, who, head): (Arc<ProjectFacts>, Standing, Oid),
) -> Result<(RunContext, CompileResult)> {
    let (project, branch) = (facts.id, row.source_branch.clone());
    let source = PipelineRef { name: branch.clone(), tag: false };
    let guarded = forge.db.read_blocking(|tx| Refs.guarded(tx, &who, project, &source))?;
    let mut context = RunContext {
        facts,
        user: who.actor.id,
        actor: who.actor,
        source: Source::MergeRequestEvent,
        place: place(&row),
        shown: branch,
        kind: RefKind::MergeRequest,
        commit: head,
        before: None,
        tip: None,
        iid: None,
        protected: guarded.protected,
        variables: Vec::new(),
        merge_request: Some(row),
        text: None,
        parent: None,
        config_source: None,
        inherited: Vec::new(),
    };
    let compiled = compile_config(forge, reader, &mut context, pass)?;
    Ok((context, compiled))
}
