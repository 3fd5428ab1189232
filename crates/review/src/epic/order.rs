//! The order that people give the issues of an epic.

use db::{Tx, each_backend, error, schema::issues};
use diesel::prelude::*;
use kernel::{Result, ids::IssueId};

use crate::issue::{APART, order::Between};

/// The place before all issues of an epic.
pub(crate) fn first_place(tx: &mut Tx<'_>, epic: i64) -> Result<i64> {
    let least = issues::table
        .filter(issues::epic_id.eq(epic))
        .select(diesel::dsl::min(issues::epic_position));
    let least: Option<i64> =
        each_backend!(tx, |conn| least.get_result(conn).map_err(error("Issue")))?;
    Ok(least.unwrap_or_default() - APART)
}

/// Puts an issue elsewhere among those of its epic. Whether what was named is there to put it beside is the answer.
pub(super) fn place(tx: &mut Tx<'_>, epic: i64, issue: IssueId, between: Between) -> Result<bool> {
    let rows = issues::table
        .filter(issues::epic_id.eq(epic))
        .order((issues::epic_position, issues::id.desc()))
        .select((issues::id, issues::epic_position));
    let rows: Vec<(IssueId, Option<i64>)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Issue")))?;
    let mut order: Vec<IssueId> =
        rows.iter().map(|(id, _)| *id).filter(|id| *id != issue).collect();
    let at = |order: &[IssueId], id: IssueId| order.iter().position(|other| *other == id);
    let to = match (between.first, between.second) {
        (Some(first), _) => at(&order, first).map(|place| place + 1),
        (None, Some(second)) => at(&order, second),
        (None, None) => None,
    };
    let Some(to) = to.filter(|_| rows.iter().any(|(id, _)| *id == issue)) else {
        return Ok(false);
    };
    if between.second.is_some_and(|second| at(&order, second).is_none()) {
        return Ok(false);
    }
    order.insert(to, issue);
    let kept = |id: IssueId| rows.iter().find(|(other, _)| *other == id).and_then(|(_, at)| *at);
    let before = to.checked_sub(1).and_then(|place| order.get(place)).and_then(|id| kept(*id));
    let after = order.get(to + 1).and_then(|id| kept(*id));
    let between = match (before, after) {
        (Some(before), Some(after)) if after - before >= 2 => Some(before + (after - before) / 2),
        (Some(_), Some(_)) | (None, None) => None,
        (Some(before), None) => Some(before + APART),
        (None, Some(after)) => Some(after - APART),
    };
    match between {
        Some(position) => put(tx, issue, position)?,
        // There is no room left: all of them get some.
        None => {
            for (position, id) in (1_i64..).zip(order) {
                put(tx, id, position * APART)?;
            }
        }
    }
    Ok(true)
}

fn put(tx: &mut Tx<'_>, issue: IssueId, position: i64) -> Result<()> {
    let row = diesel::update(issues::table.find(issue));
    let row = row.set(issues::epic_position.eq(position));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?;
    Ok(())
}
