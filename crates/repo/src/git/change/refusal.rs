//! Reasons for which a commit was not created, with their texts.

use super::ActionKind;
use crate::git::{
    GitError, RefName,
    branch_name::{LOOKS_LIKE_ID, looks_like_id},
};

/// Reasons for which a change was refused, in the words of the contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("Invalid start_sha '{0}'")]
    InvalidStartSha(String),
    #[error("Cannot find start_sha '{0}'")]
    UnknownStartSha(String),
    #[error("You can only create or edit files when you are on a branch")]
    NoBranch,
    #[error("A branch called '{0}' already exists. Switch to that branch in order to make changes")]
    BranchExists(String),
    #[error("Something went wrong when we tried to create '{0}' for you: Branch name is invalid")]
    BranchNameInvalid(String),
    #[error("The file has changed since you started editing it: {0}")]
    FileChanged(String),
    #[error("A file with this name already exists")]
    FileExists,
    #[error("A file with this name doesn't exist")]
    FileMissing,
    #[error("A directory with this name already exists")]
    FolderExists,
    #[error("Path cannot include directory traversal")]
    Traversal,
    #[error("You must provide a file path")]
    NoPath,
    #[error("invalid path: '{0}'")]
    InvalidPath(String),
    #[error("Your changes could not be committed")]
    NothingChanged,
    #[error("Could not update {0}. Please refresh and try again.")]
    BranchMoved(RefName),
    #[error("{0}")]
    InTheWay(String),
    #[error("{LOOKS_LIKE_ID}")]
    LooksLikeId,
    #[error(
        "The newest commit of '{0}' is damaged. Nothing can be committed on top of it until it is restored."
    )]
    Damaged(String),
}

impl Refusal {
    /// Why no branch can be called so.
    pub(super) fn of_branch_name(name: &str) -> Self {
        if looks_like_id(name) {
            Self::LooksLikeId
        } else {
            Self::BranchNameInvalid(name.to_owned())
        }
    }

    /// The words of the endpoints that write a single file.
    pub fn of_one_file(&self, kind: ActionKind) -> String {
        match (self, kind) {
            (Self::FileChanged(_), ActionKind::Delete) => {
                "You are attempting to delete a file that has been previously updated.".to_owned()
            }
            (Self::FileChanged(_), _) => {
                "You are attempting to update a file that has changed since you started editing it."
                    .to_owned()
            }
            _ => self.to_string(),
        }
    }
}

/// A change that was refused, or could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl ChangeError {
    /// What the loser of a race for a branch is told; other failures stay what they are.
    pub fn of_move(name: &RefName, error: GitError) -> Self {
        match error {
            GitError::Stale { .. } | GitError::RefNameTaken => {
                Refusal::BranchMoved(name.clone()).into()
            }
            error => Self::Git(error),
        }
    }
}

impl From<ChangeError> for kernel::Error {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Refused(refusal) => Self::bad_request().whole(refusal.to_string()),
            ChangeError::Git(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ActionKind, Refusal};

    #[test]
    fn one_file_has_words_of_its_own_only_for_the_conflict() {
        let changed = Refusal::FileChanged("a".to_owned());
        let told = |kind| changed.of_one_file(kind);

        assert!(told(ActionKind::Update).starts_with("You are attempting to update a file"));
        assert!(told(ActionKind::Delete).starts_with("You are attempting to delete a file"));
        assert_eq!(
            Refusal::FileExists.of_one_file(ActionKind::Create),
            Refusal::FileExists.to_string()
        );
    }
}
