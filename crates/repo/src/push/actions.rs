//! The steps of a push, in the order in which they happen.

use std::sync::Arc;

use db::{Database, Tx, checksum::refs::RefHolder};
use kernel::{Error, Result};

use super::{Incoming, Journal, Push, RefRejection, check_push_rule, head, journal::JournalStore};
use crate::{
    Event, checksum,
    commit::Writer,
    git::{Storage, refs},
    ports::AfterPush,
    protection,
};

/// Refuses what the project's rules forbid, in the words that the pusher reads.
pub fn check(tx: &mut Tx<'_>, push: &Push) -> Result<()> {
    let fork_push_access = push.fork_push_access.as_deref();
    protection::rules::check_changes(
        tx,
        &push.who,
        &push.project,
        &push.changes,
        push.via,
        fork_push_access,
    )
}

/// The database half of a push. Its commit is the decision: from then on the refs have moved.
pub fn record(tx: &mut Tx<'_>, push: &Push) -> Result<()> {
    tx.insert_push(push)?;
    if let Some(also) = &push.also {
        also.happen(tx)?;
    }
    tx.emit(Event::of_push(push))?;
    // Last of all: pushes to one project wait for each other from here to the commit.
    checksum::keep(tx, RefHolder::Repository(push.project.id), &push.moves())
}

/// Checks and records a push whose refs are locked, in one transaction.
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

/// Notes that the refs have followed.
fn finish(journal: &Journal, batch: String) {
    journal.record_finished(batch);
}

/// Moves refs on behalf of the API: checks, decides and carries out. The objects must be durable already.
///
/// A caller that goes away does not stop it half-way.
///
/// # Errors
/// `BadRequest` with the text of the rule that forbids it, or that somebody else was faster.
pub async fn apply(by: Writer<'_>, push: Push) -> Result<()> {
    Ok(try_apply(by, push).await?)
}

/// As [`apply`], for those who know what to do when somebody else was faster.
pub(crate) async fn try_apply(by: Writer<'_>, push: Push) -> Result<(), RefRejection> {
    let push = push.with_fork_push_access(by.fork_push_access);
    let incoming = Incoming::settled(by.git, &by.storage.repository(push.project.id));
    check_push_rule(by.db, by.people, &incoming, &push).await?;
    land(by, push).await
}

/// Decides a push that was examined, and carries it out. Its objects must be durable already.
///
/// A caller that goes away does not stop it half-way.
pub async fn land(by: Writer<'_>, mut push: Push) -> Result<(), RefRejection> {
    let Writer { db, git, storage, repositories, journal, aftermath, .. } = by;
    head::find_head_move(git, repositories, storage, &mut push).await?;
    let (db, storage, journal) = (db.clone(), storage.clone(), journal.clone());
    let aftermath = Arc::clone(aftermath);
    let done = db::spawn(async move {
        carry_out(&db, &storage, &journal, push.clone()).await?;
        follow(&aftermath, &push).await;
        Ok(())
    });
    done.await.map_err(Error::internal)?
}

/// Does what has to be done before the pusher is answered. The refs have moved: what fails is done later.
async fn follow(aftermath: &Arc<dyn AfterPush>, push: &Push) {
    if let Err(cause) = aftermath.follow(push).await {
        tracing::warn!(project = %push.project.id, error = %cause, "what follows from a push is left for later");
    }
}

async fn carry_out(
    db: &Database,
    storage: &Storage,
    journal: &Journal,
    push: Push,
) -> Result<(), RefRejection> {
    let repo = storage.repository(push.project.id);
    let prepared = match refs::prepare(&repo, &push.moves()).await {
        Ok(prepared) => prepared,
        Err(error) => return Err(RefRejection::of(&repo, &push.changes, error).await),
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
