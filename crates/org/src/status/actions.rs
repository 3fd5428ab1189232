//! Saying something, and taking it back when its time has come.

use std::collections::HashMap;

use db::{OneOf as _, Tx, each_backend, error, schema::user_statuses};
use diesel::prelude::*;
use kernel::{Result, Ts, ids::UserId};
use serde::{Deserialize, Serialize};
use worker::Job;

use super::{Availability, Status, emoji};
use crate::faults::Faults;

/// Shown where somebody says something and chooses no picture.
const DEFAULT_EMOJI: &str = "speech_balloon";
const LONGEST: usize = 100;

/// Takes away statuses whose time is over. Nobody sees them any more as it is.
#[derive(Debug, Serialize, Deserialize)]
pub struct ClearStatuses {}

impl Job for ClearStatuses {
    const KIND: &'static str = "org.clear_statuses";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

/// What somebody says now.
pub fn status(tx: &mut Tx<'_>, user: UserId) -> Result<Option<Status>> {
    let row = user_statuses::table.find(user);
    let found: Option<Status> = each_backend!(tx, |conn| row
        .select(Status::as_select())
        .get_result(conn)
        .optional()
        .map_err(error("Status")))?;
    let now = tx.now;
    Ok(found.filter(|status| status.clear_status_at.is_none_or(|end| end > now)))
}

/// As [`status`], of several people at once; those who say nothing have no entry.
pub fn statuses(tx: &mut Tx<'_>, users: &[UserId]) -> Result<HashMap<UserId, Status>> {
    let rows = user_statuses::table.filter(user_statuses::user_id.one_of(users));
    let rows: Vec<(UserId, Status)> = each_backend!(tx, |conn| rows
        .select((user_statuses::user_id, Status::as_select()))
        .load(conn)
        .map_err(error("Status")))?;
    let now = tx.now;
    let lasts = |status: &Status| status.clear_status_at.is_none_or(|end| end > now);
    Ok(rows.into_iter().filter(|(_, status)| lasts(status)).collect())
}

/// Says something; with nothing to say, falls silent.
pub fn set(tx: &mut Tx<'_>, user: UserId, status: Status) -> Result<Option<Status>> {
    let message = status.message.filter(|text| !text.trim().is_empty());
    let silent = status.emoji.is_empty() && message.is_none();
    if silent && status.availability == Availability::NotSet {
        clear(tx, user)?;
        return Ok(None);
    }
    let emoji = match status.emoji.as_str() {
        "" => DEFAULT_EMOJI.to_owned(),
        given => given.to_owned(),
    };
    let status = Status { emoji, message, ..status };
    let mut faults = Faults::default();
    if emoji::find(&status.emoji).is_none() {
        faults.add("emoji", "is not a valid emoji name");
    }
    faults.at_most("message", status.message.as_deref(), LONGEST);
    faults.into_result()?;
    save_status(tx, user, &status)?;
    Ok(Some(status))
}

fn save_status(tx: &mut Tx<'_>, user: UserId, status: &Status) -> Result<()> {
    let said = (
        user_statuses::emoji.eq(&status.emoji),
        user_statuses::message.eq(&status.message),
        user_statuses::availability.eq(status.availability),
        user_statuses::clear_status_at.eq(status.clear_status_at),
    );
    let row = (user_statuses::user_id.eq(user), said);
    let upsert = diesel::insert_into(user_statuses::table)
        .values(row)
        .on_conflict(user_statuses::user_id)
        .do_update()
        .set(said);
    each_backend!(tx, |conn| upsert.execute(conn).map_err(error("Status")))?;
    Ok(())
}

fn clear(tx: &mut Tx<'_>, user: UserId) -> Result<()> {
    let gone = diesel::delete(user_statuses::table.find(user));
    each_backend!(tx, |conn| gone.execute(conn).map_err(error("Status")))?;
    Ok(())
}

pub fn clear_ended(tx: &mut Tx<'_>) -> Result<usize> {
    let now: Ts = tx.now;
    let ended = user_statuses::table
        .filter(user_statuses::clear_status_at.is_not_null())
        .filter(user_statuses::clear_status_at.le(Some(now)));
    each_backend!(tx, |conn| diesel::delete(ended).execute(conn).map_err(error("Status")))
}
