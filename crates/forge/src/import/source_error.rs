//! Errors of import sources, and whether to retry.

use std::fmt;

use kernel::Error;
use outbound::FetchError;

/// A source that did not answer as it should.
#[derive(Debug)]
pub(crate) enum SourceError {
    /// It wants to be left alone for so many seconds.
    RateLimited { seconds: i64 },
    /// The credentials do not suffice.
    Denied(u16),
    /// There is no such thing.
    Missing,
    /// It may answer later.
    Unavailable(String),
    /// It is not to be asked.
    Refused(&'static str),
    /// Not the source's fault.
    Own(Error),
}

impl SourceError {
    /// Whether the same request may succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Unavailable(_))
    }

    pub(crate) fn malformed(what: &str) -> Self {
        Self::Unavailable(format!("{what} cannot be read"))
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RateLimited { .. } => f.write_str("the source limits how often it is asked"),
            Self::Denied(status) => write!(f, "the source refused the credentials (HTTP {status})"),
            Self::Missing => f.write_str("the source has no such repository (HTTP 404)"),
            Self::Unavailable(text) => f.write_str(text),
            Self::Refused(text) => f.write_str(text),
            Self::Own(_) => f.write_str("the server failed"),
        }
    }
}

impl From<Error> for SourceError {
    fn from(error: Error) -> Self {
        Self::Own(error)
    }
}

impl From<FetchError> for SourceError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Refused(text) => Self::Refused(text),
            failure => Self::Unavailable(failure.to_string()),
        }
    }
}
