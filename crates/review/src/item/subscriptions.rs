//! Subscriptions to items: explicit ones, and those of participants.

use std::collections::{HashMap, HashSet};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{
        item_assignees as assignees, item_participants, item_subscriptions as subscriptions, notes,
    },
};
use diesel::{dsl::exists, prelude::*};
use kernel::{Error, Result, ids::UserId};

use super::{Item, ItemId, ItemKind, ItemStore};
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

/// Those of these items of one kind that somebody hears of, each with its author.
pub fn subscribed_among(
    tx: &mut Tx<'_>,
    kind: ItemKind,
    items: &[(i64, UserId)],
    user: UserId,
) -> Result<HashSet<i64>> {
    let ids: Vec<i64> = items.iter().map(|(id, _)| *id).collect();
    let said = subscriptions::table
        .filter(subscriptions::item_kind.eq(kind).and(subscriptions::item_id.one_of(&ids)))
        .filter(subscriptions::user_id.eq(user))
        .select((subscriptions::item_id, subscriptions::subscribed));
    let said: Vec<(i64, bool)> =
        each_backend!(tx, |conn| said.load(conn).map_err(error("Subscription")))?;
    let said: HashMap<i64, bool> = said.into_iter().collect();
    let assigned = assignees::table
        .filter(assignees::item_kind.eq(kind).and(assignees::item_id.one_of(&ids)))
        .filter(assignees::user_id.eq(user))
        .select(assignees::item_id);
    let mut takes_part: Vec<i64> =
        each_backend!(tx, |conn| assigned.load(conn).map_err(error("User")))?;
    let named = item_participants::table
        .filter(item_participants::item_kind.eq(kind))
        .filter(item_participants::item_id.one_of(&ids))
        .filter(item_participants::user_id.eq(user))
        .select(item_participants::item_id);
    let named: Vec<i64> = each_backend!(tx, |conn| named.load(conn).map_err(error("User")))?;
    let commented = notes::table
        .filter(notes::item_kind.eq(kind).and(notes::item_id.one_of(&ids)))
        .filter(notes::author_id.eq(user).and(notes::is_system.eq(false)))
        .select(notes::item_id)
        .distinct();
    let commented: Vec<i64> =
        each_backend!(tx, |conn| commented.load(conn).map_err(error("Note")))?;
    takes_part.extend(named);
    takes_part.extend(commented);
    let takes_part: HashSet<i64> = takes_part.into_iter().collect();
    let hears = |(id, author): &(i64, UserId)| {
        let implied = takes_part.contains(id) || *author == user;
        said.get(id).copied().unwrap_or(implied).then_some(*id)
    };
    Ok(items.iter().filter_map(hears).collect())
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
    let all = participants_of_all(tx, item.id.kind, &[(item.id.id, item.author)])?;
    Ok(all.into_values().next().unwrap_or_default())
}

/// As [`participants`], of several items of one kind, each with its author.
pub fn participants_of_all(
    tx: &mut Tx<'_>,
    kind: ItemKind,
    items: &[(i64, UserId)],
) -> Result<HashMap<i64, Vec<UserId>>> {
    let ids: Vec<i64> = items.iter().map(|(id, _)| *id).collect();
    let mut all: HashMap<i64, Vec<UserId>> =
        items.iter().map(|(id, author)| (*id, vec![*author])).collect();
    let mut add = |id: i64, people: Vec<UserId>| {
        if let Some(known) = all.get_mut(&id) {
            known.extend(people);
        }
    };
    for (id, assigned) in tx.assignees_of(kind, &ids)? {
        add(id, assigned);
    }
    let commented = notes::table
        .filter(notes::item_kind.eq(kind).and(notes::item_id.one_of(&ids)))
        .filter(notes::is_system.eq(false).and(notes::internal.eq(false)))
        .order((notes::item_id, notes::author_id))
        .select((notes::item_id, notes::author_id))
        .distinct();
    let commented: Vec<(i64, UserId)> =
        each_backend!(tx, |conn| commented.load(conn).map_err(error("Note")))?;
    for (id, author) in commented {
        add(id, vec![author]);
    }
    for (id, mentioned) in tx.participants_of(kind, &ids)? {
        add(id, mentioned);
    }
    for people in all.values_mut() {
        let mut seen = HashSet::new();
        people.retain(|user| seen.insert(*user));
    }
    Ok(all)
}
