//! The place at which an import goes on, which is saved together with what was written before it.

use admin::archive::{ArchiveImport, ArchiveImportStore as _, ReadArchive};
use db::Tx;
use kernel::{Error, Result, Ts, ids::ArchiveImportId};
use time::Duration;
use worker::Queue as _;

use super::failure::ArchiveError;
use crate::Forge;

/// After this time without a step whoever read an archive is gone.
pub(super) const LONGEST_STEP: Duration = Duration::hours(1);

/// Has the import begin, or go on, at a time.
pub(super) fn later(tx: &mut Tx<'_>, import: ArchiveImportId, at: Ts) -> Result<()> {
    withdraw(tx, import)?;
    tx.enqueue_at(&ReadArchive { import }, at)
}

/// Has the import not go on by itself any more.
pub(super) fn withdraw(tx: &mut Tx<'_>, import: ArchiveImportId) -> Result<()> {
    let kind = <ReadArchive as worker::Job>::KIND;
    tx.withdraw_work(&format!("{kind}:{import}")).map(drop)
}

/// How many lines of a place are done.
pub(super) fn lines_done(import: &ArchiveImport, place: i64) -> i64 {
    if import.relation == place { import.line } else { 0 }
}

/// Refuses to go on with an import that somebody else works on by now.
pub(super) async fn ensure_current(
    forge: &Forge,
    import: &ArchiveImport,
) -> Result<(), ArchiveError> {
    let (id, steps) = (import.id, import.steps);
    let now = forge.db.read(move |tx: &mut Tx<'_>| tx.find_archive_import(id)).await?;
    match now.is_some_and(|now| now.steps == steps) {
        true => Ok(()),
        false => Err(ArchiveError::Overtaken),
    }
}

/// Writes what some lines of a place bring, together with the number of lines that are done by then; returns the import
/// as it is then.
pub(super) async fn save_page<F>(
    forge: &Forge,
    mut import: ArchiveImport,
    place: i64,
    line: i64,
    write: F,
) -> Result<ArchiveImport, ArchiveError>
where
    F: FnOnce(&mut Tx<'_>) -> Result<(), ArchiveError> + Clone + Send + 'static,
{
    let seen = import.clone();
    let written = forge.db.write(move |tx: &mut Tx<'_>| {
        if !tx.save_archive_progress(&seen, place, line)? {
            return Ok(Err(ArchiveError::Overtaken));
        }
        // A flaw takes everything of this transaction back, by way of the error that it becomes.
        match write(tx) {
            Ok(()) => later(tx, seen.id, tx.now.plus(LONGEST_STEP)).map(Ok),
            Err(ArchiveError::Own(cause)) => Err(cause),
            Err(flaw) => Err(Error::unprocessable().whole(flaw.to_string())),
        }
    });
    written.await??;
    import.steps += 1;
    (import.relation, import.line, import.attempts) = (place, line, 0);
    Ok(import)
}
