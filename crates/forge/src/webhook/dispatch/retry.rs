//! Retries of failed deliveries.

use admin::delivery::{Delivery, DeliveryQueue as _};
use db::Tx;
use kernel::Result;
use time::Duration;

use crate::{Forge, webhook::rules::LONGEST_WAIT};

/// Pauses of receivers that have no state of their own.
const FIRST_PAUSE: Duration = Duration::seconds(30);
const MOST_DOUBLINGS: i32 = 8;

/// What could not even be tried is tried again after a while, unless it has waited too long.
pub(super) async fn put_back(forge: &Forge, delivery: &Delivery) -> Result<()> {
    let delivery = delivery.clone();
    let attempts = delivery.attempts.saturating_add(1);
    let put_back = forge.db.write(move |tx| {
        if is_old(tx, &delivery) {
            return tx.finish_delivery(&delivery);
        }
        let at = tx.now.plus(pause(attempts));
        tx.postpone_delivery(&delivery, at, attempts)
    });
    put_back.await
}

pub(super) fn is_old(tx: &Tx<'_>, delivery: &Delivery) -> bool {
    delivery.created_at.plus(LONGEST_WAIT) <= tx.now
}

pub(super) fn pause(attempts: i32) -> Duration {
    FIRST_PAUSE * (1_i32 << attempts.clamp(0, MOST_DOUBLINGS))
}
