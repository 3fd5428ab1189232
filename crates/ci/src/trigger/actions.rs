//! Reading, making, changing and taking away triggers.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    audit::{AuditPlace, AuditRecord},
    ids::TriggerId,
    page::{Page, PageRequest},
};
use secrets::{Secret, Vault};

use super::{Trigger, TriggerStore as _, TriggerToken};
use crate::{
    policy::{ChangeTriggers, ReadTriggers},
    ports::{PlanLimits, excess},
};

const LONGEST: usize = 255;

/// A page of a project's triggers.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadTriggers>,
    page: PageRequest,
) -> Result<Page<Trigger>> {
    tx.triggers(grant.project(), page)
}

pub fn read(tx: &mut Tx<'_>, grant: &Grant<ReadTriggers>, id: TriggerId) -> Result<Trigger> {
    tx.trigger(grant.project(), id)
}

pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeTriggers>,
    limits: &impl PlanLimits,
    vault: &Vault,
    description: String,
    token: &TriggerToken,
) -> Result<Trigger> {
    check(&description)?;
    let digest = token.digest();
    let place = Trigger::place(grant.project(), &digest);
    let sealed = vault.seal(&place, &Secret::new(token.reveal())).map_err(Error::internal)?;
    let made = tx.insert_trigger(&Trigger {
        id: TriggerId(0),
        project_id: grant.project(),
        owner_id: grant.user()?,
        token_digest: digest,
        sealed,
        description,
        last_used_at: None,
        created_at: tx.now,
        updated_at: tx.now,
    })?;
    let (count, limit) = (tx.count_triggers(grant.project())?, limits.triggers(tx)?);
    if let Some(text) = excess("pipeline triggers", count, limit) {
        return Err(Error::invalid("base", text));
    }
    record(tx, &made, AuditRecord::addition("pipeline_trigger_created", audit_place(&made), WHAT));
    Ok(made)
}

const WHAT: &str = "pipeline_trigger";

fn audit_place(trigger: &Trigger) -> AuditPlace {
    AuditPlace::Project(trigger.project_id)
}

/// Writes down who did it, and nothing of the token.
fn record(tx: &mut Tx<'_>, trigger: &Trigger, action: AuditRecord) {
    tx.mention(action.target("Ci::Trigger", trigger.id.0, &trigger.description));
}

/// Changes a trigger, which only its owner may. What changes nothing leaves no trace.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeTriggers>,
    id: TriggerId,
    description: Option<String>,
) -> Result<Trigger> {
    let before = tx.trigger(grant.project(), id)?;
    if grant.user()? != before.owner_id {
        return Err(Error::forbidden());
    }
    let description = description.unwrap_or_else(|| before.description.clone());
    check(&description)?;
    if description == before.description {
        return Ok(before);
    }
    let after = Trigger { description, updated_at: tx.now, ..before };
    tx.update_trigger(&after)?;
    record(tx, &after, AuditRecord::change("pipeline_trigger_updated", audit_place(&after), WHAT));
    Ok(after)
}

/// Takes a trigger away, unless it changed after `unmodified_since`.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeTriggers>,
    id: TriggerId,
    unmodified_since: Option<Ts>,
) -> Result<()> {
    let trigger = tx.trigger(grant.project(), id)?;
    trigger.updated_at.ensure_unchanged_since(unmodified_since)?;
    tx.delete_trigger(id)?;
    record(
        tx,
        &trigger,
        AuditRecord::removal("pipeline_trigger_deleted", audit_place(&trigger), WHAT),
    );
    Ok(())
}

/// Returns the trigger with this token, in whatever project.
pub fn find(tx: &mut Tx<'_>, token: &TriggerToken) -> Result<Option<Trigger>> {
    tx.find_trigger(&token.digest())
}

fn check(description: &str) -> Result<()> {
    let mut faults = Faults::default();
    faults.at_most("description", Some(description), LONGEST);
    faults.into_result()
}
