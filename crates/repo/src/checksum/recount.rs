//! Adding up the refs of a repository that lie there, to be held against the sum that was kept.

use std::collections::HashMap;

use db::{
    Database, Tx,
    checksum::refs::{self as kept, RefChecksum, RefHolder, RefSum},
};
use kernel::{Result, task::spawn_blocking};

use super::of_refs;
use crate::{
    git::{GitError, Oid, Reader, RefName, RepoPath, Storage, Wiki, refs::RefMove},
    push::{journal::JournalStore as _, recovery},
    wiki::journal::{WikiJournal as _, WikiRef},
};

fn folder(storage: &Storage, place: RefHolder) -> RepoPath {
    match place {
        RefHolder::Repository(project) => storage.repository(project),
        RefHolder::ProjectWiki(project) => storage.wiki(Wiki::Project(project)),
        RefHolder::GroupWiki(group) => storage.wiki(Wiki::Group(group)),
    }
}

/// The result of recomputing the checksum of a repository's refs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recount {
    /// The refs add up to `sum`, with the moves that were decided and that git is about to carry out.
    Sum { kept: RefChecksum, sum: RefSum },
    /// Refs were moved meanwhile.
    Moved,
    /// The repository is not on disk.
    Absent(RefChecksum),
    /// Nothing is kept of it any more.
    Gone,
}

/// Adds up the refs of a repository. Nobody waits for it: where a move is decided meanwhile, the count says so.
///
/// # Errors
/// When the database or the repository cannot be read.
pub async fn recount(db: &Database, storage: &Storage, place: RefHolder) -> Result<Recount> {
    let before = move |tx: &mut Tx<'_>| Ok((kept::find(tx, place)?, open_moves(tx, place)?));
    let (Some(kept), open) = db.read(before).await? else { return Ok(Recount::Gone) };
    let path = folder(storage, place);
    let read = spawn_blocking(move || Reader::open_uncached(&path)?.all_targets());
    let mut refs: HashMap<RefName, Oid> = match read.await.map_err(GitError::corrupt)? {
        Err(GitError::NotFound) => return Ok(Recount::Absent(kept)),
        read => read?.into_iter().collect(),
    };
    for step in open {
        if refs.get(&step.name).copied() == step.old.oid() {
            match step.new {
                Some(id) => drop(refs.insert(step.name, id)),
                None => drop(refs.remove(&step.name)),
            }
        }
    }
    // Whatever was decided before this has its moves in what was read first, or in the repository.
    match db.read(move |tx| kept::find(tx, place)).await? {
        None => Ok(Recount::Gone),
        Some(now) if now.moves != kept.moves => Ok(Recount::Moved),
        Some(now) => {
            let sum = of_refs(refs.iter().map(|(name, id)| (name, *id)));
            Ok(Recount::Sum { kept: now, sum })
        }
    }
}

/// The last move of each ref that may not have reached git yet.
fn open_moves(tx: &mut Tx<'_>, place: RefHolder) -> Result<Vec<RefMove>> {
    let wiki = match place {
        RefHolder::Repository(project) => {
            let rows = tx.journal_of(project)?;
            let moves = rows.iter().map(recovery::step);
            let last: HashMap<RefName, RefMove> = moves
                .map(|step| step.map(|step| (step.name.clone(), step)))
                .collect::<Result<_>>()?;
            return Ok(last.into_values().collect());
        }
        RefHolder::ProjectWiki(project) => Wiki::Project(project),
        RefHolder::GroupWiki(group) => Wiki::Group(group),
    };
    let rows = tx.wiki_refs(wiki)?;
    rows.iter().filter(|row| !row.settled).map(WikiRef::step).collect()
}
