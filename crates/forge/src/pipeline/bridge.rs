//! A bridge with all that decides about the pipeline that it makes.

use std::collections::HashMap;

use ci::{
    Status,
    config::{
        options::Trigger,
        variables::{UnknownVariable, Variable, expand, expanded, in_scope},
    },
    job::{Job, JobSpec, JobStore as _, SpecStore as _},
    pipeline::{
        Pipeline, PipelineStore as _, PipelineVariable, PipelineVariableStore as _, Source,
    },
    report::InheritedVariableStore as _,
};
use db::Tx;
use deployments::environment::{Environment, EnvironmentStore as _};
use kernel::{Error, Result, ids::JobId};
use org::access::IdOrPath;
use repo::git::Reader;
use review::merge_request::{MergeRequest, MergeRequestStore as _};
use secrets::Vault;

use super::{
    compile::RunContext,
    config::server,
    job_identity::of_itself,
    upstream::Downstream,
    variables::{all_variables, created_at, stored_variables},
};
use crate::{
    Forge,
    user::standing::{PersonInProject, person_in_project},
};

/// More pipelines above one are not looked at: what is decided by them was decided before.
const MOST_ABOVE: usize = 100;

#[derive(Clone, Debug)]
pub(super) struct Bridge {
    pub job: Job,
    pub spec: JobSpec,
    pub pipeline: Pipeline,
    /// Set for the pipeline of the bridge.
    variables: Vec<PipelineVariable>,
    pub merge_request: Option<MergeRequest>,
    /// What the jobs hand on on which it depends.
    inherited: Vec<(String, String)>,
    /// Where it deploys to, once that is there.
    environment: Option<Environment>,
    /// The value of every variable that a job in the place of the bridge would have.
    values: HashMap<String, String>,
}

impl Bridge {
    pub(super) fn trigger(&self) -> Option<&Trigger> {
        self.spec.options.trigger.as_ref()
    }

    /// The project whose pipeline it follows, where it makes none itself.
    pub(super) fn upstream_project(&self) -> Option<&str> {
        let options = &self.spec.options;
        let need = options.bridge_needs.as_ref().filter(|_| options.trigger.is_none());
        need.map(|need| need.pipeline.as_str())
    }

    /// What the pipeline is told: variables of the configuration, and those of the pipeline where `forward` says so.
    pub(super) fn passed(&self) -> Vec<PipelineVariable> {
        let forward = self.trigger().and_then(|trigger| trigger.forward.clone());
        let forward = forward.unwrap_or_default();
        let mut passed: Vec<PipelineVariable> = Vec::new();
        if forward.yaml_variables.unwrap_or(true) {
            let own = self.spec.variables.iter();
            passed.extend(own.map(|one| {
                let value = match one.raw {
                    true => one.value.clone(),
                    false => self.written_out(&one.value),
                };
                PipelineVariable { raw: one.raw, ..PipelineVariable::plain(&one.key, value) }
            }));
        }
        if forward.pipeline_variables.unwrap_or(false) {
            passed.retain(|one| self.variables.iter().all(|other| other.key != one.key));
            passed.extend(self.variables.iter().cloned());
        }
        passed
    }

    /// A text with the variables of the bridge in the place of their names.
    pub(super) fn written_out(&self, text: &str) -> String {
        let known = |name: &str| self.values.get(name).map(String::as_str);
        expand(text, &known, UnknownVariable::Vanishes).into_owned()
    }
}

/// A bridge that waits for its pipeline.
pub(super) fn waiting_bridge(tx: &mut Tx<'_>, vault: &Vault, id: JobId) -> Result<Option<Bridge>> {
    if is_done(tx, id)? {
        return Ok(None);
    }
    let job = tx.job(id)?;
    let spec = match job.spec_id {
        Some(spec) => tx.spec(spec)?,
        None => JobSpec::default(),
    };
    let pipeline = tx.find_pipeline(job.project_id, job.pipeline_id)?.ok_or_else(Error::missing)?;
    let variables = tx.pipeline_variables(vault, pipeline.id)?;
    let merge_request = match pipeline.merge_request_id {
        Some(id) => tx.merge_requests_in_order(&[id.0])?.pop(),
        None => None,
    };
    let environment = match &job.environment {
        Some(name) => tx.environment_named(job.project_id, name)?,
        None => None,
    };
    let (inherited, values) = (Vec::new(), HashMap::new());
    Ok(Some(Bridge {
        job,
        spec,
        pipeline,
        variables,
        merge_request,
        inherited,
        environment,
        values,
    }))
}

