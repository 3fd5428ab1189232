//! Finishes interrupted pushes: moves that were decided, and that git has not carried out.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    time::Duration,
};

use db::Database;
use kernel::{Error, Result, Ts, ids::ProjectId};

use super::{
    Journal,
    decided_moves::follow_late,
    journal::{JournalRow, JournalStore},
};
use crate::git::{
    GitError, Oid, RefName, Storage,
    refs::{self, RefMove},
};

/// No ref is locked for so long: the lock outlived a power cut.
pub(crate) const STALE_LOCK: Duration = Duration::from_secs(120);

/// Finishes what a crash interrupted: every move that was decided and not carried out. Returns how many.
///
/// At the start every row counts; while the server runs, `decided_before` keeps away from pushes that are under way.
pub async fn recover(
    db: &Database,
    storage: &Storage,
    decided_before: Option<Ts>,
) -> Result<usize> {
    let mut rows = match decided_before {
        Some(_) => db.read(|tx| tx.journal()).await?,
        None => db.write(|tx| tx.settled_journal()).await?,
    };
    // At the start this process has touched nothing yet, so no lock is its own.
    let stale_after = if decided_before.is_some() { STALE_LOCK } else { Duration::ZERO };
    if let Some(limit) = decided_before {
        leave_out_busy_refs(&mut rows, limit);
    }
    let mut batches: BTreeSet<String> = rows.iter().map(|row| row.batch.clone()).collect();
    let (mut finished, mut failure) = (0, None);
    for (project, rows) in last_of_each_ref(rows) {
        let (moved, failed) = recover_project(storage, project, &rows, stale_after).await;
        finished += moved;
        for (names, cause) in failed {
            // One ref that cannot be moved keeps nothing back but its own batch.
            for row in names.iter().filter_map(|name| rows.get(name)) {
                batches.remove(&row.batch);
            }
            failure = failure.or(Some(cause));
        }
    }
    if !batches.is_empty() {
        let batches: Vec<String> = batches.into_iter().collect();
        db.write(move |tx| tx.delete_journal_batches(&batches)).await?;
    }
    failure.map_or(Ok(finished), Err)
}

/// The same while the server runs, for moves that were decided before a moment and then failed.
pub async fn replay(
    db: &Database,
    storage: &Storage,
    journal: &Journal,
    before: Ts,
) -> Result<usize> {
    let settled = journal.take_finished();
    if !settled.is_empty() {
        let old = settled.clone();
        let deleted = db.write(move |tx| tx.delete_journal_batches(&old)).await;
        deleted.inspect_err(|_failure| journal.give_back(settled))?;
    }
    recover(db, storage, Some(before)).await
}

/// Moves that were decided and not carried out.
pub async fn unsettled(db: &Database, storage: &Storage) -> Result<Vec<JournalRow>> {
    let rows = db.read(|tx| tx.journal()).await?;
    let mut open = Vec::new();
    for (project, rows) in last_of_each_ref(rows) {
        if !storage.exists(project) {
            continue;
        }
        let moves = rows.values().map(step).collect::<Result<Vec<RefMove>>>()?;
        let names = moves.iter().map(|step| &step.name);
        let now = refs::read(&storage.repository(project), names).await?;
        let rows = rows.into_values().zip(&moves);
        let ahead = rows.filter(|(_, step)| now.get(&step.name).copied() != step.new);
        open.extend(ahead.map(|(row, _)| row));
    }
    Ok(open)
}

/// Somebody may be about to move them on.
fn leave_out_busy_refs(rows: &mut Vec<JournalRow>, limit: Ts) {
    let recent = rows.iter().filter(|row| row.created_at >= limit);
    let busy: HashSet<(ProjectId, String)> =
        recent.map(|row| (row.project_id, row.ref_name.clone())).collect();
    if !busy.is_empty() {
        rows.retain(|row| !busy.contains(&(row.project_id, row.ref_name.clone())));
    }
}

type RowsByRef = BTreeMap<String, JournalRow>;

/// Earlier moves of a ref were carried out, or the later one could not have been prepared.
fn last_of_each_ref(rows: Vec<JournalRow>) -> BTreeMap<ProjectId, RowsByRef> {
    let mut last: BTreeMap<ProjectId, RowsByRef> = BTreeMap::new();
    for row in rows {
        last.entry(row.project_id).or_default().insert(row.ref_name.clone(), row);
    }
    last
}

/// The move of a row, as git carries it out.
pub(crate) fn step(row: &JournalRow) -> Result<RefMove> {
    let parse = |text: &Option<String>| -> Result<Option<Oid>> {
        Ok(text.as_deref().map(str::parse).transpose().map_err(GitError::corrupt)?)
    };
    let name = RefName::full(&row.ref_name)?;
    Ok(RefMove { name, old: parse(&row.old_sha)?.into(), new: parse(&row.new_sha)? })
}

/// How many refs moved, and which could not.
async fn recover_project(
    storage: &Storage,
    project: ProjectId,
    rows: &RowsByRef,
    stale_after: Duration,
) -> (usize, Vec<(Vec<String>, Error)>) {
    if !storage.exists(project) {
        return (0, Vec::new());
    }
    let (mut moves, mut failed) = (Vec::new(), Vec::new());
    for (name, row) in rows {
        match step(row) {
            Ok(step) => moves.push(step),
            Err(error) => failed.push((vec![name.clone()], error)),
        }
    }
    let late = follow_late(&storage.repository(project), moves, stale_after).await;
    let name = |step: RefMove| step.name.as_bstr().to_string();
    let names = |moves: Vec<RefMove>| moves.into_iter().map(name).collect();
    failed.extend(late.failed.into_iter().map(|(moves, cause)| (names(moves), cause)));
    (late.moved.len(), failed)
}
