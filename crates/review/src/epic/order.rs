//! The order that people give the issues of an epic, and the epics inside of it.

use db::{
    Tx, each_backend, error,
    schema::{epics, issues},
};
use diesel::prelude::*;
use kernel::{Result, ids::IssueId};

use crate::issue::{APART, order::Neighbors};

/// The place before all issues of an epic.
pub(crate) fn first_place(tx: &mut Tx<'_>, epic: i64) -> Result<i64> {
    let least = issues::table
        .filter(issues::epic_id.eq(epic))
        .select(diesel::dsl::min(issues::epic_position));
    let least: Option<i64> =
        each_backend!(tx, |conn| least.get_result(conn).map_err(error("Issue")))?;
    Ok(least.unwrap_or_default() - APART)
}

/// The place before all epics inside of an epic.
pub(super) fn first_place_inside(tx: &mut Tx<'_>, epic: i64) -> Result<i64> {
    let least = epics::table
        .filter(epics::parent_id.eq(epic))
        .select(diesel::dsl::min(epics::parent_position));
    let least: Option<i64> =
        each_backend!(tx, |conn| least.get_result(conn).map_err(error("Epic")))?;
    Ok(least.unwrap_or_default() - APART)
}

/// Puts an issue elsewhere among those of its epic. Whether what was named is there to put it beside is the answer.
pub(super) fn place(
    tx: &mut Tx<'_>,
    epic: i64,
    issue: IssueId,
    between: Neighbors,
) -> Result<bool> {
    let rows = issues::table
        .filter(issues::epic_id.eq(epic))
        .order((issues::epic_position, issues::id.desc()))
        .select((issues::id, issues::epic_position));
    let rows: Vec<(IssueId, Option<i64>)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Issue")))?;
    let Some(moved) = moves(&rows, issue, between.first, between.second) else {
        return Ok(false);
    };
    for (id, position) in moved {
        let row = diesel::update(issues::table.find(id));
        let row = row.set(issues::epic_position.eq(position));
        each_backend!(tx, |conn| row.execute(conn).map_err(error("Issue")))?;
    }
    Ok(true)
}

/// As [`place`], for an epic among those inside of another one: after the first and before the second.
pub(super) fn place_inside(
    tx: &mut Tx<'_>,
    parent: i64,
    child: i64,
    first: Option<i64>,
    second: Option<i64>,
) -> Result<bool> {
    let rows = epics::table
        .filter(epics::parent_id.eq(parent))
        .order((epics::parent_position, epics::id.desc()))
        .select((epics::id, epics::parent_position));
    let rows: Vec<(i64, Option<i64>)> =
        each_backend!(tx, |conn| rows.load(conn).map_err(error("Epic")))?;
    let Some(moved) = moves(&rows, child, first, second) else { return Ok(false) };
    for (id, position) in moved {
        let row = diesel::update(epics::table.find(id)).set(epics::parent_position.eq(position));
        each_backend!(tx, |conn| row.execute(conn).map_err(error("Epic")))?;
    }
    Ok(true)
}

/// The positions to be written so that one stands after the first and before the second; `None` where these are not
/// there, or stand the other way round.
fn moves<I: Copy + PartialEq>(
    rows: &[(I, Option<i64>)],
    one: I,
    first: Option<I>,
    second: Option<I>,
) -> Option<Vec<(I, i64)>> {
    let mut order: Vec<I> = rows.iter().map(|(id, _)| *id).filter(|id| *id != one).collect();
    if order.len() == rows.len() {
        return None;
    }
    let at = |id: I| order.iter().position(|other| *other == id);
    let to = match (first, second) {
        (Some(first), _) => at(first)? + 1,
        (None, Some(second)) => at(second)?,
        (None, None) => return None,
    };
    if let Some(second) = second {
        at(second).filter(|place| *place >= to)?;
    }
    order.insert(to, one);
    let kept = |id: I| rows.iter().find(|(other, _)| *other == id).and_then(|(_, at)| *at);
    let before = to.checked_sub(1).and_then(|place| order.get(place)).and_then(|id| kept(*id));
    let after = order.get(to + 1).and_then(|id| kept(*id));
    let between = match (before, after) {
        (Some(before), Some(after)) if after - before >= 2 => Some(before + (after - before) / 2),
        (Some(_), Some(_)) | (None, None) => None,
        (Some(before), None) => Some(before + APART),
        (None, Some(after)) => Some(after - APART),
    };
    Some(match between {
        Some(position) => vec![(one, position)],
        // There is no room left: all of them get some.
        None => (1_i64..).zip(order).map(|(place, id)| (id, place * APART)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{APART, moves};

    #[test]
    fn one_is_put_between_two_and_room_is_made() {
        let rows = [(1, Some(10)), (2, Some(20)), (3, Some(21))];
        for (one, first, second, moved) in [
            (3, Some(1), None, Some(vec![(3, 15)])),
            (3, None, Some(1), Some(vec![(3, 10 - APART)])),
            (1, Some(3), None, Some(vec![(1, 21 + APART)])),
            (1, Some(2), Some(3), Some(vec![(2, APART), (1, 2 * APART), (3, 3 * APART)])),
            (1, Some(3), Some(2), None),
            (1, Some(4), None, None),
            (4, Some(1), None, None),
            (1, None, None, None),
        ] {
            assert_eq!(moves(&rows, one, first, second), moved, "{one} {first:?} {second:?}");
        }
    }
}
