//! From a commit to what its pipeline holds. Reads git, so it wants a thread that may block.

use std::sync::Arc;

use ci::{
    config::{
        Refusal, compile,
        input::{Limits, PipelineInput, RefKind, Tree as _},
        templates,
    },
    job::Job,
    pipeline::{
        ConfigSource, Content, Pipeline, PipelineRef, PipelineVariable, PlanWithSpecs, Source,
    },
};
use kernel::{
    Actor, Result,
    access::ProjectFacts,
    ids::{PipelineId, UserId},
};
use org::settings::store::SettingsStore as _;
use repo::{
    code_owners::changed_by,
    git::{Oid, Reader, RefName},
};
use review::merge_request::MergeRequest;

use super::config::{
    BorrowedReader, CONFIG_PATH, Files, OtherProjects, PipelineCommit, elsewhere,
    environment_identity, is_address, server,
};
use super::limits;
use super::remote_files::CompilePass;
use super::variables::{StoredVariables, all_variables, created_at, stored_variables};
use crate::{Forge, user::standing::PersonInProject};

/// Everything that decides what a pipeline holds: the commit, the ref, the caller and the source.
#[derive(Clone, Debug)]
pub(super) struct RunContext {
    pub facts: Arc<ProjectFacts>,
    pub user: Option<UserId>,
    pub actor: Actor,
    pub source: Source,
    /// As it is kept; of a merge request the name of its head.
    pub place: PipelineRef,
    /// The branch or tag that the configuration is told.
    pub shown: String,
    pub kind: RefKind,
    pub commit: Oid,
    /// What the ref was before.
    pub before: Option<Oid>,
    /// Where the ref is, once the configuration has been read; `None` where it is gone.
    pub tip: Option<Oid>,
    /// The number of the pipeline in its project, where its configuration may ask for it.
    pub iid: Option<i64>,
    pub protected: bool,
    pub variables: Vec<PipelineVariable>,
    pub merge_request: Option<MergeRequest>,
    /// The configuration, where it is not the one of the commit.
    pub text: Option<String>,
    /// The pipeline whose jobs may have left files for the configuration.
    pub parent: Option<PipelineId>,
    /// Where the configuration came from, once it has been read.
    pub config_source: Option<ConfigSource>,
    /// What other jobs hand on to the one for which it is.
    pub inherited: Vec<(String, String)>,
}

impl RunContext {
    /// What the pipeline of a job was compiled with.
    pub(super) fn of_job(
        job: &Job,
        pipeline: &Pipeline,
        variables: Vec<PipelineVariable>,
        merge_request: Option<MergeRequest>,
        person: PersonInProject,
    ) -> Result<Self> {
        let kind = match (&merge_request, pipeline.tag) {
            (Some(_), _) => RefKind::MergeRequest,
            (None, true) => RefKind::Tag,
            (None, false) => RefKind::Branch,
        };
        let shown = merge_request.as_ref().map_or(&pipeline.ref_name, |row| &row.source_branch);
        let before = pipeline.before_sha.as_deref().filter(|_| is_compared(pipeline.source));
        Ok(Self {
            facts: person.facts,
            user: job.user_id,
            actor: person.who.actor,
            source: pipeline.source,
            place: pipeline.place(),
            shown: shown.clone(),
            kind,
            commit: pipeline.sha.parse()?,
            before: before.map(str::parse).transpose()?,
            tip: None,
            iid: None,
            protected: pipeline.protected,
            variables,
            merge_request,
            text: None,
            parent: None,
            config_source: pipeline.config_source,
            inherited: Vec::new(),
        })
    }

    pub(super) fn read_commit(&self, reader: &Reader) -> Result<PipelineCommit> {
        let tag = (self.kind == RefKind::Tag).then_some(self.shown.as_str());
        PipelineCommit::read(reader, self.commit, tag)
    }

    /// The branch or tag whose protection counts.
    pub(super) fn guarded_place(&self) -> PipelineRef {
        PipelineRef { name: self.shown.clone(), tag: self.place.tag }
    }
}

/// Whether pipelines of the source are compared with what the ref was before: those of pushes, and their children.
fn is_compared(source: Source) -> bool {
    matches!(source, Source::Push | Source::ParentPipeline)
}

/// The result of compiling a configuration.
pub(super) enum CompileResult {
    Content(Content),
    /// There is no configuration.
    Missing,
    /// No job is left but these; that is told once the service that validates pipelines has nothing against it.
    Empty {
        jobs: PlanWithSpecs,
        sentence: String,
    },
    /// There is nothing to do, or it cannot be done; `kept` tells whether a pipeline without jobs says so.
    Refused {
        sentence: String,
        /// The reason for which a pipeline that says so has failed.
        reason: &'static str,
        kept: bool,
    },
}

impl CompileResult {
    /// Nothing is stored: there are too many already.
    fn too_many(sentence: &str) -> Self {
        Self::Refused { sentence: sentence.to_owned(), reason: "config_error", kept: false }
    }

    fn refused(refusal: &Refusal) -> Self {
        Self::Refused {
            sentence: refusal.sentence(),
            reason: refusal.failure_reason(),
            kept: refusal.is_kept(),
        }
    }
}

