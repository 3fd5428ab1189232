//! Subscriptions to items: explicit ones, and those of participants.

use db::{
    Tx, each_backend, error,
    schema::{
        item_assignees as assignees, item_participants, item_subscriptions as subscriptions, notes,
    },
};
use diesel::{dsl::exists, prelude::*};
use kernel::{Error, Result, ids::UserId};

use super::{Item, ItemId, ItemStore};
use crate::reference::ParticipantStore as _;

/// Whether somebody hears of an item, by one statement.
pub fn is_subscribed(tx: &mut Tx<'_>, item: &Item, user: UserId) -> Result<bool> {
    let ItemId { kind, id } = item.id;
    let said = subscriptions::table.find((kind, id, user)).select(subscriptions::subscribed);
    let assigned = assignees::table.find((kind, id, user));
    let named = item_participants::table.find((kind, id, user));
    let commented = notes::table
        .filter(notes::item_kind.eq(kind).and(notes::item_id.eq(id)))
        .filter(notes::author_id.eq(user).and(notes::is_system.eq(false)));
    let takes_part = exists(assigned).or(exists(named)).or(exists(commented));
    let (said, takes_part): (Option<bool>, bool) =
        each_backend!(tx, |conn| diesel::select((said.single_value(), takes_part))
            .get_result(conn)
            .map_err(error("Subscription")))?;
    Ok(said.unwrap_or(takes_part || item.author == user))
}

/// Begins or ends to hear of an item.
///
/// # Errors
/// `Unchanged` where it was so already.
pub fn set_subscription(tx: &mut Tx<'_>, item: &Item, user: UserId, wanted: bool) -> Result<()> {
    if is_subscribed(tx, item, user)? == wanted {
        return Err(Error::unchanged());
    }
    let row = (
        subscriptions::item_kind.eq(item.id.kind),
        subscriptions::item_id.eq(item.id.id),
        subscriptions::user_id.eq(user),
        subscriptions::subscribed.eq(wanted),
    );
    each_backend!(tx, |conn| diesel::insert_into(subscriptions::table)
        .values(row)
        .on_conflict((subscriptions::item_kind, subscriptions::item_id, subscriptions::user_id,))
        .do_update()
        .set(subscriptions::subscribed.eq(wanted))
        .execute(conn)
        .map_err(error("Subscription")))?;
    Ok(())
}

/// Who wrote an item, who it is given to, and who said something about it, in this order.
pub fn participants(tx: &mut Tx<'_>, item: &Item) -> Result<Vec<UserId>> {
    let mut all = vec![item.author];
    let assigned = tx.assignees_of(item.id.kind, &[item.id.id])?;
    all.extend(assigned.into_values().flatten());
    let commented = notes::table
        .filter(notes::item_kind.eq(item.id.kind).and(notes::item_id.eq(item.id.id)))
        .filter(notes::is_system.eq(false).and(notes::internal.eq(false)))
        .order(notes::author_id)
        .select(notes::author_id)
        .distinct();
    let commented: Vec<UserId> =
        each_backend!(tx, |conn| commented.load(conn).map_err(error("Note")))?;
    all.extend(commented);
    let mentioned = tx.participants_of(item.id.kind, &[item.id.id])?;
    all.extend(mentioned.into_values().flatten());
    let mut seen = std::collections::HashSet::new();
    all.retain(|user| seen.insert(*user));
    Ok(all)
}
