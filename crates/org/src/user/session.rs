//! Browsers in which somebody is signed in. A session ends when nobody used it for as long as the installation says.

use db::{Tx, each_backend, error, schema::user_sessions as sessions};
use diesel::prelude::*;
use kernel::{Result, Ts, ids::UserId};
use time::Duration;

use super::{User, store::UserStore};
use crate::{
    settings::{Settings, store::SettingsStore},
    token::{Secret, oauth},
};

const NOUN: &str = "Session";
/// The use of a session is written down once in so long.
const PRECISION: Duration = Duration::minutes(1);
/// Somebody who signs in again and again leaves the newest so many.
const MOST: i64 = 100;

/// How long a session stays without use, in the settings' minutes; 0 is until the browser closes, a day at most.
fn lifetime(settings: &Settings) -> Duration {
    match settings.session_expire_delay().unwrap_or_default() {
        0 => Duration::days(1),
        minutes => Duration::minutes(minutes.min(i64::from(i32::MAX))),
    }
}

/// Since when the sessions were used that still count.
fn oldest_use(tx: &mut Tx<'_>) -> Result<Ts> {
    let lifetime = lifetime(&tx.settings()?);
    Ok(tx.now.plus(-lifetime))
}

/// Begins a session of somebody who proved who they are; what it answers is for their browser alone.
pub fn begin(tx: &mut Tx<'_>, user: UserId) -> Result<Secret> {
    let secret = Secret::generate_hex();
    let row = (
        sessions::user_id.eq(user),
        sessions::digest.eq(secret.digest()),
        sessions::created_at.eq(tx.now),
        sessions::last_used_at.eq(tx.now),
    );
    let insert = diesel::insert_into(sessions::table).values(row);
    each_backend!(tx, |conn| insert.execute(conn).map_err(error(NOUN)))?;
    let surplus = sessions::table
        .filter(sessions::user_id.eq(user))
        .order(sessions::id.desc())
        .offset(MOST)
        .limit(MOST)
        .select(sessions::id);
    let surplus: Vec<i64> = each_backend!(tx, |conn| surplus.load(conn).map_err(error(NOUN)))?;
    let rows = sessions::table.filter(sessions::id.eq_any(surplus));
    each_backend!(tx, |conn| diesel::delete(rows).execute(conn).map_err(error(NOUN)))?;
    Ok(secret)
}

/// Whose session it is, where it still counts and they may still sign in; notes that it was used.
pub fn resume(tx: &mut Tx<'_>, secret: &Secret) -> Result<Option<User>> {
    let since = oldest_use(tx)?;
    let row = sessions::table
        .filter(sessions::digest.eq(secret.digest()))
        .filter(sessions::last_used_at.gt(since))
        .select((sessions::id, sessions::user_id, sessions::last_used_at));
    let found: Option<(i64, UserId, Ts)> =
        each_backend!(tx, |conn| row.get_result(conn).optional().map_err(error(NOUN)))?;
    let Some((id, user, last)) = found else { return Ok(None) };
    let Some(user) = tx.find_user(user)? else { return Ok(None) };
    if !oauth::may_sign_in(tx, &user)? {
        return Ok(None);
    }
    if last.plus(PRECISION) <= tx.now {
        let used = diesel::update(sessions::table.find(id)).set(sessions::last_used_at.eq(tx.now));
        each_backend!(tx, |conn| used.execute(conn).map_err(error(NOUN)))?;
        tx.record_activity(user.id)?;
    }
    Ok(Some(user))
}

/// Ends a session.
pub fn end(tx: &mut Tx<'_>, secret: &Secret) -> Result<()> {
    let row = sessions::table.filter(sessions::digest.eq(secret.digest()));
    each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error(NOUN)))?;
    Ok(())
}

/// Removes the rows of sessions that count no more.
pub fn remove_ended(tx: &mut Tx<'_>) -> Result<()> {
    let since = oldest_use(tx)?;
    let rows = sessions::table.filter(sessions::last_used_at.le(since));
    each_backend!(tx, |conn| diesel::delete(rows).execute(conn).map_err(error(NOUN)))?;
    Ok(())
}
