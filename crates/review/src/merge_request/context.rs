//! Commits of the target that help to understand a merge request, shown beside its own.

use db::Tx;
use kernel::{Error, Grant, Result};

use super::{MergeRequest, MergeRequestCommitStore as _, actions, change};
use crate::policy::TakePartInMergeRequests;

/// So many are given at once.
pub const MOST: usize = 20;
const TOO_MANY: &str = "Context commits array size should not be more than 20";
const UNKNOWN: &str = "One or more context commits' sha is not valid.";

/// Refuses more than are given at once.
pub fn ensure_few(shas: &[String]) -> Result<()> {
    if shas.len() > MOST { Err(Error::bad_request().whole(TOO_MANY)) } else { Ok(()) }
}

/// Shows commits beside those of a merge request. `found` are those of the asked ones that the project has.
///
/// # Errors
/// `BadRequest` for more than [`MOST`], for what is no commit, and for what is shown already.
pub fn add(
    tx: &mut Tx<'_>,
    grant: &Grant<TakePartInMergeRequests>,
    iid: i64,
    asked: &[String],
    found: &[String],
) -> Result<MergeRequest> {
    let row = changeable(tx, grant, iid)?;
    ensure_few(asked)?;
    if asked.len() != found.len() {
        return Err(Error::bad_request().whole(UNKNOWN));
    }
    let known = tx.context_commits(row.id)?;
    let again: Vec<&str> =
        found.iter().filter(|sha| known.contains(sha)).map(|sha| &sha[..10]).collect();
    if !again.is_empty() {
        let text = format!("Context commits: {again:?} are already created");
        return Err(Error::bad_request().whole(text));
    }
    tx.insert_context_commits(row.id, found)?;
    Ok(row)
}

/// Shows commits no more.
///
/// # Errors
/// `BadRequest` where one of them is not shown.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<TakePartInMergeRequests>,
    iid: i64,
    shas: &[String],
) -> Result<()> {
    let row = changeable(tx, grant, iid)?;
    let known = tx.context_commits(row.id)?;
    if shas.is_empty() || shas.iter().any(|sha| !known.contains(sha)) {
        return Err(Error::bad_request().whole(UNKNOWN));
    }
    tx.delete_context_commits(row.id, shas)
}

fn changeable(
    tx: &mut Tx<'_>,
    grant: &Grant<TakePartInMergeRequests>,
    iid: i64,
) -> Result<MergeRequest> {
    let row = actions::find(tx, grant, iid)?;
    change::ensure_may_update(tx, grant.who(), &row)?;
    Ok(row)
}
