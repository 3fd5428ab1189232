//! Errors that resolvers return.

use std::{error::Error as StdError, fmt, sync::Arc};

/// Why a field has no value. The field becomes null, and the message goes to the answer's `errors` with the field's
/// path.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The resource is not there, or the caller may not know of it, or may not do this with it.
    NotFoundOrForbidden,
    Message(String),
    /// A message with `extensions` for programs.
    WithExtensions(String, serde_json::Value),
    /// A limit of the service; the whole answer has the status of one.
    TooManyRequests,
    /// The database, or the request, took too long.
    Timeout,
    /// The program's own fault; callers learn nothing but that there was one.
    Internal(Arc<dyn StdError + Send + Sync>),
}

impl Failure {
    pub fn message(text: impl Into<String>) -> Self {
        Self::Message(text.into())
    }

    pub fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Internal(Arc::from(cause.into()))
    }

    /// A cursor that nobody was given.
    pub fn cursor() -> Self {
        Self::message("Please provide a valid cursor")
    }

    /// A field that needs exactly one of several arguments.
    pub fn one_of(arguments: &[&str]) -> Self {
        Self::Message(format!(
            "One and only one of [{}] arguments is required.",
            arguments.join(", ")
        ))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFoundOrForbidden => {
                "The resource that you are attempting to access does not exist or you don't have permission to \
                 perform this action"
            }
            Self::Message(text) | Self::WithExtensions(text, _) => text,
            Self::TooManyRequests => {
                "This endpoint has been requested too many times. Try again later."
            }
            Self::Timeout => {
                "Request timed out. Please try a less complex query or a smaller set of records."
            }
            Self::Internal(_) => "Internal server error",
        })
    }
}
