//! A pipeline that somebody asks for.

use std::sync::Arc;

use ci::{
    config::input::RefKind,
    pipeline::{
        Content, NewPipeline, Parent, Pipeline, PipelineRef, PipelineStore as _, PipelineVariable,
        Source, VariableType,
        creation::{cancel_outdated, create},
    },
    policy::CreatePipelines,
    ports::{Projects as _, Refs as _},
};
use db::Tx;
use kernel::{
    Ability as _,
    AccessLevel::Maintainer,
    Error, Result, Standing,
    access::{FeatureAccess, ProjectFacts},
    ids::{PipelineId, PipelineScheduleId, ProjectId, TriggerId},
};
use org::{
    project::{
        settings::{SettingsStore as _, Switch},
        store::ProjectStore as _,
    },
    settings::store::SettingsStore as _,
};
use repo::git::{Oid, Reader, RefName};
use secrets::Vault;
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::{
    compile::{CompileResult, RunContext, compile_config, tip},
    limits::{rate_excess, within_active_jobs},
    remote_files::in_passes,
    triggers::PAYLOAD,
    validation::validated,
};
use crate::{
    Forge,
    ports::ci::{Projects, Refs},
};

/// The parameters of a pipeline that a user runs.
#[derive(Clone, Debug)]
pub struct Request {
    pub facts: Arc<ProjectFacts>,
    /// How whoever it runs for stands in the project.
    pub who: Standing,
    pub source: Source,
    pub ref_name: String,
    pub variables: Vec<PipelineVariable>,
    pub schedule: Option<PipelineScheduleId>,
    /// The run of the schedule.
    pub schedule_run: Option<i64>,
    pub trigger: Option<TriggerId>,
    /// The job that asked for it with its token.
    pub parent: Option<Parent>,
}

/// Makes a pipeline, or says why not: in the order in which the contract has the sentences.
///
/// # Errors
/// `BadRequest` on `base` with the sentence, where there is to be none.
pub async fn make(forge: &Forge, request: Request) -> Result<Pipeline> {
    let (facts, who) = (Arc::clone(&request.facts), request.who);
    let project = facts.id;
    if forge.db.peek(move |tx| Ok(tx.find_project(project)?.is_none())).await? {
        return Err(refusal("Project is deleted!"));
    }
    if matches!(who.features.builds, FeatureAccess::Disabled) {
        return Err(refusal("Pipelines are disabled!"));
    }
    if !CreatePipelines::allows(&who) {
        return Err(refusal("Insufficient permissions to create a new pipeline"));
    }
    let asked = request.clone();
    let ensure = move |tx: &mut Tx<'_>| {
        ensure_variables(tx, &who, asked.facts.id, asked.source, &asked.variables)
    };
    forge.db.read(ensure).await?;
    let read = in_passes(forge, who.actor, |pass| {
        let (asked, own) = (request.clone(), forge.clone());
        forge.git_read(facts.id, move |reader| {
            let mut context = run_context(&own, reader, &asked)?;
            let compiled = compile_config(&own, reader, &mut context, &pass)?;
            Ok((context, compiled))
        })
    });
    let (context, compiled) = match read.await {
        Err(gone) if gone.is_not_found("Repository") => return Err(refusal("Reference not found")),
        read => read?,
    };
    let new = NewPipeline {
        schedule: request.schedule,
        schedule_run: request.schedule_run,
        trigger: request.trigger,
        parent: request.parent,
        ..new_pipeline(&context)
    };
    let compiled = validated(forge, &context.facts, &new, compiled).await?;
    // Who asks by hand is told what is wrong; nobody else would hear it.
    let by_hand = matches!(new.source, Source::Api | Source::Web);
    let content = kept_content(compiled, !by_hand)?;
    let place = context.guarded_place();
    let vault = forge.vault.clone();
    let made =
        forge.db.write(move |tx| create_checked(tx, &vault, (&who, &place), new.clone(), &content));
    made.await
}

/// A newer pipeline ends some 3,000 older ones at most, ten in each round.
const MOST_ROUNDS: usize = 300;

