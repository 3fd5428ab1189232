//! Facts are kept in the outbox for a while, and go then: some name what was private, and what is gone by now.

use kernel::Result;
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::Job;

use crate::Forge;

/// So long whoever tells facts on may take.
const KEPT: Duration = Duration::days(7);
/// So many go in one transaction.
const AT_ONCE: i64 = 10_000;

/// Forgets facts that were kept for long enough.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ForgetFacts {}

impl Job for ForgetFacts {
    const KIND: &'static str = "outbox.forget";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

pub(super) async fn forget_facts(forge: Forge, _: ForgetFacts) -> Result<()> {
    let before = forge.db.clock().now().plus(-KEPT);
    while forge.db.write(move |tx| db::outbox::forget(tx, before, AT_ONCE)).await? > 0 {}
    Ok(())
}
