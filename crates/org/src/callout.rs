//! Notices that people have closed, by what each is about.

use db::{Tx, each_backend, error, schema::user_callouts};
use diesel::{prelude::*, upsert::excluded};
use kernel::{Error, Result, Ts, ids::UserId};

const NOUN: &str = "Callout";
const LONGEST_FEATURE: usize = 255;
/// Notices that one person may have closed.
const MOST: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = user_callouts, check_for_backend(db::AnyBackend))]
pub struct Callout {
    pub user_id: UserId,
    /// Lower-case words with underscores.
    pub feature: String,
    pub dismissed_at: Ts,
}

/// What somebody has closed, by name.
///
/// # Errors
/// When the database cannot be read.
pub fn callouts(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<Callout>> {
    let rows =
        user_callouts::table.filter(user_callouts::user_id.eq(user)).order(user_callouts::feature);
    each_backend!(tx, |conn| rows.select(Callout::as_select()).load(conn).map_err(error(NOUN)))
}

/// Closes a notice for somebody; one that was closed before is closed anew.
///
/// # Errors
/// 400 for what is no name of a notice, and for too many.
pub fn dismiss(tx: &mut Tx<'_>, user: UserId, feature: &str) -> Result<Callout> {
    ensure_name(feature)?;
    let known = callouts(tx, user)?;
    if known.len() >= MOST && known.iter().all(|one| one.feature != feature) {
        return Err(Error::invalid("base", "Too many notices are closed already"));
    }
    let row = (
        user_callouts::user_id.eq(user),
        user_callouts::feature.eq(feature),
        user_callouts::dismissed_at.eq(tx.now),
    );
    let insert = diesel::insert_into(user_callouts::table)
        .values(row)
        .on_conflict((user_callouts::user_id, user_callouts::feature))
        .do_update()
        .set(user_callouts::dismissed_at.eq(excluded(user_callouts::dismissed_at)));
    each_backend!(tx, |conn| insert.execute(conn).map_err(error(NOUN)))?;
    Ok(Callout { user_id: user, feature: feature.to_owned(), dismissed_at: tx.now })
}

fn ensure_name(feature: &str) -> Result<()> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if feature.is_empty() {
        return Err(Error::invalid("feature_name", "can't be blank"));
    }
    match feature.len() <= LONGEST_FEATURE && feature.bytes().all(is_letter) {
        true => Ok(()),
        false => Err(Error::invalid("feature_name", "is not included in the list")),
    }
}
