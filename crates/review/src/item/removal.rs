//! What hangs on an item goes with it.

use db::{
    Tx, each_backend, error,
    schema::{item_assignees, item_labels, item_subscriptions, timelogs},
};
use diesel::prelude::*;
use kernel::Result;

use super::{ItemId, traces};

/// Takes away everything that is kept beside an item.
pub(crate) fn forget(tx: &mut Tx<'_>, item: ItemId) -> Result<()> {
    macro_rules! forget { ($($table:ident),*) => { $({
        let rows = $table::table
            .filter($table::item_kind.eq(item.kind).and($table::item_id.eq(item.id)));
        let rows = diesel::delete(rows);
        each_backend!(tx, |conn| rows.execute(conn).map_err(error("Item")))?;
    })* } }
    forget!(item_labels, item_assignees, item_subscriptions, timelogs);
    traces::remove(tx, item)
}
