//! The rate of checksum checks, as the primary node's settings say.

use db::{Tx, checksum};
use geo::node::NodeStore as _;
use kernel::{Result, Ts};
use time::Duration;

use super::GOOD_FOR;
use crate::Forge;

/// More at once would keep the disk from those who work.
const MOST_AT_ONCE: usize = 4;
/// Nothing waits for longer than ten years.
const MOST_DAYS: i64 = 3_650;
/// So many rows change in one transaction, in so many transactions of a turn.
const ROWS_AT_ONCE: i64 = 2_000;
const TRANSACTIONS: usize = 10;

type RescheduleFn = fn(&mut Tx<'_>, Ts, i64) -> Result<usize>;
const HASTEN: [RescheduleFn; 2] = [checksum::refs::hasten, checksum::files::hasten];

/// The interval and concurrency of checksum checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckRate {
    /// So long a check that found nothing wrong holds.
    pub(super) good_for: Duration,
    /// So many are checked at the same time; with 0 nothing is.
    pub(super) at_once: usize,
}

impl Default for CheckRate {
    fn default() -> Self {
        Self { good_for: GOOD_FOR, at_once: MOST_AT_ONCE }
    }
}

impl CheckRate {
    /// An installation without nodes has the usual pace.
    pub(super) async fn of(forge: &Forge) -> Result<Self> {
        let Some(node) = forge.db.read(|tx| tx.primary_geo_node()).await? else {
            return Ok(Self::default());
        };
        let days = node.minimum_reverification_interval.clamp(1, MOST_DAYS);
        let capacity = usize::try_from(node.verification_max_capacity).unwrap_or(MOST_AT_ONCE);
        Ok(Self { good_for: Duration::days(days), at_once: capacity.min(MOST_AT_ONCE) })
    }

    /// After the time was made shorter nothing waits for as long as it did before.
    pub(super) async fn hasten(self, forge: &Forge) -> Result<()> {
        let good_for = self.good_for;
        let waits = move |tx: &mut Tx<'_>| checksum::waits_beyond(tx, tx.now.plus(good_for));
        if !forge.db.read(waits).await? {
            return Ok(());
        }
        for hasten in HASTEN {
            for _ in 0..TRANSACTIONS {
                let sooner = move |tx: &mut Tx<'_>| hasten(tx, tx.now.plus(good_for), ROWS_AT_ONCE);
                if forge.db.write(sooner).await? == 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}