pub(super) const MISSING: &str = "Missing CI config file";

/// What a pipeline holds; where `keeps` says so, one without jobs tells what is wrong.
///
/// # Errors
/// `BadRequest` on `base` with the sentence, where there is to be none.
pub(super) fn kept_content(compiled: CompileResult, keeps: bool) -> Result<Content> {
    match compiled {
        CompileResult::Content(content) => Ok(content),
        CompileResult::Missing => Err(refusal(MISSING)),
        CompileResult::Refused { sentence, reason, kept: true } if keeps => {
            Ok(Content::Broken { reason, sentence })
        }
        CompileResult::Refused { sentence, .. } | CompileResult::Empty { sentence, .. } => {
            Err(refusal(&sentence))
        }
    }
}

pub(super) fn refusal(sentence: &str) -> Error {
    Error::invalid("base", sentence)
}

pub(super) fn new_pipeline(context: &RunContext) -> NewPipeline {
    NewPipeline {
        iid: context.iid,
        before_sha: context.before.map(|before| before.to_string()),
        tip: context.tip.map(|tip| tip.to_string()),
        merge_request: context.merge_request.as_ref().map(|row| row.id),
        config_source: context.config_source,
        variables: context.variables.clone(),
        ..NewPipeline::of(
            context.facts.id,
            &context.commit.to_string(),
            context.place.clone(),
            context.source,
            context.user,
        )
    }
}

/// Makes the rows, where whoever it runs for may still have it run for that branch or tag, and ends what it replaces.
pub(super) fn create_checked(
    tx: &mut Tx<'_>,
    vault: &Vault,
    (who, place): (&Standing, &PipelineRef),
    new: NewPipeline,
    content: &Content,
) -> Result<Pipeline> {
    let guarded = Refs.guarded(tx, who, new.project, place)?;
    if guarded.protected && !guarded.open {
        return Err(refusal(&closed(&place.name)));
    }
    ensure_variables(tx, who, new.project, new.source, &new.variables)?;
    let cancels = tx.project_settings(new.project)?.auto_cancel_pending_pipelines;
    let new = NewPipeline { protected: guarded.protected, ..new };
    // Others may have made one since the configuration was compiled, also the same push for another ref.
    let (settings, by) = (tx.settings()?, (new.project, new.user, new.source));
    if let Some(sentence) = rate_excess(tx, &settings, by, &new.sha)? {
        return Err(refusal(sentence));
    }
    let excess = within_active_jobs(tx, &settings, &new, content)?;
    let content = excess.as_ref().unwrap_or(content);
    let tip = new.tip.clone();
    let pipeline = create(tx, vault, new, content)?;
    let ends_older = cancels == Switch::Enabled && matches!(content, Content::Jobs(_));
    if ends_older && cancel_outdated(tx, &pipeline, tip.as_deref())? {
        tx.enqueue(&CancelOutdatedPipelines { pipeline: pipeline.id })?;
    }
    Ok(pipeline)
}

/// Ends older pipelines of the same ref, where they are too many for the transaction that makes a newer one.
#[derive(Debug, Serialize, Deserialize)]
pub struct CancelOutdatedPipelines {
    pipeline: PipelineId,
}

impl Job for CancelOutdatedPipelines {
    const KIND: &'static str = "pipeline.cancel_outdated";

    fn unique_key(&self) -> Option<String> {
        Some(self.pipeline.to_string())
    }
}

pub(crate) async fn cancel_outdated_pipelines(
    forge: Forge,
    job: CancelOutdatedPipelines,
) -> Result<()> {
    let id = job.pipeline;
    let found = forge.db.read(move |tx| Ok(tx.pipelines_by_id(&[id])?.remove(&id))).await?;
    let Some(pipeline) = found else { return Ok(()) };
    let place = pipeline.place();
    let at = forge.git_read(pipeline.project_id, move |reader| tip(reader, &place)).await;
    let at = match at {
        Err(gone) if gone.is_not_found("Repository") => return Ok(()),
        at => at?.map(|tip| tip.to_string()),
    };
    for _ in 0..MOST_ROUNDS {
        let at = at.clone();
        let some = move |tx: &mut Tx<'_>| match tx.pipelines_by_id(&[id])?.remove(&id) {
            Some(pipeline) => cancel_outdated(tx, &pipeline, at.as_deref()),
            None => Ok(false),
        };
        if !forge.db.write(some).await? {
            break;
        }
    }
    Ok(())
}

