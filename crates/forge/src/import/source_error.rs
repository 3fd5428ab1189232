//! Errors of import sources, and whether to retry.

use std::fmt;

use kernel::{Error, error::Message};
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
    /// What it says is no JSON, or another document than was asked for.
    Malformed(String),
    /// What it says cannot be used, and would be the same later.
    Unusable(String),
    /// It is not to be asked.
    Refused(&'static str),
    /// Not the source's fault.
    Own(Error),
}

impl SourceError {
    /// Whether the same request may succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Unavailable(_) | Self::Malformed(_))
    }

    pub(crate) fn malformed(what: &str) -> Self {
        Self::Malformed(format!("{what} cannot be read"))
    }

    /// What a status says that is no success and no limit of requests.
    pub(crate) fn of_status(status: u16) -> Self {
        let text = || format!("the source answered HTTP {status}");
        match status {
            401 | 403 => Self::Denied(status),
            404 | 410 | 451 => Self::Missing,
            408 | 425 | 500.. => Self::Unavailable(text()),
            _ => Self::Unusable(text()),
        }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RateLimited { .. } => f.write_str("the source limits how often it is asked"),
            Self::Denied(status) => write!(
                f,
                "the source refused the credentials (HTTP {status}): check that they are right, \
                 have not expired and may read it"
            ),
            Self::Missing => f.write_str(
                "the source has no such repository (HTTP 404): check its address, and whether the \
                 credentials may read it",
            ),
            Self::Unavailable(text) | Self::Malformed(text) | Self::Unusable(text) => {
                f.write_str(text)
            }
            Self::Refused(text) => write!(f, "the address of the source cannot be used: {text}"),
            // What went wrong inside is for the log.
            Self::Own(cause) if cause.is_ours() => {
                f.write_str("this server failed: its log tells administrators why")
            }
            Self::Own(cause) => f.write_str(&refusal_text(cause)),
        }
    }
}

/// Why something was refused here, in the words that a caller of the API is told.
pub(crate) fn refusal_text(cause: &Error) -> String {
    match &cause.message {
        Message::Fields(fields) => {
            let texts = fields.iter().map(|(field, texts)| format!("{field} {}", texts.join(", ")));
            texts.collect::<Vec<_>>().join(", ")
        }
        // The reason is for the log.
        Message::LogOnly(_) => "this server cannot take it at the moment".to_owned(),
        _ => cause.to_string(),
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
            FetchError::Status(status) => Self::of_status(status),
            FetchError::Timeout => {
                Self::Unavailable("the source did not answer in time".to_owned())
            }
            FetchError::TooLarge => {
                Self::Unusable("the source sent more than this server takes".to_owned())
            }
            FetchError::Unreachable => Self::Unavailable(
                "the source cannot be reached, or broke its answer off".to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Error;
    use outbound::FetchError;

    use super::SourceError;

    #[test]
    fn only_what_may_pass_is_asked_for_again() {
        for status in [408, 425, 500, 502, 503, 504] {
            assert!(SourceError::of_status(status).is_passing(), "{status}");
        }
        for status in [301, 400, 401, 403, 404, 405, 410, 422] {
            assert!(!SourceError::of_status(status).is_passing(), "{status}");
        }
        for (failure, is_passing) in [
            (FetchError::Timeout, true),
            (FetchError::Unreachable, true),
            (FetchError::TooLarge, false),
            (FetchError::Refused("the host is not allowed"), false),
        ] {
            assert_eq!(SourceError::from(failure).is_passing(), is_passing, "{failure}");
        }
    }

    #[test]
    fn a_failure_of_the_server_tells_nothing_of_its_inside() {
        let broken = SourceError::Own(Error::internal("no such table: secrets"));
        assert_eq!(broken.to_string(), "this server failed: its log tells administrators why");
        let refused = SourceError::Own(Error::invalid("size", "is over the limit"));
        assert_eq!(refused.to_string(), "size is over the limit");
    }
}
