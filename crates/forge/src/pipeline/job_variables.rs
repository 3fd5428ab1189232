//! What a job is told that begins: its pipeline, as it was when its configuration was read, and the variables from outside
//! of the configuration as they are now.

use std::sync::Arc;

use ci::{
    config::{input::RefKind, variables::OuterVariables},
    job::{Job, JobSpec, JobVariableStore as _, SpecStore as _},
    pipeline::{Pipeline, PipelineStore as _, PipelineVariableStore as _},
    report::InheritedVariableStore as _,
    trigger::TriggerStore as _,
};
use db::Tx;
use deployments::environment::{Environment, EnvironmentStore as _};
use kernel::{
    Error, Result,
    access::ProjectFacts,
    error::Kind,
    ids::{ProjectId, TriggerId},
};
use org::{
    access::IdOrPath,
    project::settings::{Settings, SettingsStore as _},
};
use repo::git::Reader;
use review::merge_request::MergeRequestStore as _;
use secrets::Vault;

use super::{
    compile::RunContext,
    config::{PipelineCommit, server},
    upstream::{Downstream, Upstream},
    variables::{all_variables, stored_variables},
};
use crate::{Forge, user::standing::person_in_project};

/// A job with all that decides what it is told.
#[derive(Clone, Debug)]
pub(crate) struct JobSource {
    pub(crate) job: Job,
    pub(crate) pipeline: Pipeline,
    pub(crate) spec: JobSpec,
    pub(crate) settings: Settings,
    /// What whoever played it by hand set for it.
    pub(crate) own: Vec<(String, String)>,
    /// The beginning of the trigger token with which its pipeline was made, while there is such a token.
    pub(crate) trigger_token: Option<String>,
    /// The jobs on which it depends.
    pub(crate) upstream: Upstream,
    /// Where it deploys to, once that is there.
    pub(crate) environment: Option<Environment>,
    context: RunContext,
}

impl JobSource {
    pub(crate) fn facts(&self) -> &Arc<ProjectFacts> {
        &self.context.facts
    }

    /// The branch or tag whose commits are fetched.
    pub(crate) fn branch(&self) -> &str {
        &self.context.shown
    }

    pub(crate) fn read_commit(&self, reader: &Reader) -> Result<PipelineCommit> {
        self.context.read_commit(reader)
    }

    pub(crate) fn is_of_merge_request(&self) -> bool {
        self.context.kind == RefKind::MergeRequest
    }

    /// All variables but those of the configuration and of the job itself.
    pub(crate) fn known(&self, forge: &Forge, commit: &PipelineCommit) -> Result<OuterVariables> {
        let stored = forge.db.read_blocking(|tx| stored_variables(tx, forge, &self.context))?;
        Ok(all_variables(&server(forge), &self.context, commit, stored))
    }
}

fn short_token(
    tx: &mut Tx<'_>,
    vault: &Vault,
    project: ProjectId,
    id: TriggerId,
) -> Result<Option<String>> {
    match tx.trigger(project, id) {
        Ok(trigger) => trigger.short_token(vault).map(Some),
        Err(gone) if gone.is_gone() || gone.is_plain(Kind::NotFound) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Loads a job; `None` where nobody is left for whom it could run.
pub(crate) fn job_source(tx: &mut Tx<'_>, vault: &Vault, job: Job) -> Result<Option<JobSource>> {
    let Some(user) = job.user_id else { return Ok(None) };
    let project = IdOrPath::Id(job.project_id.0);
    let Some(person) = person_in_project(tx, user, &project)? else { return Ok(None) };
    let pipeline = tx.find_pipeline(job.project_id, job.pipeline_id)?.ok_or_else(Error::missing)?;
    let merge_request = match pipeline.merge_request_id {
        Some(id) => tx.merge_requests_in_order(&[id.0])?.pop(),
        None => None,
    };
    let variables = tx.pipeline_variables(vault, pipeline.id)?;
    let spec = match job.spec_id {
        Some(spec) => tx.spec(spec)?,
        None => JobSpec::default(),
    };
    let downstream =
        Downstream { facts: &person.facts, pipeline: &pipeline, variables: &variables };
    let upstream = downstream.upstream(tx, &job, &spec)?;
    let inherited = tx.inherited_variables(vault, &upstream.ids())?;
    let context = RunContext {
        inherited,
        ..RunContext::of_job(&job, &pipeline, variables, merge_request, person)?
    };
    let environment = match &job.environment {
        Some(name) => tx.environment_named(job.project_id, name)?,
        None => None,
    };
    let (settings, own) = (tx.project_settings(job.project_id)?, tx.job_variables(vault, job.id)?);
    let trigger_token = match pipeline.trigger_id {
        Some(id) => short_token(tx, vault, pipeline.project_id, id)?,
        None => None,
    };
    Ok(Some(JobSource {
        job,
        pipeline,
        spec,
        settings,
        own,
        trigger_token,
        upstream,
        environment,
        context,
    }))
}
