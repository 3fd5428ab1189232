//! A push makes pipelines: it is written down in its transaction, and done before the pusher is answered.

use ci::{
    config::input::RefKind,
    pipeline::{
        Content, NewPipeline, Pipeline, PipelineRef, PipelineStore as _, PipelineVariable, Source,
    },
    policy::CreatePipelines,
    ports::Refs as _,
};
use db::Tx;
use futures_util::future::join_all;
use kernel::{
    Ability as _, Result, Standing, Ts,
    access::ProjectFacts,
    ids::{ProjectId, UserId},
};
use org::access::IdOrPath;
use repo::{
    event::MovedRef,
    git::{Oid, Reader},
    push::{PipelineOptions, Push, RefChange},
};
use secrets::Vault;
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Instant};
use time::Duration;
use worker::{Job, Queue as _};

use super::{
    compile::{CompileResult, RunContext, compile_config},
    limits::refs_with_pipeline,
    make::{create_checked, ensure_variables, kept_content, new_pipeline},
    push_variables::{self, passed_variables},
    remote_files::{CompilePass, in_passes},
    validation::validated,
};
use crate::{Forge, ports::ci::Refs, user::standing::person_in_project};

/// What is done before the pusher is answered is left to the background only when that did not happen.
const LATER: Duration = Duration::seconds(30);

/// Refs of a push whose pipelines are compiled side by side: none of them waits for what another includes.
const REFS_AT_ONCE: usize = 4;

/// A pusher whose pipelines take longer does not wait for more of them: they are made in the background.
const WAITING: std::time::Duration = std::time::Duration::from_secs(10);

/// Makes the pipeline of a branch or tag that somebody moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MakeForPush {
    project: ProjectId,
    /// `refs/heads/main`
    name: String,
    before: Option<String>,
    after: String,
    user: Option<UserId>,
    /// The moment of the push, in microseconds.
    pushed_at: i64,
    /// `ci.skip` of the push.
    #[serde(default)]
    skip: bool,
    /// Every `ci.variable` of the push, as JSON, sealed.
    #[serde(default)]
    sealed: Option<String>,
    /// The same in clear, as older versions wrote it.
    #[serde(default, skip_serializing)]
    variables: Vec<(String, String)>,
}

impl Job for MakeForPush {
    const KIND: &'static str = "pipeline.make_for_push";

    fn unique_key(&self) -> Option<String> {
        Some(format!("{}:{}:{}", self.project, self.name, self.after))
    }
}

impl MakeForPush {
    fn key(&self) -> String {
        format!("{}:{}", Self::KIND, self.unique_key().unwrap_or_default())
    }

    /// For what variables are sealed.
    fn vault_place(&self) -> String {
        format!("work/make_for_push/{}", self.unique_key().unwrap_or_default())
    }

    /// `None` when the key with which they were sealed is gone.
    fn unsealed(&self, vault: &Vault) -> Option<Vec<(String, String)>> {
        match &self.sealed {
            Some(sealed) => push_variables::unseal(vault, &self.vault_place(), sealed),
            None => Some(self.variables.clone()),
        }
    }

    fn place(&self) -> Option<PipelineRef> {
        let branch = self.name.strip_prefix("refs/heads/").map(|name| (name, false));
        let (name, tag) =
            branch.or_else(|| self.name.strip_prefix("refs/tags/").map(|name| (name, true)))?;
        Some(PipelineRef { name: name.to_owned(), tag })
    }
}

/// The pusher, the project, and the number of refs of the same push that moved before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushContext {
    pub(crate) project: ProjectId,
    pub(crate) user: Option<UserId>,
    pub(crate) earlier: usize,
}

/// In the transaction of the push.
pub(crate) fn enqueue_for_push(
    tx: &mut Tx<'_>,
    vault: &Vault,
    PushContext { project, user, earlier }: PushContext,
    moves: &[MovedRef],
    options: &[String],
) -> Result<()> {
    let PipelineOptions { skip, none, variables } = PipelineOptions::parse(options);
    if none {
        return Ok(());
    }
    let is_run = |name: &str| name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
    let moved = moves.iter().filter(|moved| is_run(&moved.name));
    let made: Vec<_> = moved.filter_map(|moved| Some((moved, moved.after.clone()?))).collect();
    let most = refs_with_pipeline(tx, made.len(), earlier)?;
    for (moved, after) in made.into_iter().take(most) {
        let (name, before, pushed_at) = (moved.name.clone(), moved.before.clone(), tx.now.0);
        let (sealed, clear) = (None, Vec::new());
        let mut job = MakeForPush {
            project,
            name,
            before,
            after,
            user,
            pushed_at,
            skip,
            sealed,
            variables: clear,
        };
        job.sealed = push_variables::seal(vault, &job.vault_place(), &variables)?;
        let later = tx.now.plus(LATER);
        tx.enqueue_at(&job, later)?;
    }
    Ok(())
}

