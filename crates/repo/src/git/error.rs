//! Errors of repositories.

use super::{Oid, TreePath};

pub type Result<T, E = GitError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The repository, ref, commit or path is not there.
    #[error("not found")]
    NotFound,
    /// A ref is no longer where the writer saw it.
    #[error("the ref has moved")]
    Stale { actual: Option<Oid> },
    /// A merge, pick or revert that git cannot do by itself; the paths that conflict.
    #[error("merge conflict")]
    Conflict(Vec<TreePath>),
    /// The result would be the tree that is already there.
    #[error("nothing to commit")]
    Empty,
    /// A ref of this name, or one that this name would lie under, exists.
    #[error("a ref of this name exists")]
    RefNameTaken,
    #[error("invalid ref name '{0}'")]
    InvalidRef(String),
    #[error("invalid path: '{0}'")]
    InvalidPath(String),
    #[error("too large")]
    TooLarge,
    #[error("timed out")]
    Timeout,
    /// A hook or rule refused, in its own words.
    #[error("{0}")]
    Denied(String),
    /// Git or gix could not make sense of what is stored.
    #[error("{0}")]
    Corrupt(String),
    #[error("git storage failed")]
    Io(#[from] std::io::Error),
}

impl GitError {
    /// For failures of gix that no caller can tell apart; keeps the whole chain of causes.
    pub fn corrupt(cause: impl std::fmt::Debug) -> Self {
        Self::Corrupt(format!("{cause:?}"))
    }

    /// For what a ref or another object names: that it is not there is damage, and not the caller's mistake.
    pub(crate) fn lost(self) -> Self {
        match self {
            Self::NotFound => Self::Corrupt("an object that is named is not there".to_owned()),
            other => other,
        }
    }
}

impl From<GitError> for kernel::Error {
    fn from(error: GitError) -> Self {
        match error {
            GitError::NotFound => Self::missing(),
            GitError::Stale { .. } | GitError::RefNameTaken => {
                Self::conflict().whole(error.to_string())
            }
            GitError::Conflict(_) | GitError::Empty => Self::bad_request().whole(error.to_string()),
            GitError::InvalidRef(_) | GitError::InvalidPath(_) => {
                Self::bad_request().because(error.to_string())
            }
            GitError::TooLarge => Self::too_large("git object"),
            GitError::Timeout => Self::unavailable("git took too long"),
            GitError::Denied(text) => Self::bad_request().whole(text),
            GitError::Corrupt(_) | GitError::Io(_) => Self::internal(error),
        }
    }
}
