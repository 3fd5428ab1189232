//! Saying how long something is thought to take, and how long was worked on it.
//!
//! [`set_estimate`], [`add`] and [`take_all_back`] are for others of this crate who have checked who may: quick actions.

use db::Tx;
use kernel::{Error, Faults, Result, Ts, ids::UserId, time::date_text};

use super::{
    duration::{human, parse},
    event::Event,
    store::{SpentTime, TimeStats, TimeStore},
    timelog::{Timelog, TimelogStore as _},
};
use crate::{
    item::{Item, ItemStore as _, ManageItemsGrant, ReadItemsGrant, is_readable_by},
    note::write_system_note,
};

const LONGEST_SUMMARY: usize = 255;
const NO_ESTIMATE: &str = "must have a valid format and be greater than or equal to zero.";
const NO_SPAN: &str = "Time spent must be formatted correctly. For example: 1h 30m.";
const IN_FUTURE: &str = "Spent at can't be a future date and time.";
const TOO_MUCH: &str = "Time to subtract exceeds the total time spent";
const TOO_LONG: &str = "Time to add exceeds the longest total time spent";

fn item<G: ReadItemsGrant>(tx: &mut Tx<'_>, grant: &G, iid: i64) -> Result<Item> {
    let found = tx.find_item(grant.home(), G::KIND, iid)?.ok_or_else(Error::missing)?;
    if is_readable_by(tx, grant.who(), &found)? { Ok(found) } else { Err(Error::missing()) }
}

/// How long an item took, and how long it was thought to.
pub fn stats<G: ReadItemsGrant>(tx: &mut Tx<'_>, grant: &G, iid: i64) -> Result<TimeStats> {
    let item = item(tx, grant, iid)?;
    tx.time_stats(item.id)
}

/// Says how long an item is thought to take; `None` takes that back.
///
/// # Errors
/// `BadRequest` for what is no span of time, or one below zero.
pub fn estimate<G: ManageItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    iid: i64,
    duration: Option<&str>,
) -> Result<TimeStats> {
    let item = item(tx, grant, iid)?;
    let seconds = duration.map_or(Some(0), parse).filter(|seconds| *seconds >= 0);
    let seconds = seconds.ok_or_else(|| Error::invalid("time_estimate", NO_ESTIMATE))?;
    set_estimate(tx, &item, grant.user()?, seconds)
}

/// As [`estimate`], for whoever was found to be allowed to.
pub fn set_estimate(tx: &mut Tx<'_>, item: &Item, by: UserId, seconds: i64) -> Result<TimeStats> {
    let before = tx.time_stats(item.id)?;
    if before.estimate == seconds {
        return Ok(before);
    }
    let told = match human(seconds, false) {
        Some(span) => format!("changed time estimate to {span}"),
        None => "removed time estimate".to_owned(),
    };
    write_system_note(tx, item, by, &told)?;
    let stats = tx.save_estimate(item.id, seconds)?;
    // What somebody else spent meanwhile is announced by themselves.
    let before = TimeStats { spent: stats.spent, ..before };
    tx.emit(Event::new(item, &before, &stats, by))?;
    Ok(stats)
}

/// Notes that somebody worked on an item.
///
/// # Errors
/// `BadRequest` for what is no span of time, for a summary that is too long, and where more would be taken back than there
/// is.
pub fn spend<G: ManageItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    iid: i64,
    duration: &str,
    summary: Option<String>,
) -> Result<TimeStats> {
    let item = item(tx, grant, iid)?;
    let Some(seconds) = parse(duration).filter(|seconds| *seconds != 0) else {
        return Err(Error::invalid("timelogs.time_spent", "can't be blank"));
    };
    let mut faults = Faults::default();
    faults.at_most("timelogs.summary", summary.as_deref(), LONGEST_SUMMARY);
    faults.into_result()?;
    let summary = summary.filter(|text| !text.is_empty());
    add(tx, &item, grant.user()?, &SpentTime { seconds, at: tx.now, summary })
}

/// As [`spend`], on a day that may be another one than today. The answer is the entry that was made.
///
/// # Errors
/// As those of [`spend`]; `BadRequest` also for a moment that has yet to come.
pub fn log<G: ManageItemsGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    iid: i64,
    duration: &str,
    (at, summary): (Option<Ts>, Option<String>),
) -> Result<Timelog> {
    let item = item(tx, grant, iid)?;
    let Some(seconds) = parse(duration).filter(|seconds| *seconds != 0) else {
        return Err(Error::bad_request().sentences(vec![NO_SPAN.to_owned()]));
    };
    let at = at.unwrap_or(tx.now);
    if at > tx.now {
        return Err(Error::bad_request().sentences(vec![IN_FUTURE.to_owned()]));
    }
    let mut faults = Faults::default();
    faults.at_most("summary", summary.as_deref(), LONGEST_SUMMARY);
    faults.into_result()?;
    let (user, summary) = (grant.user()?, summary.filter(|text| !text.is_empty()));
    add(tx, &item, user, &SpentTime { seconds, at, summary })?;
    tx.newest_timelog(item.id, user)?.ok_or_else(Error::missing)
}

/// As [`spend`], for whoever was found to be allowed to.
pub fn add(tx: &mut Tx<'_>, item: &Item, by: UserId, spent: &SpentTime) -> Result<TimeStats> {
    let kept = tx.add_spent(item, by, spent)?;
    let fault = if spent.seconds < 0 { TOO_MUCH } else { TOO_LONG };
    let stats = kept.ok_or_else(|| Error::invalid("base", fault))?;
    let span = human(spent.seconds.saturating_abs(), false).unwrap_or_default();
    let verb = if spent.seconds < 0 { "subtracted" } else { "added" };
    let day = date_text(spent.at.date());
    let day = if spent.at.date() == tx.now.date() { String::new() } else { format!(" at {day}") };
    write_system_note(tx, item, by, &format!("{verb} {span} of time spent{day}"))?;
    announce_spent(tx, item, by, spent, &stats)?;
    Ok(stats)
}

/// Takes back all time that was spent on an item.
pub fn reset_spent<G: ManageItemsGrant>(tx: &mut Tx<'_>, grant: &G, iid: i64) -> Result<TimeStats> {
    let item = item(tx, grant, iid)?;
    take_all_back(tx, &item, grant.user()?)
}

/// As [`reset_spent`], for whoever was found to be allowed to.
pub fn take_all_back(tx: &mut Tx<'_>, item: &Item, by: UserId) -> Result<TimeStats> {
    let stats = tx.time_stats(item.id)?;
    if stats.spent == 0 {
        return Ok(stats);
    }
    let spent = SpentTime { seconds: -stats.spent, at: tx.now, summary: None };
    let kept = tx.add_spent(item, by, &spent)?;
    write_system_note(tx, item, by, "removed time spent")?;
    if let Some(kept) = &kept {
        announce_spent(tx, item, by, &spent, kept)?;
    }
    Ok(kept.unwrap_or(stats))
}

fn announce_spent(
    tx: &mut Tx<'_>,
    item: &Item,
    by: UserId,
    spent: &SpentTime,
    after: &TimeStats,
) -> Result<()> {
    let before = TimeStats { spent: after.spent - spent.seconds, ..*after };
    tx.emit(Event::new(item, &before, after, by))
}