/// Before the pusher is answered.
pub(crate) async fn run_after_push(forge: &Forge, push: &Push) -> Result<()> {
    let is_run = |change: &&RefChange| change.name.is_branch() || change.name.is_tag();
    let PipelineOptions { skip, none, variables } = PipelineOptions::parse(&push.options);
    if none {
        return Ok(());
    }
    let passed = passed_variables(variables);
    let moved = push.changes.iter().filter(is_run);
    let made: Vec<_> = moved.filter_map(|change| Some((change, change.new?))).collect();
    let (count, earlier) = (made.len(), push.earlier);
    let most = match count {
        0 => return Ok(()),
        count => forge.db.peek(move |tx| refs_with_pipeline(tx, count, earlier)).await?,
    };
    let job = |(change, after): (&RefChange, Oid)| MakeForPush {
        project: push.project.id,
        name: change.name.as_bstr().to_string(),
        before: change.old.map(|id| id.to_string()),
        after: after.to_string(),
        user: push.who.actor.id,
        pushed_at: 0,
        skip,
        sealed: None,
        variables: Vec::new(),
    };
    let jobs: Vec<MakeForPush> = made.into_iter().take(most).map(job).collect();
    make_all(forge, &jobs, &passed).await
}

/// Makes the pipelines of a push, in the order of its refs.
async fn make_all(
    forge: &Forge,
    jobs: &[MakeForPush],
    variables: &[PipelineVariable],
) -> Result<()> {
    let (mut done, begun) = (Ok(()), Instant::now());
    for some in jobs.chunks(REFS_AT_ONCE) {
        if begun.elapsed() > WAITING {
            break;
        }
        let mut each = Vec::with_capacity(some.len());
        for job in some {
            each.push(push_pipeline(forge, job.clone(), variables.to_vec(), Runner::Push));
        }
        for pipeline in join_all(each).await {
            let stored = match pipeline {
                Ok(Some(pipeline)) => store(forge, pipeline, Runner::Push).await,
                Ok(None) => Ok(()),
                Err(failure) => Err(failure),
            };
            // What fails for one ref keeps nothing from the others.
            done = done.and(stored);
        }
    }
    done
}

/// What is done before the pusher is answered, should that not have happened.
pub(crate) async fn make_for_push(forge: Forge, job: MakeForPush) -> Result<()> {
    match forge.storage.exists(job.project) {
        true => {
            let Some(variables) = job.unsealed(&forge.vault) else {
                tracing::warn!(project = %job.project, "a push makes no pipeline: secrets.key has changed since");
                return Ok(());
            };
            process_push(&forge, job, passed_variables(variables), Runner::Worker).await
        }
        false => Ok(()),
    }
}

/// The user who runs a pipeline.
#[derive(Clone, Copy, PartialEq)]
enum Runner {
    /// The pusher waits. What was promised is taken back in the same transaction, so nobody does it again.
    Push,
    /// It may have been done before, by a server that ended before it could say so.
    Worker,
}

/// The pipeline of a branch or tag that somebody moved, before its rows are written.
struct PushPipeline {
    job: MakeForPush,
    who: Standing,
    /// The branch or tag whose protection counts.
    place: PipelineRef,
    new: NewPipeline,
    content: Content,
}

async fn process_push(
    forge: &Forge,
    job: MakeForPush,
    variables: Vec<PipelineVariable>,
    runner: Runner,
) -> Result<()> {
    match push_pipeline(forge, job, variables, runner).await? {
        Some(pipeline) => store(forge, pipeline, runner).await,
        None => Ok(()),
    }
}

/// What is to be written; nothing where there is to be no pipeline.
async fn push_pipeline(
    forge: &Forge,
    job: MakeForPush,
    variables: Vec<PipelineVariable>,
    runner: Runner,
) -> Result<Option<PushPipeline>> {
    let Some(place) = job.place() else { return Ok(None) };
    let (seen, wanted) = (job.clone(), variables.clone());
    let found = forge.db.read(move |tx| pusher(tx, &seen, &wanted)).await;
    let (facts, who) = match found {
        Ok(Some(found)) => found,
        Err(failure) if !failure.is_invalid() => return Err(failure),
        // Nobody may run it, or whoever pushed through git has been told that it cannot have these variables.
        Ok(None) | Err(_) => {
            forget(forge, &job, runner);
            return Ok(None);
        }
    };
    let read = in_passes(forge, who.actor, |pass| {
        let (own, asked) = (forge.clone(), job.clone());
        let (at, place, variables) = (Arc::clone(&facts), place.clone(), variables.clone());
        forge.git_read(job.project, move |reader| {
            content(&own, reader, &pass, &asked, (at, who, place, variables))
        })
    });
    let Some((context, compiled)) = read.await? else {
        forget(forge, &job, runner);
        return Ok(None);
    };
    let (new, place) = (new_pipeline(&context), context.guarded_place());
    let compiled = validated(forge, &context.facts, &new, compiled).await?;
    let Ok(content) = kept_content(compiled, true) else {
        forget(forge, &job, runner);
        return Ok(None);
    };
    Ok(Some(PushPipeline { job, who, place, new, content }))
}

