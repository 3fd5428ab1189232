//! Bridges: a job that makes a pipeline of its own, here as a child or in another project.

use std::{collections::HashSet, sync::Arc, time::Duration};

use ci::{
    Status,
    bridge::{downstream_made, follow_again},
    config::input::RefKind,
    event::JobMove,
    job::{End, JobKind, progress},
    pipeline::{Content, NewPipeline, Parent, PipelineRef, PipelineStore as _, Source},
    policy::CreatePipelines,
    ports::Refs as _,
};
use db::Tx;
use kernel::{
    Ability as _, Result, Standing,
    access::ProjectFacts,
    ids::{JobId, PipelineId},
};
use org::{access::IdOrPath, settings::store::SettingsStore as _};
use repo::git::{Oid, Reader, RefName};
use review::merge_request::MergeRequest;
use serde::{Deserialize, Serialize};
use worker::{Job as Work, Queue as _};

use super::{
    bridge::{Bridge, depth, is_done, line, waiting_bridge, with_variables},
    compile::{CompileResult, RunContext, compile_config},
    make::{create_checked, kept_content, new_pipeline},
    mirror::mirror_upstream,
    remote_files::{CompilePass, in_passes},
    validation::validated,
};
use crate::{
    Forge,
    external_authorization::is_admitted,
    ports::ci::Refs,
    user::standing::{PersonInProject, person_in_project},
};

/// Children of children of children are not made.
const DEEPEST: usize = 2;

/// Why a bridge fails whose pipeline cannot be made.
const CREATION_FAILED: &str = "downstream_pipeline_creation_failed";
const NO_PROJECT: &str = "downstream_bridge_project_not_found";
const NO_RIGHT: &str = "insufficient_bridge_permissions";

/// Makes the pipeline of a bridge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MakeDownstream {
    pub pipeline: PipelineId,
    pub bridge: JobId,
}

impl Work for MakeDownstream {
    const KIND: &'static str = "pipeline.make_downstream";

    fn unique_key(&self) -> Option<String> {
        Some(format!("{}:{}", self.pipeline, self.bridge))
    }
}

/// In the transaction in which bridges of a pipeline may begin.
pub(crate) fn begin_bridges(tx: &mut Tx<'_>, pipeline: PipelineId, jobs: &[JobMove]) -> Result<()> {
    let begin = |one: &&JobMove| one.kind == JobKind::Bridge && one.status == Status::Pending;
    for one in jobs.iter().filter(begin) {
        tx.enqueue(&MakeDownstream { pipeline, bridge: one.job })?;
    }
    Ok(())
}

/// Whoever made a pipeline waits so long for the pipelines of its bridges.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Makes what the bridges of a pipeline wait for, for somebody who wants to see it. What takes long goes on without them,
/// and what fails is left to the queue: the pipeline itself is there.
pub async fn run_now(forge: &Forge, pipeline: PipelineId) {
    let own = forge.clone();
    let keys = vec![format!("{}:{pipeline}", MakeDownstream::KIND)];
    let made = db::spawn(async move { own.worker().run_now(keys).await });
    match tokio::time::timeout(LONGEST_WAIT, made).await {
        Ok(Ok(Ok(()))) => {}
        Err(_elapsed) => tracing::info!(%pipeline, "bridges are still at work"),
        Ok(failed) => tracing::warn!(%pipeline, ?failed, "bridges are left to the queue"),
    }
}

/// Makes the pipeline of a bridge, or says on the bridge why there is none.
pub(crate) async fn make_downstream(forge: Forge, work: MakeDownstream) -> Result<()> {
    let id = work.bridge;
    let vault = forge.vault.clone();
    let Some(bridge) = forge.db.read(move |tx| waiting_bridge(tx, &vault, id)).await? else {
        return forge.db.write(move |tx| follow_again(tx, id)).await;
    };
    if bridge.upstream_project().is_some() {
        return mirror_upstream(&forge, &bridge).await;
    }
    match prepared(&forge, &bridge).await? {
        Ok((who, place, new, content)) => {
            let vault = forge.vault.clone();
            let made = forge.db.write(move |tx| {
                if is_done(tx, id)? {
                    return Ok(());
                }
                let made = create_checked(tx, &vault, (&who, &place), new.clone(), &content)?;
                // It says what is wrong, and never goes on: who waits for it would do so for ever.
                match made.failure_reason {
                    Some(_) => progress::finish(tx, id, End::failed(CREATION_FAILED)).map(drop),
                    None => downstream_made(tx, id),
                }
            });
            match made.await {
                Err(refused) if refused.is_invalid() => fail(&forge, id, CREATION_FAILED).await,
                made => made,
            }
        }
        Err(reason) => fail(&forge, id, reason).await,
    }
}

