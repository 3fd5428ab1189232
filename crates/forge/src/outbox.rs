//! Facts are kept in the outbox for a while, and go then: some name what was private, and what is gone by now.
//!
//! A fact waits for every cursor that reads the outbox, within a bound: a reader that does not come back may cost so
//! much disk and no more. Its cursor then says that it has a gap, and it has to compare everything.

use db::{Database, outbox::Retention};
use kernel::Result;
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::Job;

use crate::Forge;

/// So long a fact is kept at least.
const KEPT: Duration = Duration::days(7);
/// So long it waits for a cursor that has not passed it.
const KEPT_FOR_CURSORS: Duration = Duration::days(30);
/// So many facts are kept at most, a few gigabytes, whoever waits for them.
const MOST: i64 = 5_000_000;
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
    let now = forge.db.clock().now();
    let keep = Retention {
        read_before: now.plus(-KEPT),
        any_before: now.plus(-KEPT_FOR_CURSORS),
        most: MOST,
    };
    while forge.db.write(move |tx| db::outbox::trim(tx, keep, AT_ONCE)).await? > 0 {}
    Ok(())
}

/// After a dump was restored on another PostgreSQL server, the order of commits goes on from what the dump holds.
pub(super) fn follow_server(db: &Database) -> Result<()> {
    match db.read_blocking(db::outbox::is_foreign)? {
        true => db.write_blocking(db::outbox::adopt),
        false => Ok(()),
    }
}