/// Writes the rows, unless somebody did so meanwhile.
async fn store(forge: &Forge, pipeline: PushPipeline, runner: Runner) -> Result<()> {
    let PushPipeline { job, who, place, new, content } = pipeline;
    let (key, pushed_at, vault) = (job.key(), Ts(job.pushed_at), forge.vault.clone());
    let made = forge.db.write(move |tx| {
        let is_ours = match runner {
            Runner::Push => tx.withdraw_work(&key)?,
            Runner::Worker => !tx.has_push_pipeline(&new, pushed_at)?,
        };
        if !is_ours {
            return Ok(None);
        }
        create_checked(tx, &vault, (&who, &place), new.clone(), &content).map(Some)
    });
    match made.await {
        // Whoever may move a ref may yet have no right to run something for it.
        Err(refused) if refused.is_invalid() => {
            forget(forge, &job, runner);
            Ok(())
        }
        made => made.map(drop::<Option<Pipeline>>),
    }
}

/// There is nothing to make, and nobody has to look again. The pusher does not wait for that to be noted: should it get
/// lost, somebody looks in vain.
fn forget(forge: &Forge, job: &MakeForPush, runner: Runner) {
    if runner == Runner::Push {
        let (db, key) = (forge.db.clone(), job.key());
        kernel::task::spawn(
            async move { db.write(move |tx| tx.withdraw_work(&key)).await.map(drop) },
        );
    }
}

/// The project and how the pusher stands there, where pushes run something.
///
/// # Errors
/// `BadRequest` when their pipeline may not have these variables.
fn pusher(
    tx: &mut Tx<'_>,
    job: &MakeForPush,
    variables: &[PipelineVariable],
) -> Result<Option<(Arc<ProjectFacts>, Standing)>> {
    let Some(user) = job.user else { return Ok(None) };
    let person = person_in_project(tx, user, &IdOrPath::Id(job.project.0))?;
    let Some(person) = person.filter(|person| CreatePipelines::allows(&person.who)) else {
        return Ok(None);
    };
    ensure_variables(tx, &person.who, job.project, Source::Push, variables)?;
    Ok(Some((person.facts, person.who)))
}

/// What the pipeline holds; `None` where there is to be none.
fn content(
    forge: &Forge,
    reader: &Reader,
    pass: &CompilePass,
    job: &MakeForPush,
    (facts, who, place, variables): (
        Arc<ProjectFacts>,
        Standing,
        PipelineRef,
        Vec<PipelineVariable>,
    ),
) -> Result<Option<(RunContext, CompileResult)>> {
    let commit = reader.peeled(job.after.parse()?)?;
    let Some(commit) = commit else { return Ok(None) };
    let project = facts.id;
    let guarded = forge.db.read_blocking(|tx| Refs.guarded(tx, &who, project, &place))?;
    let before = job.before.as_deref().map(str::parse).transpose()?;
    let mut context = RunContext {
        facts,
        user: who.actor.id,
        actor: who.actor,
        source: Source::Push,
        shown: place.name.clone(),
        kind: if place.tag { RefKind::Tag } else { RefKind::Branch },
        place,
        commit,
        before,
        tip: None,
        iid: None,
        protected: guarded.protected,
        variables,
        merge_request: None,
        text: None,
        parent: None,
        config_source: None,
        inherited: Vec::new(),
    };
    // The message was meant for the branch: whoever tags the commit later wants the tag's jobs.
    if job.skip || (!context.place.tag && says_skip(&reader.commit(commit)?.message)) {
        return Ok(Some((context, CompileResult::Content(Content::Skipped))));
    }
    let compiled = compile_config(forge, reader, &mut context, pass)?;
    Ok(Some((context, compiled)))
}

/// Whether a message says that nothing is to run for its commit: `[ci skip]` or `[skip ci]`, with a space, dash or
/// underscore.
pub(super) fn says_skip(message: &str) -> bool {
    let lower = message.to_ascii_lowercase();
    let words = ["ci", "skip"];
    words.iter().zip(words.iter().rev()).any(|(first, second)| {
        [' ', '-', '_'].iter().any(|sign| lower.contains(&format!("[{first}{sign}{second}]")))
    })
}

#[cfg(test)]
mod tests {
    use super::says_skip;

    #[test]
    fn a_message_may_say_that_nothing_is_to_run() {
        for message in ["x [ci skip]", "[skip ci] x", "[SKIP-CI]", "a\n\n[ci_skip]\n"] {
            assert!(says_skip(message), "{message}");
        }
        for message in ["ci skip", "[ci  skip]", "[skip]", "[no ci]", ""] {
            assert!(!says_skip(message), "{message}");
        }
    }
}