/// Whether somebody else moved the bridge on, or its pipeline is there.
pub(super) fn is_done(tx: &mut Tx<'_>, id: JobId) -> Result<bool> {
    let waits = tx.find_any_job(id)?.is_some_and(|job| job.status == Status::Pending);
    Ok(!waits || !tx.pipelines_of_bridges(&[id])?.is_empty())
}

/// The bridge with the values of its variables; `None` where nobody is there any more for whom it runs.
pub(super) async fn with_variables(forge: &Forge, bridge: &Bridge) -> Result<Option<Bridge>> {
    let Some(user) = bridge.job.user_id else { return Ok(None) };
    let (project, seen, vault) = (bridge.job.project_id, bridge.clone(), forge.vault.clone());
    let found = forge.db.read(move |tx| {
        let named = IdOrPath::Id(project.0);
        let Some(person) = person_in_project(tx, user, &named)? else { return Ok(None) };
        let (pipeline, variables) = (&seen.pipeline, &seen.variables[..]);
        let downstream = Downstream { facts: &person.facts, pipeline, variables };
        let upstream = downstream.upstream(tx, &seen.job, &seen.spec)?;
        let inherited = tx.inherited_variables(&vault, &upstream.ids())?;
        Ok(Some((person, Bridge { inherited, ..seen.clone() })))
    });
    let Some((person, bridge)) = found.await? else { return Ok(None) };
    let (own, seen) = (forge.clone(), bridge.clone());
    let values = forge.git_read(project, move |reader| values(&own, reader, &seen, person)).await?;
    Ok(Some(Bridge { values, ..bridge }))
}

/// What the bridge's pipeline was compiled with, and the variables that the configuration gives the bridge.
fn values(
    forge: &Forge,
    reader: &Reader,
    bridge: &Bridge,
    person: PersonInProject,
) -> Result<HashMap<String, String>> {
    let (variables, merge_request) = (bridge.variables.clone(), bridge.merge_request.clone());
    let context = RunContext {
        inherited: bridge.inherited.clone(),
        ..RunContext::of_job(&bridge.job, &bridge.pipeline, variables, merge_request, person)?
    };
    let kept = forge.db.read_blocking(|tx| stored_variables(tx, forge, &context))?;
    let commit = context.read_commit(reader)?;
    let known = all_variables(&server(forge), &context, &commit, kept);
    let mut all = identity(forge, bridge, &context.facts.full_path);
    all.extend(of_itself(&bridge.job, &bridge.spec, bridge.environment.as_ref()));
    all.extend(known.beneath);
    all.extend(bridge.spec.variables.iter().cloned());
    let environment = bridge.job.environment.as_deref();
    all.extend(in_scope(&known.above, environment).into_iter().cloned());
    Ok(expanded(&all).into_iter().map(|one| (one.key, one.value)).collect())
}

/// What tells the bridge and its pipeline from others: children find their parent by it.
fn identity(forge: &Forge, bridge: &Bridge, path: &str) -> Vec<Variable> {
    let pipeline = &bridge.pipeline;
    let url = forge.urls.at(path);
    vec![
        Variable::public("CI_PIPELINE_ID", pipeline.id.to_string()),
        Variable::public("CI_PIPELINE_IID", pipeline.iid.to_string()),
        Variable::public("CI_PIPELINE_URL", format!("{url}/-/pipelines/{}", pipeline.id)),
        created_at(pipeline.created_at),
    ]
}

/// A pipeline and those that made it, the nearest first.
pub(super) fn line(tx: &mut Tx<'_>, pipeline: Pipeline) -> Result<Vec<Pipeline>> {
    let mut line = vec![pipeline];
    while let Some(parent) = line.last().and_then(|last| last.parent_job_id) {
        let Some(job) = tx.find_any_job(parent)?.filter(|_| line.len() < MOST_ABOVE) else { break };
        let Some(above) = tx.find_pipeline(job.project_id, job.pipeline_id)? else { break };
        line.push(above);
    }
    Ok(line)
}

/// How many of a line made one another as children.
pub(super) fn depth(line: &[Pipeline]) -> usize {
    line.iter().take_while(|one| one.source == Source::ParentPipeline).count()
}
