//! Reasons for which an allowed push did not move its refs.

use std::collections::BTreeSet;

use bstr::ByteSlice as _;
use kernel::{Error, task::spawn_blocking};

use super::RefChange;
use crate::git::{GitError, Reader, RefInfo, RefKind, RefName, RepoPath, Result};

/// A ref that is not as the writer saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LostRef {
    /// It was there already when it was to be made.
    Exists(RefName),
    /// A file system cannot hold both: one would lie in the other.
    InTheWay { name: RefName, other: RefName },
    /// Somebody else moved it, or keeps it locked.
    Moved(RefName),
}

impl LostRef {
    /// What whoever wants to make or move the ref is told.
    pub fn text(&self) -> String {
        match self {
            Self::Exists(name) => match name.kind() {
                RefKind::Branch => "Branch already exists".to_owned(),
                RefKind::Tag => format!("Tag {} already exists", name.short()),
                RefKind::Other => format!("{name} already exists"),
            },
            Self::InTheWay { name, other } => {
                format!("'{}' cannot be created: '{}' exists", name.short(), other.short())
            }
            Self::Moved(name) => format!("Could not update {name}. Please refresh and try again."),
        }
    }

    /// What became of the first change that git refused.
    fn find(reader: &Reader, changes: &[RefChange]) -> Result<Self> {
        for change in changes {
            let now = reader.find_reference(&change.name)?.map(|found| found.target);
            if now != change.old {
                return Ok(match change.old {
                    None => Self::Exists(change.name.clone()),
                    Some(_) => Self::Moved(change.name.clone()),
                });
            }
        }
        let made = || changes.iter().filter(|change| change.old.is_none());
        let there = reader.all_refs()?.into_iter().map(|RefInfo { name, .. }| name);
        let names: BTreeSet<RefName> = there.chain(made().map(|one| one.name.clone())).collect();
        for change in made() {
            if let Some(other) = excluded_by(&names, &change.name) {
                return Ok(Self::InTheWay { name: change.name.clone(), other: other.clone() });
            }
        }
        let first = changes.first().ok_or(GitError::NotFound)?;
        Ok(Self::Moved(first.name.clone()))
    }
}

/// The first of these names that is a folder of `name`, or for which `name` would have to be one.
fn excluded_by<'n>(names: &'n BTreeSet<RefName>, name: &RefName) -> Option<&'n RefName> {
    let mut folder = name.as_bstr().to_owned();
    folder.push(b'/');
    let inside = names.range(RefName::stored(folder.as_bstr())..).next();
    let inside = inside.filter(|other| other.as_bstr().starts_with(&folder));
    inside.or_else(|| name.folders().find_map(|above| names.get(&above)))
}

/// The reason for which refs did not move.
#[derive(Debug)]
pub enum RefRejection {
    /// To try it again on what is there now may help.
    Lost(LostRef),
    /// A rule forbids it, or something failed.
    Failed(Error),
}

impl RefRejection {
    pub(super) async fn of(repo: &RepoPath, changes: &[RefChange], error: GitError) -> Self {
        if !matches!(error, GitError::Stale { .. } | GitError::RefNameTaken) {
            return Self::Failed(error.into());
        }
        let (repo, changes) = (repo.clone(), changes.to_vec());
        let look = spawn_blocking(move || LostRef::find(&Reader::open_uncached(&repo)?, &changes));
        match look.await {
            Ok(Ok(lost)) => Self::Lost(lost),
            Ok(Err(failure)) => Self::Failed(failure.into()),
            Err(failure) => Self::Failed(Error::internal(failure)),
        }
    }
}

impl From<Error> for RefRejection {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<GitError> for RefRejection {
    fn from(error: GitError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<RefRejection> for Error {
    fn from(rejection: RefRejection) -> Self {
        match rejection {
            RefRejection::Lost(lost) => Self::bad_request().whole(lost.text()),
            RefRejection::Failed(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::excluded_by;
    use crate::git::RefName;

    #[test]
    fn names_exclude_each_other_where_one_is_a_folder_of_the_other() {
        let name = |short| RefName::branch(short).unwrap();
        let there = ["feat/one", "feat-x", "fix"].map(name).into();
        let other = |short| excluded_by(&there, &name(short)).map(|other| other.short());
        assert_eq!(other("feat").as_deref(), Some("feat/one"));
        assert_eq!(other("feat/one/x").as_deref(), Some("feat/one"));
        assert_eq!(other("fix/a/b").as_deref(), Some("fix"));
        assert_eq!(other("feature"), None);
        assert_eq!(other("fix"), None);
    }
}
