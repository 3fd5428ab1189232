//! What can go wrong, in the caller's terms. The gateway alone owns status codes and bodies.

use crate::SystemFault;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Texts per field, in the order in which they were found.
pub type FieldErrors = Vec<(String, Vec<String>)>;

/// A closed list of meanings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A credential is needed and none came, or it is unknown.
    #[error("credential missing or unknown")]
    Unauthenticated,
    /// A named kind of thing is not there, or not visible to the caller: `Project`, `File`, `Merge Base`.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// As [`Error::NotFound`], in this sentence alone.
    #[error("{0}")]
    NotThere(String),
    /// A stored child, looked up by its id or name, is not there.
    #[error("not found")]
    Missing,
    /// The ability is missing, and the caller is told no more than that there is nothing.
    #[error("not found")]
    Hidden,
    /// The ability is missing.
    #[error("forbidden")]
    Forbidden,
    /// As [`Error::Forbidden`], with the reason.
    #[error("{0}")]
    Refused(String),
    /// As [`Error::Refused`], in this sentence alone.
    #[error("{0}")]
    Denied(String),
    /// As [`Error::Forbidden`]: the caller already has as many as they may.
    #[error("{0}")]
    LimitReached(String),
    /// Parameters that cannot be read; the text names each.
    #[error("{0}")]
    BadParameters(String),
    /// A request that makes no sense, with the reason.
    #[error("{0}")]
    BadRequest(String),
    /// An operation that git or a rule turned down, in a sentence for the person who asked.
    #[error("{0}")]
    Rejected(String),
    /// A cherry-pick or revert that cannot be done, with its short code.
    #[error("{message}")]
    NotApplied { message: String, code: &'static str },
    /// A record with invalid fields.
    #[error("invalid record")]
    Invalid(FieldErrors),
    /// A record that was refused, in whole sentences.
    #[error("{}", .0.join(", "))]
    Unprocessable(Vec<String>),
    /// As [`Error::Unprocessable`], in one sentence.
    #[error("{0}")]
    Unfit(String),
    /// Somebody or something is already there.
    #[error("{0}")]
    Conflict(String),
    /// As [`Error::Conflict`], in whole sentences.
    #[error("{}", .0.join(", "))]
    ConflictWith(Vec<String>),
    /// As [`Error::Conflict`], by field.
    #[error("conflicting record")]
    ConflictOn(FieldErrors),
    /// Others went first each time it was tried; the same may succeed a moment later.
    #[error("gave way to others each time")]
    GaveWay,
    /// The thing changed after the moment the caller named.
    #[error("changed meanwhile")]
    Precondition,
    /// What was asked for cannot be had in the way that was asked for, in this sentence alone.
    #[error("{0}")]
    NotAcceptable(String),
    /// The thing exists but cannot be treated so.
    #[error("{0}")]
    NotAllowed(String),
    /// It is already as asked.
    #[error("already so")]
    Unchanged,
    #[error("too large: {0}")]
    TooLarge(String),
    #[error("too many requests")]
    TooMany { retry_after: u64 },
    #[error("{0}")]
    Unavailable(String),
    /// Something that the server itself needs (its database, open files, memory) is not to be had for the moment.
    #[error("out of reach for the moment")]
    OutOfReach(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// There is no room on the disk.
    #[error("no room on the disk")]
    Full(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A failure that is not the caller's: of the machine, where one is behind it, else of the program.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let cause = cause.into();
        match SystemFault::behind(&*cause) {
            Some(SystemFault::NoRoom) => Self::Full(cause),
            Some(SystemFault::NoMeans) => Self::OutOfReach(cause),
            Some(SystemFault::LongName) => Self::BadRequest("a name is too long".to_owned()),
            None => Self::Internal(cause),
        }
    }

    pub fn out_of_reach(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::OutOfReach(cause.into())
    }

    /// Whether the caller could have done nothing about it.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Internal(_) | Self::OutOfReach(_) | Self::Full(_))
    }

    /// One field with one text.
    pub fn invalid(field: &str, text: impl Into<String>) -> Self {
        Self::Invalid(vec![(field.to_owned(), vec![text.into()])])
    }
}
