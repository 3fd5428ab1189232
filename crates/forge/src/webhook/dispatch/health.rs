//! The health of a hook after each delivery.

use admin::{
    delivery::DeliveryQueue as _,
    hook::{AlertStatus, HookStore as _, Outcome},
};
use db::Tx;
use kernel::{Result, Ts, ids::HookId};

/// Notes how a hook fares; from when on it may be told again, and nothing where it wants nothing more.
pub(in crate::webhook) fn note_health(
    tx: &mut Tx<'_>,
    id: HookId,
    outcome: Outcome,
) -> Result<Option<Ts>> {
    let Some(hook) = tx.hooks_with(&[id])?.pop() else { return Ok(None) };
    let before = hook.health();
    let after = before.after(outcome, tx.now);
    if after != before {
        tx.keep_health(id, before, after)?;
    }
    match (after.status(tx.now), after.disabled_until) {
        (AlertStatus::Disabled, _) => {
            tx.drop_deliveries_of(id)?;
            Ok(None)
        }
        (_, Some(until)) if after != before => {
            tx.postpone_hook(id, until)?;
            Ok(Some(until))
        }
        (_, until) => Ok(Some(until.unwrap_or(tx.now))),
    }
}
