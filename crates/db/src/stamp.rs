//! Answers that took long to work out, kept in memory for as long as nothing they follow from changes.
//!
//! What an answer follows from is a subject. Whoever changes it gives it a new stamp in the same transaction, and an
//! answer counts only while its subjects have the stamps that they had when it was worked out. So the next question
//! already sees a change, whichever process made it.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use diesel::{
    prelude::*,
    sql_types::{BigInt, Text},
    upsert::excluded,
};
use kernel::Result;

use crate::{
    Tx, each_backend, error,
    listing::{Bind, rows},
    schema::stamps,
};

/// Has its stamp from the migration that made the table, so that every database has one that no other has.
const DATABASE: &str = "database";

/// Gives subjects new stamps. Whoever renews what others may renew, too, takes turns with them first.
///
/// # Errors
/// When the database cannot be written.
pub fn renew_stamp(tx: &mut Tx<'_>, subjects: &[String]) -> Result<()> {
    subjects.iter().try_for_each(|subject| keep(tx, subject, rand::random()))
}

/// Whether a subject has a stamp.
///
/// # Errors
/// When the database cannot be read.
pub fn has(tx: &mut Tx<'_>, subject: &str) -> Result<bool> {
    Ok(of(tx, subject)?.is_some())
}

/// Takes a subject's stamp away.
///
/// # Errors
/// When the database cannot be written.
pub fn remove(tx: &mut Tx<'_>, subject: &str) -> Result<()> {
    let row = diesel::delete(stamps::table.find(subject));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Record")))?;
    Ok(())
}

/// As [`remove`], of all subjects that begin so.
///
/// # Errors
/// When the database cannot be written.
pub fn remove_all(tx: &mut Tx<'_>, prefix: &str) -> Result<()> {
    let end = format!("{prefix}\u{10FFFF}");
    let rows = diesel::delete(
        stamps::table.filter(stamps::subject.ge(prefix).and(stamps::subject.lt(&end))),
    );
    each_backend!(tx, |conn| rows.execute(conn).map_err(error("Record")))?;
    Ok(())
}

/// The stamp of a subject, nothing where it never got one.
///
/// # Errors
/// When the database cannot be read.
pub fn of(tx: &mut Tx<'_>, subject: &str) -> Result<Option<i64>> {
    let found = stamps::table.find(subject).select(stamps::stamp);
    each_backend!(tx, |conn| found.first(conn).optional().map_err(error("Record")))
}

/// Whether a subject still has the stamp that it had, or still none. Nobody else renews it before this transaction is
/// over. One that never got a stamp has one from now on.
///
/// # Errors
/// When the database cannot be written.
pub fn hold(tx: &mut Tx<'_>, subject: &str, known: Option<i64>) -> Result<bool> {
    let new = rand::random::<i64>();
    // Where there is one this changes nothing, but whoever renews it waits, or is waited for.
    let row = diesel::insert_into(stamps::table)
        .values((stamps::subject.eq(subject), stamps::stamp.eq(new)))
        .on_conflict(stamps::subject)
        .do_update()
        .set(stamps::stamp.eq(stamps::stamp));
    let found: i64 = each_backend!(tx, |conn| row
        .returning(stamps::stamp)
        .get_result(conn)
        .map_err(error("Record")))?;
    Ok(known == (found != new).then_some(found))
}

#[derive(QueryableByName)]
struct StampRow {
    #[diesel(sql_type = Text)]
    subject: String,
    #[diesel(sql_type = BigInt)]
    stamp: i64,
}

/// The stamps of subjects, in no order that matters but always the same; one that never changed has none.
fn stamps_of(tx: &mut Tx<'_>, subjects: &[String]) -> Result<Vec<(String, i64)>> {
    let subjects = subjects.iter().map(String::as_str).chain([DATABASE]);
    let binds: Vec<Bind> = subjects.map(|subject| Bind::Word(subject.to_owned())).collect();
    let places = (1..=binds.len()).map(|place| format!("${place}")).collect::<Vec<_>>();
    let sql = format!("SELECT subject, stamp FROM stamps WHERE subject IN ({})", places.join(", "));
    let found: Vec<StampRow> = rows(tx, &sql, &binds)?;
    let mut found: Vec<_> = found.into_iter().map(|row| (row.subject, row.stamp)).collect();
    found.sort_unstable();
    Ok(found)
}

/// Gives a subject this very stamp.
///
/// # Errors
/// When the database cannot be written.
pub fn keep(tx: &mut Tx<'_>, subject: &str, stamp: i64) -> Result<()> {
    let insert = diesel::insert_into(stamps::table)
        .values((stamps::subject.eq(subject), stamps::stamp.eq(stamp)))
        .on_conflict(stamps::subject)
        .do_update()
        .set(stamps::stamp.eq(excluded(stamps::stamp)));
    each_backend!(tx, |conn| insert.execute(conn).map_err(error("Record")))?;
    Ok(())
}

struct CachedValue<V> {
    stamps: Vec<(String, i64)>,
    value: V,
}

/// Answers to one kind of question.
pub struct StampedCache<V>(LazyLock<Mutex<HashMap<String, CachedValue<V>>>>);

impl<V: Clone> Default for StampedCache<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Clone> StampedCache<V> {
    /// So many answers are kept.
    const MOST: usize = 4096;

    pub const fn new() -> Self {
        Self(LazyLock::new(|| Mutex::new(HashMap::new())))
    }

    /// The answer to a question, worked out where it is not known or may have changed.
    ///
    /// # Errors
    /// When the database cannot be read, or as `work` says.
    pub fn answer(
        &self,
        tx: &mut Tx<'_>,
        question: &str,
        subjects: &[String],
        work: impl FnOnce(&mut Tx<'_>) -> Result<V>,
    ) -> Result<V> {
        // Before the work: what changes meanwhile makes the answer count for nothing, and not for something else.
        let stamps = stamps_of(tx, subjects)?;
        {
            let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(kept) = kept.get(question)
                && kept.stamps == stamps
            {
                return Ok(kept.value.clone());
            }
        }
        let value = work(tx)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= Self::MOST {
            kept.clear();
        }
        kept.insert(question.to_owned(), CachedValue { stamps, value: value.clone() });
        Ok(value)
    }
}
