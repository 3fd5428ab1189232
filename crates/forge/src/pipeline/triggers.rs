//! Pipelines that programs create with a trigger token, and jobs with their own.

use std::sync::Arc;

use ci::{
    Status,
    job::{Job, JobToken, token::job_of_token},
    pipeline::{Parent, Pipeline, PipelineStore as _, PipelineVariable, Source, VariableType},
    trigger::{Trigger, TriggerStore as _, TriggerToken, actions::find},
};
use db::Tx;
use kernel::{Error, Result, Standing, access::ProjectFacts};
use org::access::IdOrPath;
use secrets::Secret;

use super::make::{Request, make};
use crate::{Forge, user::standing::person_in_project};

/// Key of the file variable with the parameters of the call.
const PAYLOAD: &str = "TRIGGER_PAYLOAD";

/// A call with a token.
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

/// Creates a pipeline with the permissions of the owner of the trigger, or of whoever the job runs for.
///
/// # Errors
/// `Hidden` when the token is unknown, its trigger belongs to another project, or its owner cannot read the project;
/// `Unauthenticated` when its job does not run any more.
pub async fn run_trigger(
    forge: &Forge,
    call: TriggerCall,
) -> Result<(Arc<ProjectFacts>, Pipeline)> {
    let TriggerCall { project, token, ref_name, mut variables, payload } = call;
    let opened = forge.db.read(move |tx| open(tx, &project, &token)).await?;
    let Opened { cause, facts, who } = opened.ok_or(Error::Hidden)?;
    variables.push(PipelineVariable {
        variable_type: VariableType::File,
        ..PipelineVariable::plain(PAYLOAD, payload)
    });
    let (source, trigger, parent) = match cause {
        Cause::Trigger(trigger) => (Source::Trigger, Some(trigger.id), None),
        Cause::Job(parent) => (Source::Pipeline, None, Some(parent)),
    };
    let request = Request {
        facts: Arc::clone(&facts),
        who,
        source,
        ref_name,
        variables,
        schedule: None,
        schedule_run: None,
        trigger,
        parent,
    };
    if let Some(id) = trigger {
        forge.db.write(move |tx| tx.note_use_of_trigger(id)).await?;
    }
    Ok((facts, make(forge, request).await?))
}

/// What a token is of.
enum Cause {
    Trigger(Trigger),
    Job(Parent),
}

/// A project, with who may do what there because of a token.
struct Opened {
    cause: Cause,
    facts: Arc<ProjectFacts>,
    who: Standing,
}

fn open(tx: &mut Tx<'_>, project: &IdOrPath, token: &Secret) -> Result<Option<Opened>> {
    if let Some(trigger) = find(tx, &TriggerToken::given(token.reveal()))? {
        let owner = person_in_project(tx, trigger.owner_id, project)?;
        let owner = owner.filter(|owner| owner.facts.id == trigger.project_id);
        let cause = Cause::Trigger(trigger);
        return Ok(owner.map(|owner| Opened { cause, facts: owner.facts, who: owner.who }));
    }
    let Some(job) = job_of_token(tx, &JobToken::given(token.reveal()))? else { return Ok(None) };
    if job.status != Status::Running {
        return Err(Error::Unauthenticated);
    }
    let Some(user) = job.user_id else { return Ok(None) };
    let Some(person) = person_in_project(tx, user, project)? else { return Ok(None) };
    let cause = Cause::Job(parent(tx, &job)?);
    Ok(Some(Opened { cause, facts: person.facts, who: person.who }))
}

/// The job as what makes a pipeline.
fn parent(tx: &mut Tx<'_>, job: &Job) -> Result<Parent> {
    let own = tx.find_pipeline(job.project_id, job.pipeline_id)?.ok_or(Error::Missing)?;
    Ok(Parent { bridge: job.id, root: own.root() })
}
