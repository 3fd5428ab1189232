//! The steps of a push, in the order in which they happen.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use db::{Database, Tx};
use kernel::{Error, Result, Ts, ids::ProjectId};

use super::{
    Incoming, Journal, Push, Setback, examine, head,
    journal::{JournalRow, JournalStore},
};
use crate::{
    Event,
    commit::Writer,
    git::{
        Git, GitError, Oid, RefName, RepoPath, Storage, leftover,
        refs::{self, Expect, RefMove},
    },
    ports::Aftermath,
    protection,
};

/// So long it is tried to finish a move whose ref somebody keeps locked.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// It is waited for a lock no longer than this before it is looked again whether anybody still holds it.
const PATIENCE: Duration = Duration::from_millis(50);

/// No ref is locked for so long: the lock outlived a power cut.
pub(crate) const STALE_LOCK: Duration = Duration::from_secs(120);
/// Refuses what the project's rules forbid, in the words that the pusher reads.
pub fn check(tx: &mut Tx<'_>, push: &Push) -> Result<()> {
    let lending = push.lending.as_deref();
    protection::rules::check_changes(tx, &push.who, &push.project, &push.changes, push.via, lending)
}

/// The database half of a push. Its commit is the decision: from then on the refs have moved.
pub fn record(tx: &mut Tx<'_>, push: &Push) -> Result<()> {
    tx.insert_push(push)?;
    if let Some(also) = &push.also {
        also.happen(tx)?;
    }
    tx.emit(Event::of_push(push))
}

/// Checks and records a push whose refs git has locked, in one transaction.
async fn decide(db: &Database, journal: &Journal, push: Push) -> Result<()> {
    let settled = journal.take_finished();
    let old = settled.clone();
    let decided = db.write(move |tx| {
        check(tx, &push)?;
        record(tx, &push)?;
        tx.delete_journal_batches(&old)
    });
    decided.await.inspect_err(|_refusal| journal.give_back(settled))
}

/// Notes that git has followed.
fn finish(journal: &Journal, batch: String) {
    journal.note_finished(batch);
}

/// Moves refs on behalf of the API: checks, decides and carries out. The objects must be durable already.
///
/// A caller that goes away does not stop it half-way.
///
/// # Errors
/// `Rejected` with the text of the rule that forbids it, or that somebody else was faster.
pub async fn apply(by: Writer<'_>, push: Push) -> Result<()> {
    Ok(try_apply(by, push).await?)
}

/// As [`apply`], for those who know what to do when somebody else was faster.
pub(crate) async fn try_apply(by: Writer<'_>, push: Push) -> Result<(), Setback> {
    let push = push.with_lent(by.lending);
    let incoming = Incoming::settled(by.git, &by.storage.repository(push.project.id));
    examine(by.db, by.people, &incoming, &push).await?;
    land(by, push).await
}

/// Decides a push that was examined, and carries it out. Its objects must be durable already.
///
/// A caller that goes away does not stop it half-way.
pub async fn land(by: Writer<'_>, mut push: Push) -> Result<(), Setback> {
    let Writer { db, git, storage, repositories, journal, aftermath, .. } = by;
    head::look(git, repositories, storage, &mut push).await?;
    let (db, git, storage, journal) = (db.clone(), git.clone(), storage.clone(), journal.clone());
    let aftermath = Arc::clone(aftermath);
    let done = tokio::spawn(async move {
        carry_out(&db, &git, &storage, &journal, push.clone()).await?;
        follow(&aftermath, &push).await;
        Ok(())
    });
    done.await.map_err(Error::internal)?
}

/// Does what has to be done before the pusher is answered. The refs have moved: what fails is done later.
async fn follow(aftermath: &Arc<dyn Aftermath>, push: &Push) {
    if let Err(cause) = aftermath.follow(push).await {
        tracing::warn!(project = %push.project.id, error = %cause, "what follows from a push is left for later");
    }
}

async fn carry_out(
    db: &Database,
    git: &Git,
    storage: &Storage,
    journal: &Journal,
    push: Push,
) -> Result<(), Setback> {
    let repo = storage.repository(push.project.id);
    let prepared = match refs::prepare(git, &repo, &push.moves()).await {
        Ok(prepared) => prepared,
        Err(error) => return Err(Setback::of(&repo, &push.changes, error).await),
    };
    let (batch, head) = (push.batch.clone(), push.becomes_default.clone());
    if let Err(refusal) = decide(db, journal, push).await {
        if let Err(cause) = prepared.abort().await {
            tracing::warn!(error = %cause, "a refused push was not given back cleanly");
        }
        return Err(refusal.into());
    }
    prepared.commit().await?;
    if let Some(branch) = head {
        refs::set_head(&repo, &branch).await?;
    }
    finish(journal, batch);
    Ok(())
}

