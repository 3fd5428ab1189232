//! Pipelines that programs create with a trigger token, and jobs with their own.

use std::sync::Arc;

use ci::{
    Status,
    job::{JobToken, token::find_job},
    pipeline::{Parent, Pipeline, PipelineStore as _, PipelineVariable, Source, VariableType},
    trigger::{TriggerStore as _, TriggerToken, actions::find},
};
use db::Tx;
use kernel::{Error, Result, Standing, access::ProjectFacts, ids::TriggerId};
use org::{access::IdOrPath, settings::store::SettingsStore as _};
use secrets::Secret;

use super::make::{Request, make, refusal};
use crate::{Forge, job_token::person_for_job, user::standing::person_in_project};

/// Key of the file variable with the parameters of the call.
pub(super) const PAYLOAD: &str = "TRIGGER_PAYLOAD";

/// A call with a trigger token, or with that of a job.
#[derive(Clone, Debug)]
pub struct TriggerCall {
    pub project: IdOrPath,
    /// Of a trigger, or of a job that runs.
    pub token: Secret,
    pub ref_name: String,
    pub variables: Vec<PipelineVariable>,
    /// All parameters but the token, as JSON.
    pub payload: String,
}

/// Creates a pipeline with the permissions of the owner of the token, or of whoever the job runs for.
///
/// # Errors
/// `NotFound` when the token is unknown, belongs to another project, or its owner cannot read the project;
/// `Unauthenticated` when the job has ended.
pub async fn run_trigger(
    forge: &Forge,
    call: TriggerCall,
) -> Result<(Arc<ProjectFacts>, Pipeline)> {
    let TriggerCall { project, token, ref_name, mut variables, payload } = call;
    let opened = forge.db.read(move |tx| match token.reveal().starts_with(JobToken::PREFIX) {
        true => open_for_job(tx, &project, &JobToken::given(token.reveal())),
        false => open(tx, &project, &TriggerToken::given(token.reveal())),
    });
    let TriggerTarget { facts, who, trigger, parent } = opened.await?.ok_or_else(Error::hidden)?;
    variables.push(PipelineVariable {
        variable_type: VariableType::File,
        ..PipelineVariable::plain(PAYLOAD, payload)
    });
    let request = Request {
        facts: Arc::clone(&facts),
        who,
        source: if parent.is_some() { Source::Pipeline } else { Source::Trigger },
        ref_name,
        variables,
        schedule: None,
        schedule_run: None,
        trigger,
        parent,
    };
    if let Some(id) = trigger {
        forge.db.write(move |tx| tx.record_use_of_trigger(id)).await?;
    }
    Ok((facts, make(forge, request).await?))
}

/// A project in which somebody may ask for a pipeline, and with what.
struct TriggerTarget {
    facts: Arc<ProjectFacts>,
    who: Standing,
    trigger: Option<TriggerId>,
    parent: Option<Parent>,
}

/// The project of a trigger, with its owner's permissions there.
fn open(
    tx: &mut Tx<'_>,
    project: &IdOrPath,
    token: &TriggerToken,
) -> Result<Option<TriggerTarget>> {
    let Some(trigger) = find(tx, token)? else { return Ok(None) };
    let owner = person_in_project(tx, trigger.owner_id, project)?;
    let owner = owner.filter(|owner| owner.facts.id == trigger.project_id);
    Ok(owner.map(|owner| TriggerTarget {
        facts: owner.facts,
        who: owner.who,
        trigger: Some(trigger.id),
        parent: None,
    }))
}

/// A project that lets a job in, with the permissions of whoever it runs for.
fn open_for_job(
    tx: &mut Tx<'_>,
    project: &IdOrPath,
    token: &JobToken,
) -> Result<Option<TriggerTarget>> {
    let Some(job) = find_job(tx, token)? else { return Ok(None) };
    if job.status != Status::Running {
        return Err(Error::unauthenticated());
    }
    let Some(person) = person_for_job(tx, &job, project)? else { return Ok(None) };
    let own = tx.find_pipeline(job.project_id, job.pipeline_id)?.ok_or_else(Error::missing)?;
    // A job that asks for its own pipeline again would never end.
    let largest = tx.settings()?.plan_limits.pipeline_hierarchy_size;
    if largest > 0 && tx.family_size(own.root())? >= largest {
        return Err(refusal("Too many pipelines have created one another"));
    }
    let parent = Some(Parent { bridge: job.id, root: own.root() });
    Ok(Some(TriggerTarget { facts: person.facts, who: person.who, trigger: None, parent }))
}
