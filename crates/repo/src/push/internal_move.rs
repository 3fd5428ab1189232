//! Refs that the server moves for itself, as those which keep the commits of merge requests: no rule is about them, and
//! nobody is told. They go the way of every other move, so that a crash leaves none half done and the checksum of the
//! repository holds them.

use db::{Database, checksum::refs::RefHolder};
use kernel::{Result, ids::ProjectId};

use super::{Journal, journal::JournalStore as _, model::new_batch};
use crate::{
    checksum,
    git::{
        GitError, Oid, Storage,
        refs::{self, RefMove},
    },
};

/// The result of internal ref moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternalMove {
    Done,
    /// A ref is not where it was seen, but here, or somebody keeps it locked. None has moved.
    Stale(Option<Oid>),
}

/// Moves refs of a project: all or none.
///
/// # Errors
/// When git or the database fails, or a new ref's name is taken.
pub async fn move_own(
    (db, storage, journal): (&Database, &Storage, &Journal),
    project: ProjectId,
    moves: Vec<RefMove>,
) -> Result<InternalMove> {
    let repository = storage.repository(project);
    let prepared = match refs::prepare(&repository, &moves).await {
        Err(GitError::Stale { actual }) => return Ok(InternalMove::Stale(actual)),
        prepared => prepared?,
    };
    let (batch, settled) = (new_batch(), journal.take_finished());
    let (name, old) = (batch.clone(), settled.clone());
    let decided = db.write(move |tx| {
        tx.insert_moves(project, &name, &moves)?;
        checksum::keep(tx, RefHolder::Repository(project), &moves)?;
        tx.delete_journal_batches(&old)
    });
    if let Err(failure) = decided.await {
        journal.give_back(settled);
        if let Err(cause) = prepared.abort().await {
            tracing::warn!(error = %cause, "refs that were not moved were not given back cleanly");
        }
        return Err(failure);
    }
    prepared.commit().await?;
    journal.record_finished(batch);
    Ok(InternalMove::Done)
}
