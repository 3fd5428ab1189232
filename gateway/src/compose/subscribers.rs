//! Every fact, and who hears it.

use db::Tx;
use kernel::{Result, event::Event};

/// Heard before the commit, in the same transaction.
pub fn inside(_tx: &mut Tx<'_>, fact: &dyn Event) -> Result<()> {
    tracing::debug!(kind = fact.kind(), "announced");
    Ok(())
}