/// Reads and judges the configuration of a commit, and then where its ref is. Where the configuration may ask for the
/// number of the pipeline, the number is reserved in the context.
pub(super) fn compile_config(
    forge: &Forge,
    reader: &Reader,
    context: &mut RunContext,
    pass: &CompilePass,
) -> Result<CompileResult> {
    let read = forge.db.read_blocking(|tx| {
        let settings = tx.settings()?;
        let by = (context.facts.id, context.user, context.source);
        let sha = context.commit.to_string();
        if let Some(sentence) = limits::rate_excess(tx, &settings, by, &sha)? {
            return Ok(Err(sentence));
        }
        let mut kept = stored_variables(tx, forge, context)?;
        kept.beneath.push(created_at(tx.now));
        let free_jobs = limits::free_jobs(tx, &settings, context.facts.id)?;
        Ok(Ok((kept, Limits { free_jobs, ..limits::limits(&settings) })))
    });
    let (kept, limits) = match read? {
        Ok(read) => read,
        Err(sentence) => return Ok(CompileResult::too_many(sentence)),
    };
    let files =
        Files::new(Some(BorrowedReader(reader)), &context.facts.full_path, Some(context.commit));
    let found = match &context.text {
        Some(text) => Some((text.clone(), ConfigSource::Bridge)),
        None => own_text(&files, &kept)?,
    };
    let Some((text, source)) = found else { return Ok(CompileResult::Missing) };
    context.config_source = Some(source);
    if may_ask_for_iid(&text, &kept) {
        context.iid = Some(pass.reserve_iid(forge, context.facts.id)?);
    }
    let elsewhere = OtherProjects { forge, actor: context.actor, pass, parent: context.parent };
    let compiled = judged(&elsewhere, reader, context, (kept, limits), &files, &text)?;
    context.tip = tip(reader, &context.place)?;
    Ok(compiled)
}

/// The commit at which a branch or tag, or the head of a merge request, is now; `None` where there is none.
pub(super) fn tip(reader: &Reader, place: &PipelineRef) -> Result<Option<Oid>> {
    let name = match (place.name.starts_with("refs/"), place.tag) {
        (true, _) => RefName::full(&place.name),
        (false, true) => RefName::tag(&place.name),
        (false, false) => RefName::branch(&place.name),
    };
    match name {
        Ok(name) => Ok(reader.find_reference(&name)?.and_then(|found| found.commit)),
        Err(_no_name) => Ok(None),
    }
}

/// The configuration of a project at a commit, and where it came from.
fn own_text(
    files: &Files<BorrowedReader<'_>>,
    kept: &StoredVariables,
) -> Result<Option<(String, ConfigSource)>> {
    let path = kept.config_path.as_deref().unwrap_or(CONFIG_PATH);
    if let Some(include) = elsewhere(path) {
        let source = match is_address(path) {
            true => ConfigSource::Remote,
            false => ConfigSource::ExternalProject,
        };
        return Ok(Some((include, source)));
    }
    if let Some(text) = files.text(path)? {
        return Ok(Some((text, ConfigSource::Repository)));
    }
    let template = if kept.has_auto_devops { auto_devops(files)? } else { None };
    Ok(template.map(|text| (text, ConfigSource::AutoDevops)))
}

/// The configuration of Auto DevOps, where the commit has a file by which it knows what to do.
fn auto_devops(files: &Files<BorrowedReader<'_>>) -> Result<Option<String>> {
    for file in templates::BUILD_FILES {
        if files.fingerprint(file)?.is_some() {
            return Ok(templates::find(templates::AUTO_DEVOPS).map(str::to_owned));
        }
    }
    Ok(None)
}

/// Whether the number of the pipeline could be asked for: files that are included are not looked at.
fn may_ask_for_iid(text: &str, kept: &StoredVariables) -> bool {
    let names_it = |text: &str| text.contains("CI_PIPELINE_IID");
    let mut above = kept.above.iter().flatten();
    text.contains("include")
        || names_it(text)
        || above.any(|one| !one.variable.raw && names_it(&one.variable.value))
}

fn judged(
    elsewhere: &OtherProjects<'_>,
    reader: &Reader,
    context: &RunContext,
    (kept, limits): (StoredVariables, Limits),
    files: &Files<BorrowedReader<'_>>,
    text: &str,
) -> Result<CompileResult> {
    let commit = context.read_commit(reader)?;
    let changes = changes(reader, context, text)?;
    let plan = compile(
        text,
        &PipelineInput {
            source: context.source,
            ref_name: &context.shown,
            ref_kind: context.kind,
            project: &context.facts.full_path,
            has_kubernetes: false,
            variables: &all_variables(&server(elsewhere.forge), context, &commit, kept),
            changes: changes.as_deref(),
            tree: files,
            fetch: elsewhere,
            environment: environment_identity,
            deadline: Some(elsewhere.pass.deadline()),
            limits,
        },
    );
    let refusal = match plan.and_then(PlanWithSpecs::new) {
        Ok(plan) => return Ok(CompileResult::Content(Content::Jobs(plan))),
        Err(refusal) => refusal,
    };
    let sentence = refusal.sentence();
    let refusal = match refusal {
        Refusal::Empty(plan) => match PlanWithSpecs::new(*plan) {
            Ok(jobs) => return Ok(CompileResult::Empty { jobs, sentence }),
            Err(refusal) => refusal,
        },
        refusal => refusal,
    };
    match refusal {
        Refusal::Fault(fault) => Err(fault),
        refusal => Ok(CompileResult::refused(&refusal)),
    }
}

/// The paths that differ from what was before, where there is something to compare with and somebody may ask.
fn changes(reader: &Reader, context: &RunContext, text: &str) -> Result<Option<Vec<String>>> {
    if !text.contains("changes") && !text.contains("include") {
        return Ok(None);
    }
    let base = match &context.merge_request {
        Some(row) => row.base_sha.as_deref().and_then(|sha| sha.parse().ok()),
        None if context.kind == RefKind::Branch => {
            context.before.filter(|_| is_compared(context.source))
        }
        None => None,
    };
    let Some(base) = base else { return Ok(None) };
    if reader.is_commit(base)? {
        return Ok(Some(changed_by(reader, base, context.commit)?.into_iter().collect()));
    }
    Ok(None)
}
