//! The record while git merges: locked, and then merged together with the branch or open again with the reason.

use db::{
    Tx, each_backend, error,
    listing::{self, Bind},
    schema::merge_requests,
};
use diesel::prelude::*;
use kernel::{
    Error, Result, Ts,
    ids::{MergeRequestId, ProjectId, UserId},
};

use super::{AutoMerge, MergeabilityStore as _};
use crate::{
    item::{held_merge_request, hold_merge_requests_of},
    merge_request::{
        Columns, MergeRequest, MergeRequestState, MergeRequestStore as _, change_notes, state::Step,
    },
    todo::TodoStore as _,
};

/// Begins: of two who merge at once, one gets here.
///
/// # Errors
/// `Conflict` where it is not open any more.
pub fn begin(tx: &mut Tx<'_>, seen: &MergeRequest, wish: &AutoMerge) -> Result<MergeRequest> {
    let to = step(seen, Step::Lock)?;
    let columns = Columns {
        merge_error: Some(None),
        squash: wish.squash.then_some(true),
        should_remove_source_branch: wish.should_remove_source_branch.map(Some),
        ..Columns::default()
    };
    let locked = tx.step_merge_request(seen, to, &columns)?;
    set_locked_at(tx, locked.id, Some(tx.now))?;
    Ok(locked)
}

/// The commits that a merge created.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Of which head of the source.
    pub head: String,
    pub merge_commit: Option<String>,
    pub squash_commit: Option<String>,
}

/// Ends well: in the transaction that moves the target branch. Whoever moves the source waits, or is waited for; all
/// that the target touches is held in one order, as the push does right after this.
///
/// # Errors
/// `Conflict` where somebody opened it again, after it was locked for too long, where its source got other commits since,
/// and where it became a draft since.
pub fn complete(tx: &mut Tx<'_>, id: MergeRequestId, by: UserId, outcome: &Outcome) -> Result<()> {
    let seen = tx.merge_request(id)?;
    hold_merge_requests_of(tx, seen.project_id, &[&seen.target_branch])?;
    let row = tx.merge_request(id)?;
    let has_moved = row.head_sha.as_ref().is_some_and(|head| *head != outcome.head)
        || row.target_branch != seen.target_branch;
    if row.state != MergeRequestState::Locked || has_moved || row.draft {
        return Err(Error::conflict().whole("409 Conflict: Resource lock"));
    }
    set_locked_at(tx, id, None)?;
    let columns = Columns {
        merge_commit_sha: Some(outcome.merge_commit.clone()),
        squash_commit_sha: Some(outcome.squash_commit.clone()),
        ..Columns::default()
    };
    merged(tx, &row, Some(by), columns).map(drop)
}

/// The commits of a merge request up to `head` have arrived where it leads to, without it. Nothing where its source got
/// other commits since.
///
/// # Errors
/// `Conflict` where it is over already.
pub fn arrive(
    tx: &mut Tx<'_>,
    id: MergeRequestId,
    head: &str,
    by: Option<UserId>,
    brought_by: &str,
) -> Result<()> {
    let row = held_merge_request(tx, id)?;
    if row.head_sha.as_deref() != Some(head) {
        return Ok(());
    }
    let columns =
        Columns { merge_commit_sha: Some(Some(brought_by.to_owned())), ..Columns::default() };
    merged(tx, &row, by, columns).map(drop)
}

fn merged(
    tx: &mut Tx<'_>,
    row: &MergeRequest,
    by: Option<UserId>,
    columns: Columns,
) -> Result<MergeRequest> {
    let to = step(row, Step::Merge)?;
    let columns = Columns {
        merge_user_id: Some(by),
        merged_at: Some(Some(tx.now)),
        merge_error: Some(None),
        auto_merge: Some(None),
        ..columns
    };
    let merged = tx.step_merge_request(row, to, &columns)?;
    if let Some(by) = by {
        tx.finish_todos(merged.id.into(), by)?;
    }
    change_notes::step(tx, (&merged, row), by, Step::Merge)?;
    Ok(merged)
}

/// The merge request that was merged into a project by what a commit made of it, the newest of several.
pub fn merged_as(tx: &mut Tx<'_>, project: ProjectId, sha: &str) -> Result<Option<MergeRequest>> {
    // One after the other, each by its index: together, everything that was ever merged would be looked through.
    let by = |column: &str| {
        format!(
            "SELECT id FROM merge_requests WHERE project_id = $1 AND {column} = $2 AND state = '{}'",
            MergeRequestState::Merged
        )
    };
    let all = ["merge_commit_sha", "squash_commit_sha", "head_sha"].map(by).join(" UNION ");
    let newest = format!("{all} ORDER BY id DESC LIMIT 1");
    let binds = [Bind::Number(project.0), Bind::Word(sha.to_owned())];
    match listing::ids(tx, &newest, &binds)?.first() {
        Some(id) => tx.merge_request(MergeRequestId(*id)).map(Some),
        None => Ok(None),
    }
}

/// Ends badly: it is open again and says why.
pub fn fail(tx: &mut Tx<'_>, id: MergeRequestId, reason: &str) -> Result<MergeRequest> {
    let row = tx.merge_request(id)?;
    if row.state != MergeRequestState::Locked {
        return Ok(row);
    }
    unlock(tx, &row, Some(reason))
}

/// Opens what was left behind locked; `before` keeps away from merges that are under way. Returns which.
pub fn unlock_stale_merges(tx: &mut Tx<'_>, before: Option<Ts>) -> Result<Vec<MergeRequestId>> {
    let limit = before.unwrap_or(Ts(i64::MAX));
    let left = merge_requests::table
        .filter(merge_requests::state.eq(MergeRequestState::Locked))
        .filter(merge_requests::locked_at.lt(limit).or(merge_requests::locked_at.is_null()));
    let rows: Vec<MergeRequest> = each_backend!(tx, |conn| left
        .select(MergeRequest::as_select())
        .load(conn)
        .map_err(error("Merge request")))?;
    for row in &rows {
        unlock(tx, row, None)?;
    }
    Ok(rows.iter().map(|row| row.id).collect())
}

/// Its branches may have moved meanwhile: git is to be asked again.
fn unlock(tx: &mut Tx<'_>, row: &MergeRequest, reason: Option<&str>) -> Result<MergeRequest> {
    let to = step(row, Step::Unlock)?;
    tx.forget_look(row)?;
    let columns =
        Columns { merge_error: reason.map(|text| Some(text.to_owned())), ..Columns::default() };
    set_locked_at(tx, row.id, None)?;
    tx.step_merge_request(row, to, &columns)
}

fn step(row: &MergeRequest, step: Step) -> Result<MergeRequestState> {
    let to = row.state.after(step);
    to.ok_or_else(|| Error::conflict().whole("409 Conflict: Resource lock"))
}

fn set_locked_at(tx: &mut Tx<'_>, id: MergeRequestId, at: Option<Ts>) -> Result<()> {
    let row = diesel::update(merge_requests::table.find(id)).set(merge_requests::locked_at.eq(at));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Merge request")))?;
    Ok(())
}
