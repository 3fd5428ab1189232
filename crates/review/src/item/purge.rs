//! Deletes every row that refers to a deleted issue or merge request.

use db::{
    Tx, each_backend, error,
    schema::{
        award_emoji, events, item_mentions as mentions, item_participants as participants, notes,
        resource_events, todos,
    },
};
use diesel::prelude::*;
use kernel::Result;

use super::ItemId;
use crate::emoji::{AwardTarget, AwardedKind};

/// Removes what was said about an item, felt about it and asked of people.
pub fn remove(tx: &mut Tx<'_>, item: ItemId) -> Result<()> {
    let said = notes::table
        .filter(notes::item_kind.eq(item.kind).and(notes::item_id.eq(item.id)))
        .select(notes::id);
    let felt = award_emoji::table.filter(
        award_emoji::item_kind.eq(AwardedKind::Note).and(award_emoji::item_id.eq_any(said)),
    );
    each_backend!(tx, |conn| diesel::delete(felt).execute(conn).map_err(error("Award Emoji")))?;
    let of = AwardTarget::from(item);
    let felt = award_emoji::table
        .filter(award_emoji::item_kind.eq(of.kind).and(award_emoji::item_id.eq(of.id)));
    each_backend!(tx, |conn| diesel::delete(felt).execute(conn).map_err(error("Award Emoji")))?;
    macro_rules! forget { ($($table:ident $what:literal),* $(,)?) => { $(
        let rows = $table::table
            .filter($table::item_kind.eq(item.kind).and($table::item_id.eq(item.id)));
        each_backend!(tx, |conn| diesel::delete(rows).execute(conn).map_err(error($what)))?;
    )* } }
    forget! {
        notes "Note",
        todos "Todo",
        participants "User",
        resource_events "Event",
    }
    let feed =
        events::table.filter(events::item_kind.eq(item.kind).and(events::item_id.eq(item.id)));
    each_backend!(tx, |conn| diesel::delete(feed).execute(conn).map_err(error("Event")))?;
    let named = mentions::table.filter(
        (mentions::source_kind.eq(item.kind).and(mentions::source_id.eq(item.id)))
            .or(mentions::target_kind.eq(item.kind).and(mentions::target_id.eq(item.id))),
    );
    each_backend!(tx, |conn| diesel::delete(named).execute(conn).map_err(error("Item")))?;
    // Others were told that this one names them.
    let told =
        notes::table.filter(notes::source_kind.eq(item.kind).and(notes::source_id.eq(item.id)));
    each_backend!(tx, |conn| diesel::delete(told).execute(conn).map_err(error("Note")))?;
    Ok(())
}