async fn fail(forge: &Forge, id: JobId, reason: &'static str) -> Result<()> {
    let failed = forge.db.write(move |tx| {
        if is_done(tx, id)? {
            return Ok(());
        }
        progress::finish(tx, id, End::failed(reason)).map(drop)
    });
    failed.await
}

/// For whom, the branch or tag whose protection counts, and what.
type Ready = (Standing, PipelineRef, NewPipeline, Content);

/// What is to be made, or the reason of the bridge's failure.
async fn prepared(
    forge: &Forge,
    bridge: &Bridge,
) -> Result<std::result::Result<Ready, &'static str>> {
    let Some(bridge) = with_variables(forge, bridge).await? else {
        return Ok(Err(NO_RIGHT));
    };
    let seen = bridge.clone();
    let found = forge.db.read(move |tx| target(tx, &seen)).await?;
    let (facts, who) = match found {
        Ok(found) => found,
        Err(reason) => return Ok(Err(reason)),
    };
    // Whoever may not enter the other project does not get to know that it is there.
    if facts.id != bridge.job.project_id && !is_admitted(forge, who.actor, facts.id).await? {
        return Ok(Err(NO_PROJECT));
    }
    let read = in_passes(forge, who.actor, |pass| {
        let (own, bridge, at) = (forge.clone(), bridge.clone(), Arc::clone(&facts));
        forge.git_read(facts.id, move |reader| content(&own, reader, &pass, &bridge, at, who))
    });
    let ready = match read.await {
        Err(gone) if gone.is_not_found("Repository") => return Ok(Err(CREATION_FAILED)),
        read => read?,
    };
    let Some((place, new, compiled)) = ready else { return Ok(Err(CREATION_FAILED)) };
    let compiled = validated(forge, &facts, &new, compiled).await?;
    let Ok(content) = kept_content(compiled, true) else { return Ok(Err(CREATION_FAILED)) };
    Ok(Ok((who, place, new, content)))
}

type Target = (Arc<ProjectFacts>, Standing);

