//! The steps of a push, in the order in which they happen.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use db::{Database, Tx};
use kernel::{Error, Result, Ts, ids::ProjectId};

use super::{
    Incoming, Journal, Push, examine, head,
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
const STALE_LOCK: Duration = Duration::from_secs(120);
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
pub async fn decide(db: &Database, journal: &Journal, push: Push) -> Result<()> {
    let settled = journal.take_finished();
    let old = settled.clone();
    let decided = db.write(move |tx| {
        check(tx, &push)?;
        record(tx, &push)?;
        tx.delete_journal_batches(&old)
    });
    decided.await.inspect_err(|_refusal| journal.give_back(settled))
}

/// Carries out a push that was decided and that git then did not follow.
pub async fn complete(git: &Git, storage: &Storage, journal: &Journal, push: &Push) -> Result<()> {
    let repo = storage.repository(push.project.id);
    for step in push.moves() {
        let now = refs::read(git, &repo, [&step.name]).await?.get(&step.name).copied();
        if now == step.old.oid() && now != step.new {
            refs::move_now(git, &repo, &[step]).await?;
        }
    }
    finish(journal, push.batch.clone());
    Ok(())
}

/// Notes that git has followed.
pub fn finish(journal: &Journal, batch: String) {
    journal.note_finished(batch);
}

/// Moves refs on behalf of the API: checks, decides and carries out. The objects must be durable already.
///
/// A caller that goes away does not stop it half-way.
///
/// # Errors
/// `Rejected` with the text of the rule that forbids it, or that somebody else was faster.
pub async fn apply(by: Writer<'_>, mut push: Push) -> Result<()> {
    let Writer { db, git, storage, repositories, journal, people, lending, aftermath } = by;
    push.lending = Some(Arc::clone(lending));
    let incoming = Incoming::settled(git, &storage.repository(push.project.id));
    examine(db, people, &incoming, &push).await?;
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
pub async fn follow(aftermath: &Arc<dyn Aftermath>, push: &Push) {
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
) -> Result<()> {
    let repo = storage.repository(push.project.id);
    let prepared = refs::prepare(git, &repo, &push.moves()).await.map_err(faster)?;
    let (batch, head) = (push.batch.clone(), push.becomes_default.clone());
    if let Err(refusal) = decide(db, journal, push).await {
        if let Err(cause) = prepared.abort().await {
            tracing::warn!(error = %cause, "a refused push was not given back cleanly");
        }
        return Err(refusal);
    }
    prepared.commit().await?;
    if let Some(branch) = head {
        refs::set_head(&repo, &branch).await?;
    }
    finish(journal, batch);
    Ok(())
}

/// Somebody moved the ref between this writer's look and its attempt.
fn faster(error: GitError) -> Error {
    match error {
        GitError::Stale { .. } | GitError::RefNameTaken => Error::Rejected(
            "The branch was changed by somebody else meanwhile. Please try again.".to_owned(),
        ),
        other => other.into(),
    }
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
    let mut finished = 0;
    for row in last_of_each_ref(rows) {
        finished += usize::from(recover_one(git, storage, &row, stale_after).await?);
    }
    if !batches.is_empty() {
        db.write(move |tx| tx.delete_journal_batches(&batches)).await?;
    }
    Ok(finished)
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
