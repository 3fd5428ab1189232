//! Looking at the refs of a repository at once, and taking them as they lie there, on the word of whoever keeps the
//! installation.

use db::checksum::refs::{self as kept, RefHolder, RefSum};
use kernel::{Error, Result};
use repo::checksum::recount::{Recount, recount};

use super::CheckRate;
use crate::Forge;

/// Refs may be moved while they are counted; then they are counted again, so often.
const ATTEMPTS: usize = 5;

/// Keeps the sum of a repository's refs as they are, whatever the moves that were decided add up to; returns the sum.
///
/// # Errors
/// 404 for a repository that is not there, and 409 where its refs are moved all the time.
pub async fn accept_refs(forge: &Forge, place: RefHolder) -> Result<RefSum> {
    let good_for = CheckRate::of(forge).await?.good_for;
    for _ in 0..ATTEMPTS {
        match recount(&forge.db, &forge.storage, place).await? {
            Recount::Gone | Recount::Absent(_) => return Err(Error::not_found("Repository")),
            Recount::Moved => {}
            Recount::Sum { kept, sum } => {
                let note = move |tx: &mut db::Tx<'_>| {
                    let next = tx.now.plus(good_for);
                    kept::note_sum(tx, place, kept.moves, sum, next)
                };
                if forge.db.write(note).await? {
                    return Ok(sum);
                }
            }
        }
    }
    Err(Error::conflict().because("the refs are being moved"))
}

/// Whether the refs of a repository add up to something else than the moves that were decided, or are not there.
///
/// # Errors
/// When the database or the repository cannot be read.
pub async fn has_other_refs(forge: &Forge, place: RefHolder) -> Result<bool> {
    Ok(match recount(&forge.db, &forge.storage, place).await? {
        Recount::Sum { kept, sum } => kept.counted && kept.sum != sum,
        Recount::Absent(_) => true,
        Recount::Moved | Recount::Gone => false,
    })
}
