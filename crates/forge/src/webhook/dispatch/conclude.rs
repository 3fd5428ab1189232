//! Writes down what became of deliveries, for many at once: a commit for each of them would be what takes the time.

use std::sync::Arc;

use admin::{
    delivery::{Delivery, DeliveryQueue as _, LogStore as _, NewLog},
    hook::{Health, Hook, HookStore as _, Outcome},
};
use db::Tx;
use kernel::{Result, ids::HookId};

use super::{
    health::note_health,
    retry::{is_old, pause, put_back},
};
use crate::{Forge, webhook::courier::Conclusion};

/// Writes down what became of a delivery, together with what others have come to meanwhile.
///
/// # Errors
/// When the database cannot be written; what could not be noted is sent again once nobody holds it any more.
pub(super) async fn conclude(forge: &Forge, one: Conclusion) -> Result<()> {
    let conclusions = &forge.courier.conclusions;
    conclusions.add(one);
    let _turn = conclusions.turn.lock().await;
    let all = conclusions.take();
    if all.is_empty() {
        return Ok(());
    }
    let all = Arc::new(all);
    let together = Arc::clone(&all);
    match forge.db.write(move |tx| write(tx, &together)).await {
        Err(cause) if !cause.is_of_machine() && all.len() > 1 => {
            tracing::warn!(error = %cause, "deliveries are concluded one by one");
            for one in all.iter() {
                conclude_one(forge, one.clone()).await?;
            }
            Ok(())
        }
        done => done,
    }
}

/// One that cannot be written down keeps nobody else's from being.
async fn conclude_one(forge: &Forge, one: Conclusion) -> Result<()> {
    let delivery = one.delivery().clone();
    match forge.db.write(move |tx| write(tx, &[one])).await {
        Err(cause) if !cause.is_of_machine() => {
            tracing::error!(error = %cause, "a delivery was put back");
            put_back(forge, &delivery).await
        }
        done => done,
    }
}

fn write(tx: &mut Tx<'_>, all: &[Conclusion]) -> Result<()> {
    let hooks: Vec<HookId> = all.iter().filter_map(|one| one.delivery().hook_id).collect();
    let hooks = tx.hooks_with(&hooks)?;
    // A hook that is gone took its deliveries and its log along.
    let logs: Vec<&NewLog> = all
        .iter()
        .filter_map(|one| match one {
            Conclusion::Sent { log, .. } => log.as_deref(),
            Conclusion::Finished(_) | Conclusion::Left(_) => None,
        })
        .filter(|log| hooks.iter().any(|hook| hook.id == log.hook))
        .collect();
    tx.insert_logs(&logs)?;
    let (mut finished, mut left) = (Vec::new(), Vec::new());
    for one in all {
        match one {
            Conclusion::Finished(delivery) => finished.push(delivery),
            Conclusion::Left(delivery) => left.push(delivery),
            Conclusion::Sent { delivery, guarded, outcome, .. } => {
                if is_over(tx, &hooks, (delivery, *guarded), *outcome)? {
                    finished.push(delivery);
                }
            }
        }
    }
    tx.finish_deliveries(&finished)?;
    tx.release_deliveries(&left)
}

/// Notes how the receiver fares; false where the delivery is tried again, for which it is put back.
fn is_over(
    tx: &mut Tx<'_>,
    hooks: &[Hook],
    (delivery, guarded): (&Delivery, Option<HookId>),
    outcome: Outcome,
) -> Result<bool> {
    let is_well =
        |id: HookId| hooks.iter().any(|hook| hook.id == id && hook.health() == Health::default());
    // The usual case costs no statement.
    let is_usual = outcome == Outcome::Success && guarded.is_none_or(is_well);
    if is_usual || outcome == Outcome::Oversize {
        return Ok(true);
    }
    let next = match guarded {
        Some(id) => note_health(tx, id, outcome)?,
        None => Some(tx.now.plus(pause(delivery.attempts))),
    };
    match (outcome, next) {
        (Outcome::Failure, Some(at)) if !is_old(tx, delivery) => {
            tx.postpone_delivery(delivery, at, delivery.attempts.saturating_add(1))?;
            Ok(false)
        }
        _ => Ok(true),
    }
}
