//! The commits and files that one commit has and another lacks.

use std::sync::Arc;

use kernel::{Error, Result};

use crate::{
    commit::read::deadline,
    git::{CommitInfo, FileDiff, GitError, LogQuery, Oid, Reader},
};

/// Two commits and what lies between them.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What the files are compared with: the merge base, or the first commit itself.
    pub base: Oid,
    pub head: Oid,
    /// Oldest first, and never too many: they are read when they are shown.
    pub commits: Arc<[Oid]>,
    pub files: Vec<FileDiff>,
    /// Whether there was more to compare than can be told.
    pub is_cut_short: bool,
    /// Whether it was cut short by the time it took.
    pub timed_out: bool,
    pub is_same: bool,
}

/// From which commit the files are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    MergeBase,
    Straight,
}

pub fn compare(reader: &Reader, from: Oid, to: Oid, start: Start) -> Result<Comparison> {
    let query = LogQuery { exclude: vec![from], ..LogQuery::of(to) };
    let mut commits = reader.log_ids(&query, deadline())?;
    commits.reverse();
    let base = match start {
        Start::Straight => from,
        // Without a common ancestor there is only the commit itself.
        Start::MergeBase => reader.merge_base(&[from, to])?.unwrap_or(from),
    };
    let compared = reader.diff_that_fits(Some(base), to, reader.diff_limits(), deadline());
    let ((files, is_cut_short), timed_out) = match compared {
        Err(GitError::Timeout) => ((Vec::new(), true), true),
        compared => (compared?, false),
    };
    let (commits, is_same) = (commits.into(), from == to);
    Ok(Comparison { base, head: to, commits, files, is_cut_short, timed_out, is_same })
}

impl Comparison {
    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        self.commits.len() * size_of::<Oid>() + bytes_of(&self.files)
    }
}

/// About how many bytes the files of a diff take.
pub(crate) fn bytes_of(files: &[FileDiff]) -> usize {
    let names = |one: &FileDiff| one.old_path.as_bstr().len() + one.new_path.as_bstr().len();
    200 + files.iter().map(|one| 300 + one.text.len() + names(one)).sum::<usize>()
}

/// The commit that one side of a comparison names.
pub fn side(reader: &Reader, name: &str) -> Result<Oid> {
    match reader.resolve(name) {
        Err(GitError::NotFound | GitError::InvalidRef(_)) => Err(Error::not_found("Ref")),
        found => Ok(found?),
    }
}

/// The best common ancestor of at least two refs.
pub fn merge_base(reader: &Reader, names: &[String]) -> Result<CommitInfo> {
    if names.len() < 2 {
        return Err(Error::bad_request().whole("Provide at least 2 refs"));
    }
    let (mut ids, mut lost) = (Vec::new(), Vec::new());
    for name in names {
        match reader.resolve(name) {
            Ok(id) => ids.push(id),
            Err(GitError::NotFound | GitError::InvalidRef(_)) => lost.push(name.as_str()),
            Err(failure) => return Err(failure.into()),
        }
    }
    match lost.as_slice() {
        [] => {}
        [one] => return Err(Error::bad_request().whole(format!("Could not find ref: {one}"))),
        more => {
            return Err(
                Error::bad_request().whole(format!("Could not find refs: {}", more.join(", ")))
            );
        }
    }
    let base = reader.merge_base(&ids)?.ok_or_else(|| Error::not_found("Merge Base"))?;
    Ok(reader.commit(base)?)
}