pub(super) fn closed(name: &str) -> String {
    format!(
        "You do not have sufficient permission to run a pipeline on '{name}'. Please select a different branch or contact your administrator for assistance."
    )
}

/// Whether whoever asks may set these variables. Those of a schedule are kept by people who may, and a child belongs to
/// the pipeline that makes it.
pub(super) fn ensure_variables(
    tx: &mut Tx<'_>,
    who: &Standing,
    project: ProjectId,
    source: Source,
    variables: &[PipelineVariable],
) -> Result<()> {
    let own = matches!(source, Source::Schedule | Source::ParentPipeline);
    // What a trigger call was sent with is no variable of the caller's.
    let is_payload = |one: &PipelineVariable| {
        let by_call = matches!(source, Source::Trigger | Source::Pipeline);
        by_call && one.key == PAYLOAD && one.variable_type == VariableType::File
    };
    if own || variables.iter().all(is_payload) {
        return Ok(());
    }
    if !who.is(Maintainer) && Projects.restricts_variables(tx, project)? {
        return Err(refusal("Insufficient permissions to set pipeline variables"));
    }
    PipelineVariable::ensure_sound(variables)
}

/// The branch or tag, the commit at which it is, and how it is protected.
fn run_context(forge: &Forge, reader: &Reader, request: &Request) -> Result<RunContext> {
    let (place, commit) = place(reader, &request.ref_name)?.map_err(refusal)?;
    let (who, project) = (request.who, request.facts.id);
    let guarded = forge.db.read_blocking(|tx| Refs.guarded(tx, &who, project, &place))?;
    if guarded.protected && !guarded.open {
        return Err(refusal(&closed(&place.name)));
    }
    Ok(RunContext {
        facts: Arc::clone(&request.facts),
        user: who.actor.id,
        actor: who.actor,
        source: request.source,
        shown: place.name.clone(),
        kind: if place.tag { RefKind::Tag } else { RefKind::Branch },
        place,
        commit,
        before: None,
        tip: None,
        iid: None,
        protected: guarded.protected,
        variables: request.variables.clone(),
        merge_request: None,
        text: None,
        parent: None,
        config_source: None,
        inherited: Vec::new(),
    })
}

/// What a name means: a branch or a tag, by its short or its full name; or why no pipeline is made for it.
pub(super) fn place(
    reader: &Reader,
    name: &str,
) -> Result<std::result::Result<(PipelineRef, Oid), &'static str>> {
    let (branch, tag) = match (name.strip_prefix("refs/heads/"), name.strip_prefix("refs/tags/")) {
        (Some(branch), _) => (Some(branch), None),
        (None, Some(tag)) => (None, Some(tag)),
        (None, None) => (Some(name), Some(name)),
    };
    let mut found = Vec::new();
    for (name, tag) in [(branch, false), (tag, true)] {
        let Some(name) = name else { continue };
        let full = if tag { RefName::tag(name) } else { RefName::branch(name) };
        let Ok(full) = full else { continue };
        let place = PipelineRef { name: name.to_owned(), tag };
        found.extend(reader.find_reference(&full)?.map(|at| (place, at.commit)));
    }
    // A tag may be of a file or a folder.
    let is_no_commit = found.iter().any(|(_, commit)| commit.is_none());
    Ok(match (found.pop(), found.pop()) {
        (None, _) => Err("Reference not found"),
        _ if is_no_commit => Err("Commit not found"),
        (Some((place, Some(commit))), None) => Ok((place, commit)),
        (Some(_), _) => Err("Ref is ambiguous"),
    })
}