/// Finishes what a crash interrupted: every move that was decided and that git has not carried out. Returns how many.
///
/// At the start every row counts; while the server runs, `decided_before` keeps away from pushes that are under way.
pub async fn recover(
    db: &Database,
    git: &Git,
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
        let busy: Vec<(ProjectId, String)> = rows
            .iter()
            .filter(|row| row.created_at >= limit)
            .map(|row| (row.project_id, row.ref_name.clone()))
            .collect();
        rows.retain(|row| !busy.contains(&(row.project_id, row.ref_name.clone())));
    }
    let mut batches: Vec<String> = rows.iter().map(|row| row.batch.clone()).collect();
    batches.dedup();
    let (mut finished, mut failure) = (0, None);
    for row in last_of_each_ref(rows) {
        match recover_one(git, storage, &row, stale_after).await {
            Ok(done) => finished += usize::from(done),
            // One ref that cannot be moved keeps nothing back but its own batch.
            Err(cause) => {
                batches.retain(|batch| *batch != row.batch);
                failure = failure.or(Some(cause));
            }
        }
    }
    if !batches.is_empty() {
        db.write(move |tx| tx.delete_journal_batches(&batches)).await?;
    }
    failure.map_or(Ok(finished), Err)
}

/// The same while the server runs, for moves that were decided before a moment and then failed.
pub async fn settle(
    db: &Database,
    git: &Git,
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
    recover(db, git, storage, Some(before)).await
}

/// Moves that were decided and that git has not carried out.
pub async fn unsettled(db: &Database, git: &Git, storage: &Storage) -> Result<Vec<JournalRow>> {
    let rows = db.read(|tx| tx.journal()).await?;
    let mut open = Vec::new();
    for row in last_of_each_ref(rows) {
        if !storage.exists(row.project_id) {
            continue;
        }
        let name = RefName::full(&row.ref_name)?;
        let now = refs::read(git, &storage.repository(row.project_id), [&name]).await?;
        if now.get(&name).map(ToString::to_string) != row.new_sha {
            open.push(row);
        }
    }
    Ok(open)
}

/// Earlier moves of a ref were carried out, or the later one could not have been prepared.
fn last_of_each_ref(rows: Vec<JournalRow>) -> impl Iterator<Item = JournalRow> {
    let mut last: BTreeMap<(ProjectId, String), JournalRow> = BTreeMap::new();
    for row in rows {
        last.insert((row.project_id, row.ref_name.clone()), row);
    }
    last.into_values()
}

async fn recover_one(
    git: &Git,
    storage: &Storage,
    row: &JournalRow,
    stale_after: Duration,
) -> Result<bool> {
    if !storage.exists(row.project_id) {
        return Ok(false);
    }
    let repo = storage.repository(row.project_id);
    let name = RefName::full(&row.ref_name)?;
    let parse = |text: &Option<String>| -> Result<Option<Oid>> {
        Ok(text.as_deref().map(str::parse).transpose().map_err(GitError::corrupt)?)
    };
    let (old, new) = (parse(&row.old_sha)?, parse(&row.new_sha)?);
    follow_late(git, &repo, &RefMove { name, old: Expect::from(old), new }, stale_after).await
}

/// Carries out a move that was decided before a crash; whether anything was left to do.
pub(crate) async fn follow_late(
    git: &Git,
    repo: &RepoPath,
    step: &RefMove,
    stale_after: Duration,
) -> Result<bool> {
    let name = step.name.as_bstr().to_string();
    let now = refs::read(git, repo, [&step.name]).await?.get(&step.name).copied();
    if now == step.new {
        return Ok(false);
    }
    let old = step.old.oid();
    if now != old {
        tracing::error!(repository = %repo.as_path().display(), name, "a ref is neither where a push found it nor where it went");
        return Ok(false);
    }
    tracing::warn!(repository = %repo.as_path().display(), name, "finishing a push that was interrupted");
    let since = Instant::now();
    while since.elapsed() < LONGEST_WAIT {
        // A git process that outlived the server gives its locks back in a moment.
        leftover::release(repo, stale_after).await?;
        match refs::move_within(git, repo, std::slice::from_ref(step), PATIENCE).await {
            Err(GitError::Stale { actual }) if actual == old => {
                tokio::time::sleep(PATIENCE).await;
            }
            moved => return Ok(moved.map(|()| true)?),
        }
    }
    Err(Error::Unavailable(format!("the ref {name} of {} stays locked", repo.as_path().display())))
}