/// Where the pipeline is made. In the order of the checks: found, valid, depth, size, right, loop.
fn target(tx: &mut Tx<'_>, bridge: &Bridge) -> Result<std::result::Result<Target, &'static str>> {
    let Some(trigger) = bridge.trigger() else { return Ok(Err("invalid_bridge_trigger")) };
    let Some(user) = bridge.job.user_id else { return Ok(Err(NO_RIGHT)) };
    let named = match &trigger.project {
        Some(path) => IdOrPath::Path(bridge.written_out(path)),
        None => IdOrPath::Id(bridge.job.project_id.0),
    };
    let Some(person) = person_in_project(tx, user, &named)? else {
        return Ok(Err(NO_PROJECT));
    };
    let PersonInProject { facts, who, .. } = person;
    let is_child = trigger.project.is_none();
    if !is_child && facts.id == bridge.job.project_id {
        return Ok(Err("invalid_bridge_trigger"));
    }
    let line = line(tx, bridge.pipeline.clone())?;
    if is_child && depth(&line) >= DEEPEST {
        return Ok(Err("reached_max_descendant_pipelines_depth"));
    }
    let largest = tx.settings()?.plan_limits.pipeline_hierarchy_size;
    if largest > 0 && tx.family_size(bridge.pipeline.root())? >= largest {
        return Ok(Err("reached_max_pipeline_hierarchy_size"));
    }
    if !may_make(tx, bridge, &facts, &who)? {
        return Ok(Err(NO_RIGHT));
    }
    let mut seen = HashSet::new();
    let mut others = line.iter().filter(|one| one.source != Source::ParentPipeline);
    if !is_child && others.any(|one| !seen.insert((one.project_id, &one.ref_name, one.source))) {
        return Ok(Err("pipeline_loop_detected"));
    }
    Ok(Ok((facts, who)))
}

/// Whether whoever the bridge runs for may make pipelines there, also for that branch or tag.
fn may_make(
    tx: &mut Tx<'_>,
    bridge: &Bridge,
    facts: &ProjectFacts,
    who: &Standing,
) -> Result<bool> {
    if !CreatePipelines::allows(who) {
        return Ok(false);
    }
    // Without a branch there is nothing to be protected: it is told of where the pipeline is made.
    let Some(place) = place(bridge, facts) else { return Ok(true) };
    let guarded = Refs.guarded(tx, who, facts.id, &guarded_place(bridge, &place))?;
    Ok(!guarded.protected || guarded.open)
}

/// The ref of the pipeline that a bridge makes; `None` where the other project has no branch.
fn place(bridge: &Bridge, facts: &ProjectFacts) -> Option<PipelineRef> {
    let trigger = bridge.trigger().cloned().unwrap_or_default();
    if trigger.project.is_none() {
        return Some(bridge.pipeline.place());
    }
    let named = trigger.branch.as_ref().map(|name| bridge.written_out(name));
    let name = named.or_else(|| facts.default_branch.clone())?;
    Some(PipelineRef { name, tag: false })
}

/// The branch or tag whose protection counts: for a child of a merge request's pipeline the branch that is proposed.
fn guarded_place(bridge: &Bridge, place: &PipelineRef) -> PipelineRef {
    match own_merge_request(bridge) {
        Some(row) => PipelineRef { name: row.source_branch.clone(), tag: place.tag },
        None => place.clone(),
    }
}

/// The merge request that a child is for, as the pipeline is that makes it.
fn own_merge_request(bridge: &Bridge) -> Option<&MergeRequest> {
    let is_child = bridge.trigger().is_none_or(|trigger| trigger.project.is_none());
    bridge.merge_request.as_ref().filter(|_| is_child)
}

fn content(
    forge: &Forge,
    reader: &Reader,
    pass: &CompilePass,
    bridge: &Bridge,
    facts: Arc<ProjectFacts>,
    who: Standing,
) -> Result<Option<(PipelineRef, NewPipeline, CompileResult)>> {
    let Some(mut context) = run_context(forge, reader, bridge, facts, who)? else {
        return Ok(None);
    };
    let compiled = compile_config(forge, reader, &mut context, pass)?;
    let parent = Parent { bridge: bridge.job.id, root: bridge.pipeline.root() };
    let new = NewPipeline { parent: Some(parent), ..new_pipeline(&context) };
    Ok(Some((context.guarded_place(), new, compiled)))
}

/// `None` where the branch is not there.
fn run_context(
    forge: &Forge,
    reader: &Reader,
    bridge: &Bridge,
    facts: Arc<ProjectFacts>,
    who: Standing,
) -> Result<Option<RunContext>> {
    let trigger = bridge.trigger().cloned().unwrap_or_default();
    let own = &bridge.pipeline;
    let is_child = trigger.project.is_none();
    let Some(place) = place(bridge, &facts) else { return Ok(None) };
    let (commit, before) = if is_child {
        let before = own.before_sha.as_deref().map(str::parse).transpose()?;
        (Some(own.sha.parse()?), before)
    } else {
        let at = match RefName::branch(&place.name) {
            Ok(full) => reader.find_reference(&full)?.and_then(|found| found.commit),
            Err(_no_name) => None,
        };
        (at, None)
    };
    let Some(commit): Option<Oid> = commit else { return Ok(None) };
    let project = facts.id;
    let merge_request = own_merge_request(bridge).cloned();
    let kind = match (&merge_request, place.tag) {
        (Some(_), _) => RefKind::MergeRequest,
        (None, true) => RefKind::Tag,
        (None, false) => RefKind::Branch,
    };
    let branch = guarded_place(bridge, &place);
    let guarded = forge.db.read_blocking(|tx| Refs.guarded(tx, &who, project, &branch))?;
    let text = is_child.then(|| serde_json::json!({ "include": trigger.include }).to_string());
    Ok(Some(RunContext {
        facts,
        user: who.actor.id,
        actor: who.actor,
        source: if is_child { Source::ParentPipeline } else { Source::Pipeline },
        place,
        shown: branch.name,
        kind,
        commit,
        before,
        tip: None,
        iid: None,
        protected: guarded.protected,
        variables: bridge.passed(),
        merge_request,
        text,
        parent: is_child.then_some(own.id),
        config_source: None,
        inherited: Vec::new(),
    }))
}
