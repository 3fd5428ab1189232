//! SHA-256 of every stored file, by the kind of storage and the file's name there.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
    upsert::excluded,
};
use kernel::{Result, Ts};

use super::ChecksumCount;
use crate::{
    Tx, each_backend, error,
    listing::{Bind, rows},
    schema::file_checksums,
};

/// Below what a statement may have parameters, on both databases.
const ROWS_AT_ONCE: usize = 500;

/// A file and its checksum.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct FileChecksum {
    #[diesel(sql_type = Text)]
    pub kind: String,
    #[diesel(sql_type = Text)]
    pub name: String,
    /// Nothing before the file was read for the first time.
    #[diesel(sql_type = Nullable<Text>)]
    pub sha256: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub checked_at: Option<Ts>,
    #[diesel(sql_type = Nullable<Text>)]
    pub failure: Option<String>,
}

/// Notes a file that was stored, in the place of what had that name before. It is read again at `check_at`.
///
/// # Errors
/// When the database cannot be written.
pub fn note(tx: &mut Tx<'_>, kind: &str, name: &str, sha256: &str, check_at: Ts) -> Result<()> {
    let row = (
        file_checksums::kind.eq(kind),
        file_checksums::name.eq(name),
        file_checksums::sha256.eq(sha256),
        file_checksums::check_at.eq(check_at),
    );
    let stored = (
        file_checksums::sha256.eq(excluded(file_checksums::sha256)),
        file_checksums::check_at.eq(excluded(file_checksums::check_at)),
        file_checksums::failure.eq(None::<String>),
    );
    let insert = diesel::insert_into(file_checksums::table)
        .values(row)
        .on_conflict((file_checksums::kind, file_checksums::name))
        .do_update()
        .set(stored);
    each_backend!(tx, |conn| insert.execute(conn).map_err(error("Record")))?;
    Ok(())
}

/// Notes files that were found without a row. Each is read when its turn comes.
///
/// # Errors
/// When the database cannot be written.
pub fn note_found(tx: &mut Tx<'_>, kind: &str, names: &[String]) -> Result<()> {
    let now = tx.now;
    for some in names.chunks(ROWS_AT_ONCE) {
        let row = |name: &String| {
            (
                file_checksums::kind.eq(kind.to_owned()),
                file_checksums::name.eq(name.clone()),
                file_checksums::check_at.eq(now),
            )
        };
        let found: Vec<_> = some.iter().map(row).collect();
        each_backend!(tx, |conn| diesel::insert_into(file_checksums::table)
            .values(&found)
            .on_conflict_do_nothing()
            .execute(conn)
            .map_err(error("Record")))?;
    }
    Ok(())
}

/// Forgets files that are removed.
///
/// # Errors
/// When the database cannot be written.
pub fn forget(tx: &mut Tx<'_>, kind: &str, names: &[String]) -> Result<()> {
    for some in names.chunks(ROWS_AT_ONCE) {
        let gone = file_checksums::table
            .filter(file_checksums::kind.eq(kind).and(file_checksums::name.eq_any(some)));
        each_backend!(tx, |conn| diesel::delete(gone).execute(conn).map_err(error("Record")))?;
    }
    Ok(())
}

/// The checksum of one file.
///
/// # Errors
/// When the database cannot be read.
pub fn find(tx: &mut Tx<'_>, kind: &str, name: &str) -> Result<Option<FileChecksum>> {
    let sql = "SELECT kind, name, sha256, checked_at, failure FROM file_checksums WHERE kind = $1 AND name = $2";
    let binds = [kind, name].map(|word| Bind::Word(word.to_owned()));
    Ok(rows(tx, sql, &binds)?.pop())
}

/// The files whose check is due, at most so many, those first that have waited longest.
///
/// # Errors
/// When the database cannot be read.
pub fn due(tx: &mut Tx<'_>, most: i64) -> Result<Vec<FileChecksum>> {
    let sql = "SELECT kind, name, sha256, checked_at, failure FROM file_checksums \
               WHERE check_at <= $1 ORDER BY check_at LIMIT $2";
    rows(tx, sql, &[Bind::Number(tx.now.0), Bind::Number(most)])
}

/// Lets files that would wait for longer be checked by then, at most so many; how many these were.
///
/// # Errors
/// When the database cannot be written.
pub fn hasten(tx: &mut Tx<'_>, latest: Ts, most: i64) -> Result<usize> {
    let sql = "UPDATE file_checksums SET check_at = $1 WHERE (kind, name) IN \
               (SELECT kind, name FROM file_checksums WHERE check_at > $2 ORDER BY check_at DESC LIMIT $3)";
    super::hasten(tx, sql, latest, most)
}

/// Notes what a check found, unless the file was stored anew or removed since it was `seen`: its checksum where it had
/// none, and the reason why the check failed, or nothing.
///
/// # Errors
/// When the database cannot be written.
pub fn note_check(
    tx: &mut Tx<'_>,
    seen: &FileChecksum,
    outcome: (Option<&str>, Option<&str>),
    next: Ts,
) -> Result<()> {
    let (sha256, failure) = outcome;
    let sql = "UPDATE file_checksums SET sha256 = $1, failure = $2, checked_at = $3, check_at = $4 \
               WHERE kind = $5 AND name = $6 AND COALESCE(sha256, '') = $7";
    let checked = diesel::sql_query(sql)
        .bind::<Nullable<Text>, _>(sha256)
        .bind::<Nullable<Text>, _>(failure)
        .bind::<BigInt, _>(tx.now)
        .bind::<BigInt, _>(next)
        .bind::<Text, _>(&seen.kind)
        .bind::<Text, _>(&seen.name)
        .bind::<Text, _>(seen.sha256.as_deref().unwrap_or_default());
    each_backend!(tx, |conn| checked.execute(conn).map_err(error("Record")))?;
    Ok(())
}

/// How many files there are of each kind, and of how many the checksum is known.
///
/// # Errors
/// When the database cannot be read.
pub fn counts(tx: &mut Tx<'_>) -> Result<Vec<ChecksumCount>> {
    let sql = "SELECT kind, COUNT(*) AS total, \
                 COUNT(CASE WHEN sha256 IS NOT NULL AND failure IS NULL THEN 1 END) AS checksummed, \
                 COUNT(failure) AS failed, COUNT(checked_at) AS checked \
               FROM file_checksums GROUP BY kind";
    rows(tx, sql, &[])
}
