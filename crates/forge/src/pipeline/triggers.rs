//! Pipelines that programs create with a trigger token.

use ci::{
    pipeline::{Pipeline, PipelineVariable, Source, VariableType},
    trigger::{Trigger, TriggerStore as _, TriggerToken, actions::find},
};
use db::Tx;
use kernel::{Error, Result, Standing, access::ProjectFacts};
use org::access::IdOrPath;
use std::sync::Arc;

use super::make::{Request, make};
use crate::{Forge, user::standing::person_in_project};

/// Key of the file variable with the parameters of the call.
const PAYLOAD: &str = "TRIGGER_PAYLOAD";

/// A call with a trigger token.
#[derive(Clone, Debug)]
pub struct TriggerCall {
    pub project: IdOrPath,
    pub token: TriggerToken,
    pub ref_name: String,
    pub variables: Vec<PipelineVariable>,
    /// All parameters but the token, as JSON.
    pub payload: String,
}

/// Creates a pipeline with the permissions of the owner of the token.
///
/// # Errors
/// `Hidden` when the token is unknown, belongs to another project, or its owner cannot read the project.
pub async fn run_trigger(
    forge: &Forge,
    call: TriggerCall,
) -> Result<(Arc<ProjectFacts>, Pipeline)> {
    let TriggerCall { project, token, ref_name, mut variables, payload } = call;
    let opened = forge.db.read(move |tx| open(tx, &project, &token)).await?;
    let (trigger, facts, who) = opened.ok_or(Error::Hidden)?;
    variables.push(PipelineVariable {
        variable_type: VariableType::File,
        ..PipelineVariable::plain(PAYLOAD, payload)
    });
    let request = Request {
        facts: Arc::clone(&facts),
        who,
        source: Source::Trigger,
        ref_name,
        variables,
        schedule: None,
        schedule_run: None,
        trigger: Some(trigger.id),
    };
    let id = trigger.id;
    forge.db.write(move |tx| tx.note_use_of_trigger(id)).await?;
    Ok((facts, make(forge, request).await?))
}

/// Returns the trigger with the project and the owner's permissions in it.
fn open(
    tx: &mut Tx<'_>,
    project: &IdOrPath,
    token: &TriggerToken,
) -> Result<Option<(Trigger, Arc<ProjectFacts>, Standing)>> {
    let Some(trigger) = find(tx, token)? else { return Ok(None) };
    let owner = person_in_project(tx, trigger.owner_id, project)?;
    let owner = owner.filter(|owner| owner.facts.id == trigger.project_id);
    Ok(owner.map(|owner| (trigger, owner.facts, owner.who)))
}
