//! What tells that rows are missing: each group of writes counts one up in the database, and the number is noted in a
//! file beside it once the commit is durable.
//!
//! The note is written and not synced, so it costs a microsecond; it outlives the process, and after a power cut it may
//! be an older one. It is never ahead of what was committed. So a database that is behind its note has lost commits:
//! its write-ahead log was cut or removed, or an older copy was put in its place. SQLite itself says nothing of that.

use std::{
    ffi::OsString,
    fs::{self, File},
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use diesel::{QueryResult, SqliteConnection, prelude::*};
use kernel::Result;

use crate::{error, schema::stamps};

/// Under which the database keeps its number.
pub(crate) const SUBJECT: &str = "commit number";

/// Commits that are not in the database any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostCommits {
    /// The last commit that was known to be durable.
    pub noted: i64,
    /// The last one that is there.
    pub there: i64,
}

/// The file beside the database that holds the note.
pub(crate) struct Note(Option<File>);

impl Note {
    /// Without a note writes go on as ever: it only serves to tell of a loss.
    pub(crate) fn open(database: &Path) -> Self {
        let path = beside(database, "-commits");
        let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(&path);
        if let Err(cause) = &file {
            tracing::warn!(error = %cause, path = %path.display(), "commits are not noted");
        }
        Self(file.ok())
    }

    pub(crate) fn keep(&self, number: i64) {
        if let Some(file) = &self.0
            && let Err(cause) = file.write_all_at(&with_check(number), 0)
        {
            tracing::warn!(error = %cause, "a commit was not noted");
        }
    }
}

/// Looks whether commits are missing. What is found is kept in a file of its own until a person removes it.
pub(crate) fn check(conn: &mut SqliteConnection, database: &Path) -> Result<Option<LostCommits>> {
    // First the note: a server that writes meanwhile only gets ahead of it.
    let Some(noted) = noted(database) else { return Ok(known_loss(database)) };
    let there = there(conn).map_err(error("Record"))?.unwrap_or_default();
    if there >= noted {
        return Ok(known_loss(database));
    }
    let loss = LostCommits { noted, there };
    let text = format!("{noted} {there}\n");
    if let Err(cause) = fs::write(beside(database, "-lost"), text) {
        tracing::warn!(error = %cause, "the loss of commits was not noted");
    }
    Ok(Some(loss))
}

/// Counts one up.
pub(crate) fn next(conn: &mut SqliteConnection) -> QueryResult<i64> {
    diesel::insert_into(stamps::table)
        .values((stamps::subject.eq(SUBJECT), stamps::stamp.eq(1_i64)))
        .on_conflict(stamps::subject)
        .do_update()
        .set(stamps::stamp.eq(stamps::stamp + 1))
        .returning(stamps::stamp)
        .get_result(conn)
}

fn there(conn: &mut SqliteConnection) -> QueryResult<Option<i64>> {
    stamps::table.find(SUBJECT).select(stamps::stamp).get_result(conn).optional()
}

fn noted(database: &Path) -> Option<i64> {
    let bytes = fs::read(beside(database, "-commits")).ok()?;
    let number = i64::from_be_bytes(bytes.get(..8)?.try_into().ok()?);
    // Half a note, or what a power cut left of it, is none.
    (bytes == with_check(number)).then_some(number)
}

/// A loss that was found before, and that nobody has dealt with.
fn known_loss(database: &Path) -> Option<LostCommits> {
    let text = fs::read_to_string(beside(database, "-lost")).ok()?;
    let (noted, there) = text.trim().split_once(' ')?;
    Some(LostCommits { noted: noted.parse().ok()?, there: there.parse().ok()? })
}

fn with_check(number: i64) -> [u8; 16] {
    let mut bytes = [0; 16];
    let (first, second) = bytes.split_at_mut(8);
    first.copy_from_slice(&number.to_be_bytes());
    second.copy_from_slice(&(!number).to_be_bytes());
    bytes
}

fn beside(database: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(end);
    name.into()
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// How many rows a connection has changed so far.
    fn total_changes() -> diesel::sql_types::BigInt;
}

/// How many rows this connection has changed so far.
pub(crate) fn changes(conn: &mut SqliteConnection) -> QueryResult<i64> {
    diesel::select(total_changes()).get_result(conn)
}
