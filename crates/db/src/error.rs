//! SQL failures as the kernel tells them.

use diesel::result::{DatabaseErrorKind, Error as Sql};
use kernel::Error;

/// PostgreSQL's words for text with a zero byte, which no column can hold.
const NO_TEXT: &str = "invalid byte sequence for encoding \"UTF8\": 0x00";

/// What a standby says of a write: its rows are copies of the primary's.
const READ_ONLY: &str = "You cannot perform write operations on a read-only instance";

/// Turns what diesel reports about `what` into the kernel's words: a missing row is `NotFound(what)`.
pub fn error(what: &'static str) -> impl Fn(Sql) -> Error {
    move |cause| failure(what, cause)
}

/// Errors are rare, and every query can have one: their code is not repeated where it could be called.
#[cold]
#[inline(never)]
fn failure(what: &'static str, cause: Sql) -> Error {
    match cause {
        Sql::NotFound => Error::not_found(what),
        Sql::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => {
            Error::conflict().whole(format!("{what} already exists"))
        }
        Sql::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _) => {
            Error::forbidden().whole(READ_ONLY)
        }
        Sql::DatabaseError(_, told) if told.message().contains(NO_TEXT) => {
            Error::bad_request().because("string contains null byte")
        }
        cause => Error::internal(cause),
    }
}

/// Whether an insert failed because such a row is already there.
pub fn is_duplicate(cause: &Sql) -> bool {
    matches!(cause, Sql::DatabaseError(DatabaseErrorKind::UniqueViolation, _))
}

/// Carries the kernel's error through diesel's own transaction function.
pub(crate) struct TransactionError(pub(crate) Error);

impl From<Sql> for TransactionError {
    fn from(cause: Sql) -> Self {
        Self(Error::internal(cause))
    }
}
