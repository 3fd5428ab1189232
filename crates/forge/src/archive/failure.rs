//! Failures of exports and imports.

use std::{fmt, io};

use kernel::Error;
use repo::git::GitError;

use crate::import::SourceError;

/// A failure of an archive itself, or of this server.
#[derive(Debug)]
pub(crate) enum ArchiveError {
    /// What is wrong with the archive, as a sentence for whoever imports it.
    Flawed(String),
    Own(Error),
    /// Somebody else works on it by now.
    Overtaken,
}

impl ArchiveError {
    pub(crate) fn flawed(text: impl Into<String>) -> Self {
        Self::Flawed(text.into())
    }

    /// Whether the same may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Own(cause) if cause.is_ours())
    }
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flawed(text) => f.write_str(text),
            Self::Overtaken => f.write_str("another server works on the archive"),
            // What went wrong inside is for the log.
            Self::Own(cause) if cause.is_ours() => f.write_str("the server failed"),
            Self::Own(cause) => write!(f, "the archive contradicts itself: {cause}"),
        }
    }
}

impl From<Error> for ArchiveError {
    fn from(error: Error) -> Self {
        Self::Own(error)
    }
}

/// Of files of this server; reading an archive tells its own flaws.
impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> Self {
        Self::Own(Error::internal(error))
    }
}

impl From<GitError> for ArchiveError {
    fn from(error: GitError) -> Self {
        Self::Own(error.into())
    }
}

impl From<SourceError> for ArchiveError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Own(cause) => Self::Own(cause),
            other => Self::Flawed(other.to_string()),
        }
    }
}
