//! Accounts that nobody uses, which the server deactivates where the settings say so.

use db::{Database, Tx, each_backend, error, schema::users};
use diesel::prelude::*;
use kernel::{Result, Ts, ids::UserId};
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::Job;

use super::{State, User, life::put_to_rest};
use crate::settings::{Settings, store::SettingsStore, table::LONGEST_DORMANT_DAYS};

/// An account that was never used is left alone for so long.
const YOUNGEST: Duration = Duration::days(7);
/// So many accounts are deactivated in one transaction.
const BATCH: i64 = 200;

/// Deactivates accounts that nobody uses, where the settings say so.
#[derive(Debug, Serialize, Deserialize)]
pub struct DeactivateDormantUsers {}

impl Job for DeactivateDormantUsers {
    const KIND: &'static str = "org.deactivate_dormant";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

impl DeactivateDormantUsers {
    pub async fn run(self, db: &Database) -> Result<()> {
        while db.write(deactivate_some).await? {}
        Ok(())
    }
}

/// Days without activity after which an account is dormant. What was stored before there was a bound may be larger.
pub(super) fn dormant_days(settings: &Settings) -> i64 {
    settings.deactivate_dormant_users_period.clamp(0, LONGEST_DORMANT_DAYS)
}

/// Deactivates people's accounts that nobody has used for as long as the settings say, or never in the week since they were
/// made; tells whether there may be more. The administrator who was there last keeps theirs.
fn deactivate_some(tx: &mut Tx<'_>) -> Result<bool> {
    let settings = tx.settings()?;
    if !settings.deactivate_dormant_users() {
        return Ok(false);
    }
    let since = tx.now.plus(-Duration::days(dormant_days(&settings)));
    let kept = last_administrator(tx)?;
    let found = dormant_users(tx, since, kept)?;
    for user in &found {
        put_to_rest(tx, None, user)?;
    }
    Ok(i64::try_from(found.len()).unwrap_or(0) == BATCH)
}

fn dormant_users(tx: &mut Tx<'_>, since: Ts, kept: Option<UserId>) -> Result<Vec<User>> {
    let rows = users::table
        .filter(users::state.eq(State::Active))
        .filter(users::bot.eq(false))
        .filter(users::internal.eq(false))
        .filter(users::last_activity_at.is_null().or(users::last_activity_at.le(since)))
        .filter(users::current_sign_in_at.is_null().or(users::current_sign_in_at.le(since)))
        .filter(users::created_at.le(tx.now.plus(-YOUNGEST)))
        .filter(users::id.ne(kept.unwrap_or(UserId(0))))
        .order(users::id)
        .limit(BATCH);
    each_backend!(tx, |conn| rows.select(User::as_select()).load(conn).map_err(error("User")))
}

/// Without any administrator, nobody could activate the others.
fn last_administrator(tx: &mut Tx<'_>) -> Result<Option<UserId>> {
    type Row = (UserId, Option<Ts>, Option<Ts>);
    let rows = users::table
        .filter(users::admin.eq(true))
        .filter(users::state.eq(State::Active))
        .filter(users::bot.eq(false))
        .filter(users::internal.eq(false))
        .order(users::id)
        .select((users::id, users::last_activity_at, users::current_sign_in_at));
    let rows: Vec<Row> = each_backend!(tx, |conn| rows.load(conn).map_err(error("User")))?;
    let last = rows.into_iter().max_by_key(|(_, active, signed_in)| *active.max(signed_in));
    Ok(last.map(|(id, ..)| id))
}
