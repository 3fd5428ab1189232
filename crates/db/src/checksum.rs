//! Checksums of what is no row: of the refs of each repository, kept by the transactions that decide where refs go, and
//! of stored files. They are compared with what is there now and then, and what was found is noted beside them.

pub mod files;
pub mod refs;

use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use kernel::{Result, Ts};

use crate::{
    Tx, each_backend, error,
    listing::{Bind, ids, rows},
};

/// The number of objects of a kind by check result.
#[derive(Clone, Debug, Default, PartialEq, Eq, QueryableByName)]
pub struct ChecksumCount {
    #[diesel(sql_type = Text)]
    pub kind: String,
    #[diesel(sql_type = BigInt)]
    pub total: i64,
    /// Those whose checksum is known, and was what the last check found.
    #[diesel(sql_type = BigInt)]
    pub checksummed: i64,
    /// Those that the last check found to be different, or could not read.
    #[diesel(sql_type = BigInt)]
    pub failed: i64,
    /// Those that were checked at all.
    #[diesel(sql_type = BigInt)]
    pub checked: i64,
}

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct ChecksumFailure {
    #[diesel(sql_type = Text)]
    pub kind: String,
    /// The repository, `repository-1`, or the name of the file in its storage.
    #[diesel(sql_type = Text)]
    pub name: String,
    #[diesel(sql_type = Text)]
    pub reason: String,
    #[diesel(sql_type = Nullable<BigInt>)]
    pub checked_at: Option<Ts>,
}

fn hasten(tx: &mut Tx<'_>, sql: &str, latest: Ts, most: i64) -> Result<usize> {
    let sooner = diesel::sql_query(sql)
        .bind::<BigInt, _>(latest)
        .bind::<BigInt, _>(latest)
        .bind::<BigInt, _>(most);
    each_backend!(tx, |conn| sooner.execute(conn).map_err(error("Record")))
}

/// Whether a repository or file waits for its check beyond this moment.
///
/// # Errors
/// When the database cannot be read.
pub fn waits_beyond(tx: &mut Tx<'_>, moment: Ts) -> Result<bool> {
    let sql = "SELECT CAST(CASE WHEN EXISTS (SELECT 1 FROM ref_checksums WHERE check_at > $1) \
                 OR EXISTS (SELECT 1 FROM file_checksums WHERE check_at > $2) THEN 1 ELSE 0 END AS BIGINT) AS id";
    let binds = [Bind::Number(moment.0), Bind::Number(moment.0)];
    Ok(ids(tx, sql, &binds)?.contains(&1))
}

/// The checks of repositories and files that failed, at most so many.
///
/// # Errors
/// When the database cannot be read.
pub fn failures(tx: &mut Tx<'_>, most: i64) -> Result<Vec<ChecksumFailure>> {
    let sql = "SELECT kind, place AS name, failure AS reason, checked_at FROM ref_checksums \
               WHERE failure IS NOT NULL UNION ALL \
               SELECT kind, name, failure, checked_at FROM file_checksums WHERE failure IS NOT NULL LIMIT $1";
    rows(tx, sql, &[Bind::Number(most)])
}
