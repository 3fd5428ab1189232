//! Checksums of what is no row: of the refs of each repository, kept by the transactions that decide where refs go, and
//! of stored files. They are compared with what is there now and then, and what was found is noted beside them.

pub mod files;
pub mod refs;

use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use kernel::Result;

use crate::{Tx, listing::rows};

/// How many there are of a kind, and what is known of them.
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
    pub checked_at: Option<kernel::Ts>,
}

/// The checks of repositories and files that failed, at most so many.
///
/// # Errors
/// When the database cannot be read.
pub fn failures(tx: &mut Tx<'_>, most: i64) -> Result<Vec<ChecksumFailure>> {
    let sql = "SELECT kind, place AS name, failure AS reason, checked_at FROM ref_checksums \
               WHERE failure IS NOT NULL UNION ALL \
               SELECT kind, name, failure, checked_at FROM file_checksums WHERE failure IS NOT NULL LIMIT $1";
    rows(tx, sql, &[crate::listing::Bind::Number(most)])
}
