//! The refs of repositories and wikis are added up and held against the sum that was kept.

use db::checksum::refs::{self as kept, RefHolder};
use futures_util::{TryStreamExt as _, stream};
use kernel::{Result, error::Kind};
use repo::checksum::recount::{Recount, recount};

use super::{AGAIN_AFTER, BUSY_FOR, CheckRate};
use crate::Forge;

/// So many are looked at in one turn.
const AT_ONCE: i64 = 200;

pub(super) async fn check_due(forge: &Forge, pace: CheckRate) -> Result<()> {
    let due = forge.db.read(|tx| kept::due(tx, AT_ONCE)).await?;
    let due = stream::iter(due.into_iter().map(Ok));
    due.try_for_each_concurrent(pace.at_once, |place| check(forge, pace, place)).await
}

async fn check(forge: &Forge, pace: CheckRate, place: RefHolder) -> Result<()> {
    let count = || recount(&forge.db, &forge.storage, place);
    let mut found = count().await;
    if let Ok(Recount::Sum { kept, sum }) = &found
        && kept.counted
        && kept.sum != *sum
    {
        // What was read half way through a move is whole the second time.
        found = count().await;
    }
    match found {
        Ok(Recount::Gone) => Ok(()),
        Ok(Recount::Moved) => wait(forge, place).await,
        Ok(Recount::Absent(kept)) if !kept.counted && kept.moves == 0 && is_wiki(place) => {
            forge.db.write(move |tx| kept::forget(tx, place)).await
        }
        Ok(Recount::Absent(_)) => fail(forge, place, "The repository is not on disk.").await,
        Ok(Recount::Sum { kept, sum }) if kept.counted && kept.sum != sum => {
            let kept = kept.sum;
            let reason =
                format!("The refs add up to {sum}, and the moves that were decided to {kept}.");
            fail(forge, place, &reason).await
        }
        Ok(Recount::Sum { kept, sum }) => {
            let noted = forge.db.write(move |tx| {
                let next = tx.now.plus(pace.good_for);
                kept::note_sum(tx, place, kept.moves, sum, next)
            });
            if noted.await? { Ok(()) } else { wait(forge, place).await }
        }
        // The server lacks something; the repository may be as it should.
        Err(failure) if failure.kind == Kind::Unavailable => Err(failure),
        Err(failure) => fail(forge, place, &format!("It cannot be read: {failure}")).await,
    }
}

fn is_wiki(place: RefHolder) -> bool {
    matches!(place, RefHolder::ProjectWiki(_) | RefHolder::GroupWiki(_))
}

/// Refs were moved while they were counted.
async fn wait(forge: &Forge, place: RefHolder) -> Result<()> {
    let later = move |tx: &mut db::Tx<'_>| {
        let next = tx.now.plus(BUSY_FOR);
        kept::postpone(tx, place, next)
    };
    forge.db.write(later).await
}

async fn fail(forge: &Forge, place: RefHolder, reason: &str) -> Result<()> {
    tracing::error!(%place, reason, "the checksum of a repository could not be confirmed");
    let reason = reason.to_owned();
    let failed = move |tx: &mut db::Tx<'_>| {
        let next = tx.now.plus(AGAIN_AFTER);
        kept::note_failure(tx, place, &reason, next)
    };
    forge.db.write(failed).await
}
