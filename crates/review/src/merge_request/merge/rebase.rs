//! The merge requests that are being rebased, in the whole installation.

use std::collections::HashMap;

use db::{OneOf as _, Tx, each_backend, error, schema::merge_request_rebases as rebases};
use diesel::prelude::*;
use kernel::{Result, ids::MergeRequestId};
use time::Duration;

/// Whoever rebases says so again before this is over; who does not is gone.
pub const HELD: Duration = Duration::minutes(1);

/// Whether it begins now; `false` where it is under way already.
pub fn begin(tx: &mut Tx<'_>, id: MergeRequestId) -> Result<bool> {
    let gone = rebases::table.find(id).filter(rebases::held_until.lt(tx.now));
    each_backend!(tx, |conn| diesel::delete(gone).execute(conn).map_err(error("Rebase")))?;
    let row = (rebases::merge_request_id.eq(id), rebases::held_until.eq(tx.now.plus(HELD)));
    let row = diesel::insert_into(rebases::table).values(row).on_conflict_do_nothing();
    let begun = each_backend!(tx, |conn| row.execute(conn).map_err(error("Rebase")))?;
    Ok(begun > 0)
}

/// It goes on.
pub fn go_on(tx: &mut Tx<'_>, id: MergeRequestId) -> Result<()> {
    let row = diesel::update(rebases::table.find(id));
    let row = row.set(rebases::held_until.eq(tx.now.plus(HELD)));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Rebase")))?;
    Ok(())
}

/// It has ended, whatever came of it.
pub fn end(tx: &mut Tx<'_>, id: MergeRequestId) -> Result<()> {
    let row = diesel::delete(rebases::table.find(id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Rebase")))?;
    Ok(())
}

pub fn is_under_way(tx: &mut Tx<'_>, id: MergeRequestId) -> Result<bool> {
    let row = rebases::table.find(id).filter(rebases::held_until.ge(tx.now));
    each_backend!(tx, |conn| diesel::select(diesel::dsl::exists(row))
        .get_result(conn)
        .map_err(error("Rebase")))
}

/// Which of these are being rebased.
pub fn under_way(tx: &mut Tx<'_>, ids: &[MergeRequestId]) -> Result<HashMap<MergeRequestId, bool>> {
    let rows = rebases::table
        .filter(rebases::merge_request_id.one_of(ids).and(rebases::held_until.ge(tx.now)))
        .select(rebases::merge_request_id);
    let found: Vec<MergeRequestId> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Rebase")))?;
    Ok(found.into_iter().map(|id| (id, true)).collect())
}
