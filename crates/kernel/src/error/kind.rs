//! The meanings of errors.

/// A closed list of meanings. The gateway gives each a status code; two kinds share one only where callers must tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A credential is needed, and is absent or unknown.
    Unauthenticated,
    /// The caller lacks the ability, or already has as many as they may.
    Forbidden,
    /// It does not exist, or is not visible to the caller.
    NotFound,
    /// The request makes no sense, has invalid fields, or was turned down by git or a rule.
    BadRequest,
    /// As [`Kind::BadRequest`], for the endpoints whose contract is 422.
    Unprocessable,
    /// Another one exists already, or another change was first.
    Conflict,
    /// Each attempt lost against other changes. Nothing was changed, and the same may succeed a moment later.
    GaveWay,
    /// The thing changed after the moment that the caller named.
    Precondition,
    /// It is not available in the requested form.
    NotAcceptable,
    /// It exists, but its state does not allow the operation.
    NotAllowed,
    /// It is already in the requested state.
    Unchanged,
    TooLarge,
    /// The rate limit is reached; the seconds after which to try again.
    TooMany {
        retry_after: u64,
    },
    /// It, or something that the server needs for it (its database, open files, memory), is unavailable at the moment.
    Unavailable,
    /// There is no room on the disk.
    Full,
    /// A fault of the program.
    Internal,
}

impl Kind {
    /// For logs and the command line.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Unauthenticated => "credential missing or unknown",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not found",
            Self::BadRequest => "bad request",
            Self::Unprocessable => "turned down",
            Self::Conflict => "already there",
            Self::GaveWay => "gave way to others each time",
            Self::Precondition => "changed meanwhile",
            Self::NotAcceptable => "not acceptable",
            Self::NotAllowed => "not allowed",
            Self::Unchanged => "already so",
            Self::TooLarge => "too large",
            Self::TooMany { .. } => "too many requests",
            Self::Unavailable => "out of reach for the moment",
            Self::Full => "no room on the disk",
            Self::Internal => "internal error",
        }
    }
}
