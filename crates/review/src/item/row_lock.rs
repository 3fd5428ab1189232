//! One after the other: who works something out from other rows and keeps it with an item waits for whoever does so
//! already. Where writers come one after the other anyway, nothing is asked.

use db::{
    Conn, OneOf as _, Tx, error,
    schema::{epics, issues, merge_requests},
};
use diesel::prelude::*;
use kernel::{
    Result, TextEnum as _,
    ids::{IssueId, MergeRequestId, ProjectId},
};

use super::{ItemId, ItemKind};
use crate::merge_request::{
    MergeRequest, MergeRequestState, MergeRequestStore as _, MergeStatus, mergeability::CheckStep,
};

/// Nobody else changes the item before this transaction is over. Tells whether somebody may have since it was read.
pub(crate) fn hold(tx: &mut Tx<'_>, item: ItemId) -> Result<bool> {
    let Conn::Postgres(conn) = &mut tx.conn else { return Ok(false) };
    let conn = &mut **conn;
    match item.kind {
        ItemKind::Issue => {
            let row = issues::table.find(IssueId(item.id)).select(issues::id);
            row.for_no_key_update().load::<IssueId>(conn).map_err(error("Issue"))?;
        }
        ItemKind::MergeRequest => {
            let row = merge_requests::table.find(MergeRequestId(item.id));
            let row = row.select(merge_requests::id).for_no_key_update();
            row.load::<MergeRequestId>(conn).map_err(error("Merge request"))?;
        }
        ItemKind::Epic => {
            let row = epics::table.find(item.id).select(epics::id);
            row.for_no_key_update().load::<i64>(conn).map_err(error("Epic"))?;
        }
    }
    Ok(true)
}

/// A merge request that nobody else changes before this transaction is over, as it is then.
pub fn held_merge_request(tx: &mut Tx<'_>, id: MergeRequestId) -> Result<MergeRequest> {
    hold(tx, id.into())?;
    tx.merge_request(id)
}

/// As `hold`, for what a move of these branches changes: the merge requests that come from them, and of those that lead
/// to them the ones that wait, are being merged, or say something that is true no longer. In one order, so that of two
/// who hold several neither waits for the other.
pub fn hold_merge_requests_of(
    tx: &mut Tx<'_>,
    project: ProjectId,
    branches: &[&str],
) -> Result<()> {
    let Conn::Postgres(conn) = &mut tx.conn else { return Ok(()) };
    let from = merge_requests::source_project_id
        .eq(project)
        .assume_not_null()
        .and(merge_requests::source_branch.one_of(branches));
    let statuses = MergeStatus::ALL.iter().copied();
    let changing = statuses.filter(|status| status.after(CheckStep::Changed) != *status);
    let says = merge_requests::state
        .eq(MergeRequestState::Opened)
        .and(merge_requests::merge_status.eq_any(changing.collect::<Vec<_>>()));
    let waits = merge_requests::auto_merge
        .is_not_null()
        .or(merge_requests::state.eq(MergeRequestState::Locked));
    let into = merge_requests::project_id
        .eq(project)
        .and(merge_requests::target_branch.one_of(branches))
        .and(says.or(waits));
    let rows = merge_requests::table
        .filter(merge_requests::state.ne(MergeRequestState::Merged))
        .filter(from.or(into))
        .order(merge_requests::id)
        .select(merge_requests::id)
        .for_no_key_update();
    rows.load::<MergeRequestId>(&mut **conn).map_err(error("Merge request"))?;
    Ok(())
}

/// As [`hold_merge_requests_of`], for all of a project that are not over.
pub(crate) fn hold_merge_requests_in(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let Conn::Postgres(conn) = &mut tx.conn else { return Ok(()) };
    let rows = merge_requests::table
        .filter(merge_requests::project_id.eq(project))
        .filter(
            merge_requests::state.eq_any([MergeRequestState::Opened, MergeRequestState::Locked]),
        )
        .order(merge_requests::id)
        .select(merge_requests::id)
        .for_no_key_update();
    rows.load::<MergeRequestId>(&mut **conn).map_err(error("Merge request"))?;
    Ok(())
}
