//! With which boards people worked last.

use db::{Tx, each_backend, error, schema::board_visits as visits};
use diesel::prelude::*;
use kernel::{Result, ids::UserId};

use super::{access::BoardItems, model::Board, store::BoardStore as _};
use crate::ReadGrant;

/// So many visits of somebody are looked at, of whatever project or group.
const LOOKED_AT: i64 = 500;

/// Notes that somebody works with a board.
pub fn note(tx: &mut Tx<'_>, user: UserId, board: i64) -> Result<()> {
    let old = diesel::delete(visits::table.find((user, board)));
    each_backend!(tx, |conn| old.execute(conn).map_err(error("Board")))?;
    let row = (visits::user_id.eq(user), visits::board_id.eq(board), visits::visited_at.eq(tx.now));
    each_backend!(tx, |conn| diesel::insert_into(visits::table)
        .values(row)
        .execute(conn)
        .map_err(error("Board")))?;
    Ok(())
}

/// The boards of a project or group with which the caller worked, the last one first.
pub fn recent<K: BoardItems>(
    tx: &mut Tx<'_>,
    grant: &impl ReadGrant<K>,
    most: usize,
) -> Result<Vec<Board>> {
    let Some(user) = grant.actor().id else { return Ok(Vec::new()) };
    let home = grant.home();
    let last = visits::table
        .filter(visits::user_id.eq(user))
        .order((visits::visited_at.desc(), visits::board_id.desc()))
        .limit(LOOKED_AT)
        .select(visits::board_id);
    let last: Vec<i64> = each_backend!(tx, |conn| last.load(conn).map_err(error("Board")))?;
    let mut boards = tx.boards_by_id(&last)?;
    boards.retain(|board| board.item_kind == K::KIND && board.home() == home);
    boards.sort_by_key(|board| last.iter().position(|id| *id == board.id));
    boards.truncate(most);
    Ok(boards)
}
