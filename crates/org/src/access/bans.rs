//! People who are locked out of a group: roles that they have there, or anywhere below it, count for nothing.

use db::{Tx, each_backend, error, schema::namespace_bans};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{NamespaceId, UserId},
};

use super::{lock_access_projection, refresh_group_member};

/// Locks somebody out; tells whether that is new.
pub fn lock_out(tx: &mut Tx<'_>, group: NamespaceId, user: UserId) -> Result<bool> {
    lock_access_projection(tx)?;
    let row = (
        namespace_bans::namespace_id.eq(group),
        namespace_bans::user_id.eq(user),
        namespace_bans::created_at.eq(tx.now),
    );
    let insert = diesel::insert_into(namespace_bans::table).values(row).on_conflict_do_nothing();
    let new = each_backend!(tx, |conn| insert.execute(conn).map_err(error("Ban")))?;
    if new > 0 {
        refresh_group_member(tx, group, user)?;
    }
    Ok(new > 0)
}

/// Lets somebody in again, as far as their roles reach.
pub fn let_in(tx: &mut Tx<'_>, group: NamespaceId, user: UserId) -> Result<()> {
    lock_access_projection(tx)?;
    let row = diesel::delete(namespace_bans::table.find((group, user)));
    let gone = each_backend!(tx, |conn| row.execute(conn).map_err(error("Ban")))?;
    if gone > 0 {
        refresh_group_member(tx, group, user)?;
    }
    Ok(())
}
