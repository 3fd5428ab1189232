//! Banned members of a top-level group, for its owners.

use db::{
    Tx, each_backend, error,
    schema::{namespace_bans, project_downloads as downloads, users},
};
use diesel::prelude::*;
use kernel::{
    Error, Grant, Result, Ts,
    ids::{NamespaceId, UserId},
    page::{Page, PageRequest, Total},
};

use super::store::NamespaceStore;
use crate::{access::bans, policy::ModerateGroup, user::User};

/// Somebody who is locked out, and since when.
pub type LockedOut = (User, Ts);

/// The group, which alone says whom it locks out of all below it.
fn top(tx: &mut Tx<'_>, grant: &Grant<ModerateGroup>) -> Result<NamespaceId> {
    let group = tx.namespace(grant.group())?;
    match group.parent_id {
        None => Ok(group.id),
        Some(_) => Err(Error::bad_request().because("Invalid group provided, must be top-level")),
    }
}

/// Everybody who is locked out, by their ids.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ModerateGroup>,
    page: PageRequest,
) -> Result<Page<LockedOut>> {
    let group = top(tx, grant)?;
    let here = namespace_bans::table.filter(namespace_bans::namespace_id.eq(group));
    let rows = here
        .inner_join(users::table.on(users::id.eq(namespace_bans::user_id)))
        .order(namespace_bans::user_id)
        .limit(page.per_page)
        .offset(page.offset());
    let items = each_backend!(tx, |conn| rows
        .select((User::as_select(), namespace_bans::created_at))
        .load(conn)
        .map_err(error("Ban")))?;
    let count = here.count();
    let total = each_backend!(tx, |conn| count.get_result(conn).map_err(error("Ban")))?;
    Ok(Page { items, total: Total::Counted(total) })
}

/// Lets somebody in again, as far as their roles reach. What they took until now is not held against them.
pub fn let_in(tx: &mut Tx<'_>, grant: &Grant<ModerateGroup>, user: UserId) -> Result<()> {
    let group = top(tx, grant)?;
    let row = namespace_bans::table.find((group, user)).select(namespace_bans::user_id);
    let found: Option<UserId> =
        each_backend!(tx, |conn| row.get_result(conn).optional().map_err(error("Ban")))?;
    found.ok_or_else(|| Error::not_found("User"))?;
    let taken = downloads::table
        .filter(downloads::namespace_id.eq(group))
        .filter(downloads::user_id.eq(user));
    each_backend!(tx, |conn| diesel::delete(taken).execute(conn).map_err(error("Download")))?;
    bans::let_in(tx, group, user)
}
