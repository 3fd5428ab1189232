//! Finding commits.

use std::time::Duration;

use kernel::{
    Error, Result, Ts,
    access::ProjectFacts,
    page::{Page, PageRequest},
};

use super::Answers;
use crate::git::{
    CommitInfo, Deadline, GitError, LogQuery, Oid, Order, Reader, RefKind, RefName, Tips, TreePath,
};

/// How long one answer may walk through history.
const PATIENCE: Duration = Duration::from_secs(25);

/// The start of a commit list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    DefaultBranch,
    /// A branch, tag, commit or range.
    Named(String),
    AllRefs,
}

impl Source {
    /// Refuses what no ref can be called.
    pub fn named(text: &str) -> Result<Self> {
        let odd = |c: char| c.is_control() || c.is_whitespace();
        if text.starts_with('-') || text.contains(odd) {
            return Err(Error::bad_request().whole("ref_name is invalid"));
        }
        Ok(Self::Named(text.to_owned()))
    }
}

/// Which commits a list shows.
#[derive(Clone, Debug)]
pub struct CommitFilter {
    pub source: Source,
    /// A file, which is followed through renames, or a folder.
    pub path: Option<TreePath>,
    /// Committer dates, both inclusive.
    pub since: Option<Ts>,
    pub until: Option<Ts>,
    pub first_parent: bool,
    pub order: Order,
    pub author: Option<String>,
}

pub fn deadline() -> Deadline {
    Deadline::after(PATIENCE)
}

/// The commit that a hash, branch or tag names.
pub fn commit_named(reader: &Reader, name: &str) -> Result<Oid> {
    find_commit(reader, name)?.ok_or_else(|| Error::not_found("Commit"))
}

/// As [`commit_named`]; nothing where the name means none. A repository that cannot be read is another matter.
pub fn find_commit(reader: &Reader, name: &str) -> Result<Option<Oid>> {
    found(reader.resolve(name))
}

/// The newest commit of the default branch; none in an empty repository.
pub fn default_head(reader: &Reader, project: &ProjectFacts) -> Result<Option<Oid>> {
    let branch = project.default_branch.as_deref().map(RefName::branch).transpose()?;
    if let Some(branch) = branch {
        return Ok(reader.find_reference(&branch)?.and_then(|found| found.commit));
    }
    found(reader.resolve("HEAD"))
}

/// A page of commits, the newest first. What is not there has none.
pub fn list(
    reader: &Reader,
    answers: &Answers,
    project: &ProjectFacts,
    filter: &CommitFilter,
    page: PageRequest,
) -> Result<Page<CommitInfo>> {
    let nothing = Page { items: Vec::new(), total: kernel::page::Total::Uncounted { more: false } };
    let Some((tips, exclude)) = beginning(reader, project, &filter.source)? else {
        return Ok(nothing);
    };
    let query = LogQuery {
        tips,
        exclude,
        path: filter.path.clone(),
        follow: true,
        // A whole second counts when it lies within the bounds.
        since: filter.since.map(|at| at.0.div_euclid(1_000_000) + i64::from(at.0 % 1_000_000 != 0)),
        until: filter.until.map(Ts::unix),
        first_parent: filter.first_parent,
        order: filter.order,
        author: filter.author.clone(),
        skip: usize::try_from(page.offset()).unwrap_or(usize::MAX),
        take: usize::try_from(page.probe()).unwrap_or(usize::MAX),
    };
    let ids = answers.log(reader, &query, deadline())?;
    Ok(page.uncounted(ids.to_vec()).try_map_all(|ids| reader.commits(&ids))?)
}

fn beginning(
    reader: &Reader,
    project: &ProjectFacts,
    source: &Source,
) -> Result<Option<(Tips, Vec<Oid>)>> {
    Ok(match source {
        Source::AllRefs => Some((Tips::AllRefs, Vec::new())),
        Source::DefaultBranch => {
            default_head(reader, project)?.map(|head| (Tips::One(head), Vec::new()))
        }
        Source::Named(name) => found(reader.resolve_range(name))?.map(|range| {
            let tips = match range.tips.as_slice() {
                [only] => Tips::One(*only),
                _ => Tips::Many(range.tips),
            };
            (tips, range.exclude)
        }),
    })
}

/// The branches, then the tags, in whose history a commit is.
pub fn refs_with(reader: &Reader, id: Oid, kinds: &[RefKind]) -> Result<Vec<RefName>> {
    let mut names = Vec::new();
    for kind in kinds {
        names.extend(reader.containing(id, *kind, deadline())?);
    }
    Ok(names)
}

fn found<T>(result: crate::git::Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(GitError::NotFound | GitError::InvalidRef(_)) => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn names_that_no_ref_can_have_are_refused() {
        for name in ["a b", "-x", "--output=x", "a\0", "a\tb"] {
            assert!(Source::named(name).is_err(), "{name:?}");
        }
        for name in ["main", "a..b", "v1.0~2", "feature/ü"] {
            assert!(Source::named(name).is_ok(), "{name:?}");
        }
    }
}
