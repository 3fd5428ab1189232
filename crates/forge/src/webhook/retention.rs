//! What was sent is kept for a week, and what could not be sent for two days; both go then.

use admin::delivery::{DeliveryQueue as _, LogStore as _};
use kernel::Result;
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::Job;

use super::rules::LONGEST_WAIT;
use crate::Forge;

const KEPT: Duration = Duration::days(7);
/// So many go in one transaction.
const AT_ONCE: i64 = 1_000;

/// Forgets what was sent long enough ago, and what has waited too long.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ForgetDeliveries {}

impl Job for ForgetDeliveries {
    const KIND: &'static str = "webhook.forget";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

pub(crate) async fn forget_deliveries(forge: Forge, _: ForgetDeliveries) -> Result<()> {
    let now = forge.db.clock().now();
    let (before, oldest) = (now.plus(-KEPT), now.plus(-LONGEST_WAIT));
    while forge.db.write(move |tx| tx.forget_deliveries(oldest, AT_ONCE)).await? > 0 {}
    while forge.db.write(move |tx| tx.forget_logs(before, AT_ONCE)).await? > 0 {}
    while forge.db.write(move |tx| tx.forget_events(before, AT_ONCE)).await? > 0 {}
    Ok(())
}
